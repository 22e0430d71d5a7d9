package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"vmsbridge/cmd/vmsbridge/replay"
	"vmsbridge/configs"
	"vmsbridge/scripts/lab/images"
)

// replayCommand is vmsbridge replay, and what it does not have.
type replayCommand struct {
	replay.Command `embed:""`

	Masks string `help:"Write the activity mask of every picture into this folder, in its size, as 8-bit PNG: bin000001.png for in000001.jpg; for a clip bin and the picture's number from 000000." placeholder:"DIR"`
	Plot  string `help:"Draw the activity over time with threshold, spans and sample stills." placeholder:"FILE.png"`
	Score string `help:"The same as --csv." placeholder:"LABELS"`
}

// Help is shown below the flags.
func (replayCommand) Help() string {
	return `What vmsbridge replay --help says holds here too. A file may also be a folder of numbered images (JPEG, PNG, BMP, TIFF,
WebP, PPM), or a pattern of them in quotes. Images of a folder follow one another at --fps, gaps in their numbers do not count;
where they are rare, give their true rate, such as --fps 0.2: of what is seen for a picture or two, masks depend on it. An image
that cannot be read is said at the end, and has the mask of the one before; after one of another size the scene is learned anew.
Masks are made for every picture, and have all numbers of an image's name where the last alone would be that of several:
bin2026_11_22.png.`
}

// Run replays the files one after another.
func (c *replayCommand) Run(ctx context.Context, s streams) error {
	c.CSV = cmp.Or(c.CSV, c.Score)
	if err := c.check(); err != nil {
		return &replay.Exit{Code: exitUsage, Err: err}
	}
	return c.Command.Run(ctx, replay.Program{Name: "lab", Out: s.out, Err: s.errs, Load: configs.Load,
		Open:  images.Open,
		Begin: func(r *replay.Recording) (replay.Observer, error) { return c.begin(r) }})
}

// exitCode prints an error, if there is one that was not said already, and returns the exit code.
func exitCode(errs io.Writer, err error) int {
	exit, ok := errors.AsType[*replay.Exit](err)
	switch {
	case err == nil:
		return 0
	case !ok:
		return say(errs, 1, err)
	case exit.Err != nil:
		return say(errs, exit.Code, exit.Err)
	}
	return exit.Code
}

// check finds what does not fit together.
func (c *replayCommand) check() error {
	several := len(c.Files) > 1
	switch {
	case c.Plot != "" && several:
		return errors.New("--plot draws one FILE, not several")
	case c.Plot != "" && !strings.EqualFold(filepath.Ext(c.Plot), ".png"):
		return fmt.Errorf("--plot writes PNG: name a file such as %s.png",
			strings.TrimSuffix(c.Plot, filepath.Ext(c.Plot)))
	case c.Plot != "":
		if err := canCreate(c.Plot); err != nil {
			return fmt.Errorf("--plot %s cannot be written: %w", c.Plot, err)
		}
	}
	seen := map[string]bool{}
	for _, f := range c.Files {
		if c.Masks != "" && several && seen[maskFolder(f)] {
			return fmt.Errorf("--masks: two of the files are called %s and would get the same folder; replay them "+
				"one by one", maskFolder(f))
		}
		seen[maskFolder(f)] = true
	}
	return nil
}

// canCreate tells, before a recording of hours is replayed, whether a file can be written at its
// end.
func canCreate(path string) error {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return errors.New("it is a folder")
	}
	dir := filepath.Dir(path)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return fmt.Errorf("there is no folder %s: make it first", dir)
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return fmt.Errorf("the folder %s: %w", dir, err)
	}
	return nil
}

// maskFolder is the folder below --masks for a file, where there are several.
func maskFolder(file string) string {
	base := filepath.Base(filepath.Clean(file))
	return strings.TrimSuffix(base, filepath.Ext(base))
}
