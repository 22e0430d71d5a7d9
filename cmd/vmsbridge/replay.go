package main

import (
	"context"
	"errors"

	"vmsbridge/cmd/cli"
	"vmsbridge/cmd/vmsbridge/replay"
	"vmsbridge/configs"
)

// replayCommand runs clips through the detector, for tuning a camera and for measuring.
type replayCommand struct {
	replay.Command `embed:""`

	Masks string `hidden:""`
	Plot  string `hidden:""`
}

// Help is shown below the flags.
func (replayCommand) Help() string {
	return `Pictures are numbered from 0 as the source has them; start and end are the first and the last picture with motion, both
inclusive; seconds count from the first picture. As in the bridge, about "rate" pictures a second are looked at. A clip's
pictures are all brought to the size of its first.

--json prints type, region, region_name, direction (of a line's crossing), reason (of tampering), object, start_frame, end_frame, start_s, end_s, best_frame,
best_s, boxes ([[left, top, right, bottom], …] as fractions of the picture best_frame), share, continued where the maximum
length cut it, and file if there are several. With --csv the last line is {"type": "score", …}. The summary goes to standard
error then.

Masks, plots, and folders of images are for lab replay, which scripts/build makes beside this program.

Exit codes: 0 done, whatever was found; 1 a file could not be read (to its end); 2 with --strict: the score is not perfect;
130 interrupted: what was found so far was printed.`
}

// Run replays the files one after another.
func (c *replayCommand) Run(ctx context.Context, s streams) error {
	switch {
	case c.Masks != "":
		return cli.Exit(exitUsage, errors.New("--masks has moved: lab replay --masks DIR writes them; "+
			"scripts/build makes the program lab"))
	case c.Plot != "":
		return cli.Exit(exitUsage, errors.New("--plot has moved: lab replay --plot FILE.png draws it; "+
			"scripts/build makes the program lab"))
	}
	err := c.Command.Run(ctx, replay.Program{Name: "vmsbridge", Out: s.out, Err: s.err,
		Load: func(path string) (*configs.Config, error) { return configFile{path}.load(s) }})
	if exit, ok := errors.AsType[*replay.Exit](err); ok {
		return cli.Exit(exit.Code, exit.Err)
	}
	return err
}
