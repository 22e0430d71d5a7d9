package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"vmsbridge/cmd/cli"
)

type demoCommand struct {
	For    time.Duration `help:"End by itself after this time." placeholder:"TIME"`
	Events int           `help:"End by itself after so many motion events; exit code 1 if there were fewer when it ended otherwise." placeholder:"N"`
	Data   string        `help:"Keep everything (configuration, tokens, stores) in this new or empty folder. Default: a temporary one." placeholder:"DIR"`
}

// demo is the running demonstration: a service, cameras, a bridge, each a process of its own, as in
// real life.
type demo struct {
	dir      string // where everything is kept
	bin      string // where the programs are
	out      io.Writer
	children []*child // in the order of their start
	site     demoSite

	fetched bool // how to fetch an image was shown; used by the reader of vmscloud's output only

	mu     sync.Mutex // guards motion
	motion map[string]bool
	news   chan struct{} // has a value when a motion event was seen
}

// Run starts everything, shows events until it is time to end, and ends everything in order.
func (c *demoCommand) Run(ctx context.Context, s streams) (err error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	d := &demo{out: s.out, motion: map[string]bool{}, news: make(chan struct{}, 1)}
	if d.bin, err = programs(); err != nil {
		return err
	}
	cleanup, err := d.folder(c.Data)
	if err != nil {
		return err
	}
	defer cleanup()
	defer d.stop()
	if err := d.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	d.header(c)
	return d.watch(ctx, c)
}

// watch waits for the end: a signal, the time, enough events, or the death of a child.
func (d *demo) watch(ctx context.Context, c *demoCommand) error {
	var timeUp <-chan time.Time
	if c.For > 0 {
		t := time.NewTimer(c.For)
		defer t.Stop()
		timeUp = t.C
	}
	died := make(chan *child, len(d.children)) // each may send once
	for _, ch := range d.children {
		go func() { <-ch.done; died <- ch }() // ends with the child, which stop ends
	}
	for {
		select {
		case <-ctx.Done():
			return d.verdict(c.Events)
		case <-timeUp:
			return d.verdict(c.Events)
		case ch := <-died:
			return ch.died()
		case <-d.news:
			if c.Events > 0 && d.seen() >= c.Events {
				return nil
			}
		}
	}
}

// verdict is an error if events were asked for and did not come.
func (d *demo) verdict(want int) error {
	if n := d.seen(); want > 0 && n < want {
		return fmt.Errorf("the service has accepted %s, %d were asked for", counted(n, "motion event"), want)
	}
	return nil
}

func (d *demo) seen() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.motion)
}

// stop ends the children in the order of the flow: the bridge first, so that what it still has
// reaches the service.
func (d *demo) stop() {
	_, _ = fmt.Fprintln(d.out, "stopping")
	order := map[string]int{"vmsbridge": 0, "camsim": 1, "vmscloud": 2}
	for step := range len(order) {
		var wait sync.WaitGroup
		for _, ch := range d.children {
			if order[strings.Fields(ch.name)[0]] == step {
				wait.Go(func() { ch.stop(10 * time.Second) })
			}
		}
		wait.Wait()
	}
}

// programs finds the other programs beside this one.
func programs() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the programs: %w", err)
	}
	dir := filepath.Dir(self)
	for _, name := range []string{"vmscloud", "camsim"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "",
				fmt.Errorf("%s is not beside %s: build all programs with scripts/build, then run bin/vmsbridge demo",
					name, self)
		}
	}
	return dir, nil
}

// folder makes the folder to work in, and says how to clean up.
func (d *demo) folder(name string) (cleanup func(), err error) {
	if name == "" {
		if d.dir, err = os.MkdirTemp("", "vmsbridge-demo-"); err != nil {
			return nil, fmt.Errorf("make a temporary folder: %w", err)
		}
		return func() { _ = os.RemoveAll(d.dir) }, nil
	}
	if d.dir, err = filepath.Abs(name); err != nil {
		return nil, fmt.Errorf("find the folder: %w", err)
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder: %w", err)
	}
	if entries, err := os.ReadDir(d.dir); err != nil {
		return nil, fmt.Errorf("look into the folder: %w", err)
	} else if len(entries) > 0 {
		return nil, cli.Exit(exitUsage, errors.New(d.dir+" is not empty; name a new folder"))
	}
	return func() { _, _ = fmt.Fprintln(d.out, "everything is kept in", d.dir) }, nil
}
