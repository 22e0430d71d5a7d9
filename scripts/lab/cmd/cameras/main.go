// Command cameras measures what a camera costs: it serves one recorded stream as many cameras and
// has the bridge, Motion (the Debian package) and libavcodec alone read them at the same time.
//
// Processor time is the kernel's, user and system, of each side with all its processes, so that it
// holds on a machine that does other work beside; figures are compared within a row only.
// scripts/bench cameras builds and runs it:
//
//	scripts/bench cameras --cameras 1,8,24 --streams quiet-128,quiet-512 --out agent/BENCH.md
//
// The flow is streams → replayer → sides → usage → table. Nothing here is part of the product.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"vmsbridge/scripts/lab/serve"
)

type flags struct {
	Bridge  []string      `required:"" placeholder:"NAME=FILE" help:"vmsbridge; several stand side by side."`
	Motion  string        `default:"motion" help:"Motion's program; empty leaves it out."`
	Cameras []int         `default:"1,8" help:"How many cameras; each number is a row."`
	Streams []string      `default:"quiet-128" help:"${streams}"`
	Settle  time.Duration `default:"45s" help:"To the first figure; after 30s a calm bridge has one thread."`
	Every   time.Duration `default:"20s" help:"Between two figures."`
	Rounds  int           `default:"3" help:"Figures of a row; the table has their median."`
	Watch   bool          `help:"Ask each bridge for its status all the time: when all cameras are online, its slowest answer, its most memory."`
	AtOnce  bool          ` help:"All cameras show the same at the same time: what moves in one, moves in all."`
	Folder  string        `type:"existingdir" help:"Keep recorded streams here for the next time."`
	Out     string        `help:"Write the table here, too."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var f flags
	kong.Parse(&f, kong.Vars{"streams": "Streams: " + strings.Join(streamNames(), ", ") + "."})
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "cameras:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) error {
	if f.Folder == "" {
		dir, err := os.MkdirTemp("", "cameras-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		f.Folder = dir
	}
	var t table
	for _, name := range f.Streams {
		s, err := record(ctx, f.Folder, name)
		if err != nil {
			return err
		}
		for _, n := range f.Cameras {
			rows, err := measure(ctx, f, s, n)
			if err != nil {
				return fmt.Errorf("measure %d cameras with %s: %w", n, name, err)
			}
			t.rows = append(t.rows, rows)
			fmt.Fprintln(os.Stderr, rows.line())
		}
	}
	text := t.markdown(f)
	fmt.Print(text)
	if f.Out == "" {
		return nil
	}
	return os.WriteFile(f.Out, []byte(text), 0o644)
}

// measure has all sides read n cameras for as long as the figures take.
func measure(ctx context.Context, f flags, s *stream, n int) (row, error) {
	ctx, cancel := context.WithCancel(ctx)
	dir, err := os.MkdirTemp("", "cameras-run-")
	if err != nil {
		cancel()
		return row{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	urls, done, err := replay(ctx, s, n, f.AtOnce)
	if err != nil {
		cancel()
		return row{}, err
	}
	var (
		sides   []side
		watches []*watch
	)
	watching, unwatch := context.WithCancel(ctx)
	defer func() {
		unwatch()
		for _, s := range sides {
			s.stop()
		}
		cancel()
		<-done
	}()
	for i, b := range f.Bridge {
		name, program, ok := strings.Cut(b, "=")
		if !ok {
			return row{}, errors.New("write --bridge as NAME=FILE")
		}
		side, err := startBridge(name, program, filepath.Join(dir, fmt.Sprint(i)), urls, s)
		if err != nil {
			return row{}, err
		}
		sides = append(sides, side)
		if f.Watch {
			watches = append(watches, watchBridge(watching, side, filepath.Join(dir, fmt.Sprint(i))))
		}
	}
	if f.Motion != "" {
		side, err := startMotion(f.Motion, filepath.Join(dir, "motion"), urls, s)
		if err != nil {
			return row{}, err
		}
		sides = append(sides, side)
	}
	_, first, _ := strings.Cut(f.Bridge[0], "=")
	alone, err := decodeAlone(ctx, first, s, n)
	if err != nil {
		return row{}, err
	}
	r := row{stream: s, cameras: n}
	if err := sleep(ctx, f.Settle); err != nil {
		return row{}, err
	}
	for range f.Rounds {
		before, spentBefore := make([]usage, len(sides)), alone.spent()
		for i, side := range sides {
			if before[i], err = side.usage(ctx); err != nil {
				return row{}, fmt.Errorf("ask %s: %w", side.name(), err)
			}
		}
		if err := sleep(ctx, f.Every); err != nil {
			return row{}, err
		}
		g := round{load: loadAverage(), libavcodec: alone.spent() - spentBefore}
		for i, side := range sides {
			after, err := side.usage(ctx)
			if err != nil {
				return row{}, fmt.Errorf("ask %s: %w", side.name(), err)
			}
			g.sides = append(g.sides, after.since(before[i]))
		}
		r.rounds = append(r.rounds, g)
	}
	for _, side := range sides {
		r.names = append(r.names, side.name())
	}
	unwatch()
	for _, w := range watches {
		<-w.done
		r.seen = append(r.seen, w.line())
	}
	return r, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// replay serves the stream as n cameras whose phases differ, as those of real ones do, unless
// atOnce, until ctx ends; done is closed when it has.
func replay(ctx context.Context, s *stream, n int, atOnce bool) (urls []string, done <-chan struct{}, err error) {
	o := serve.Options{Listen: "127.0.0.1:0", TCP: true}
	for i := range n {
		late := s.movie.Loop() * time.Duration(i*37%n) / time.Duration(n)
		if atOnce {
			late = 0
		}
		o.Channels = append(o.Channels, serve.Channel{Path: fmt.Sprintf("/cam%d", i), Movie: s.movie, Late: late})
	}
	srv, err := serve.New(o)
	if err != nil {
		return nil, nil, err
	}
	if err := srv.Start(); err != nil {
		return nil, nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = srv.Run(ctx)
	}()
	for _, c := range o.Channels {
		urls = append(urls, srv.URL(c.Path))
	}
	return slices.Clip(urls), ended, nil
}
