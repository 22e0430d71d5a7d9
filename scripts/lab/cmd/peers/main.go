// Command peers holds vmsbridge and Motion, the Debian package, against the same drawn cameras at
// the same time.
//
// For each scene a camsim serves RTSP; `vmsbridge run` and `motion` pull it side by side, as
// installed, for some loops of the scene. What each called motion is compared with what was drawn,
// and what each cost is read from /proc. scripts/bench peers builds and runs it:
//
//	scripts/bench peers --loops 3 --out motion/PEERS.md
//
// The flow is scenes → cameras → watchers (bridge.go, motion.go) → spans → score → table. Nothing
// here is part of the product.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

type flags struct {
	Bin    string        `required:"" type:"existingdir" help:"Folder with vmsbridge and camsim."`
	Motion string        `default:"motion" help:"Motion's program."`
	Scenes []string      `default:"light-switch,infrared,clouds,headlights,rain,snow,insects,clock,keyframes,night,tree,flag" help:"Nuisances; each is shown alone and with a walker."`
	Length time.Duration `default:"40s" help:"A scene's loop."`
	Loops  int           `default:"3" help:"Loops that are scored; one before them is not."`
	AtOnce int           `default:"8" help:"Cameras at once."`
	Seed   uint64        `default:"1" help:"Of the first scene; each has its own."`
	Out    string        `help:"Write the table here, too."`
}

// span is when somebody saw motion, or when something moved.
type span struct{ start, end time.Time }

// watcher is one side of the comparison.
type watcher interface {
	name() string
	// start begins to watch all cameras; the process is killed when ctx ends.
	start(ctx context.Context, dir string, cameras []*camera) error
	// spans are what it called motion, by camera, and what it cost; asked once, when the time is
	// up.
	spans(ctx context.Context, cameras []*camera) (map[string][]span, cost, error)
}

func main() {
	var f flags
	kong.Parse(&f)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, f); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, f flags) error {
	var names []string
	for _, s := range f.Scenes {
		names = append(names, s, s+"+walker")
	}
	var t table
	for from := 0; from < len(names); from += f.AtOnce {
		batch := names[from:min(from+f.AtOnce, len(names))]
		fmt.Fprintf(os.Stderr, "peers: %s, for %s\n", strings.Join(batch, ", "), f.Length*time.Duration(f.Loops+1))
		if err := watch(ctx, f, batch, f.Seed+uint64(from), &t); err != nil {
			return err
		}
	}
	text := t.markdown(f)
	fmt.Print(text)
	if f.Out == "" {
		return nil
	}
	return os.WriteFile(f.Out, []byte(text), 0o644)
}

// watch shows one batch of scenes to every watcher at once.
func watch(ctx context.Context, f flags, scenes []string, seed uint64, t *table) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dir, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var cameras []*camera
	for i, name := range scenes {
		c, err := serve(ctx, filepath.Join(f.Bin, "camsim"), dir, name, seed+uint64(i), f.Length)
		if err != nil {
			return err
		}
		cameras = append(cameras, c)
	}
	sides := []watcher{
		&bridge{program: filepath.Join(f.Bin, "vmsbridge")},
		&peer{program: f.Motion, title: "Motion, defaults"},
		&peer{program: f.Motion, title: "Motion, tuned", settings: tuned},
	}
	for i, s := range sides {
		sub := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			return err
		}
		if err := s.start(ctx, sub, cameras); err != nil {
			return fmt.Errorf("start %s: %w", s.name(), err)
		}
	}
	from := time.Now().Add(f.Length)
	until := from.Add(f.Length * time.Duration(f.Loops))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(until.Add(3 * time.Second))):
	}
	for _, s := range sides {
		found, spent, err := s.spans(ctx, cameras)
		if err != nil {
			return fmt.Errorf("ask %s: %w", s.name(), err)
		}
		for _, c := range cameras {
			t.add(c.scene, s.name(), score(c.truth(from, until), found[c.id], from, until))
		}
		t.spent(s.name(), spent, len(cameras), time.Since(from)+f.Length)
	}
	return nil
}
