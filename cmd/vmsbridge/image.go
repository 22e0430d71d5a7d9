package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"vmsbridge/cmd/cli"
	"vmsbridge/storage/vfs"
	"vmsbridge/uplink/vms"
)

type imageCommand struct {
	Camera string `required:"" help:"The camera's id." placeholder:"ID"`
	Before string `xor:"when" help:"The newest still before this time: 2025-03-11T20:23:12.766+00:00, the same without an offset for local time, 15:04:05 for the last such time, or 10m for ten minutes ago. Default: now." placeholder:"TIME"`
	At     string `xor:"when" help:"The still of exactly this time." placeholder:"TIME"`
	After  string `xor:"when" help:"The oldest still after this time." placeholder:"TIME"`
	Output string `short:"o" required:"" help:"Where to write the JPEG; - for standard output." placeholder:"FILE"`
	Type   string `enum:"preview,main" default:"preview" help:"preview (the stream used for motion) or main (full resolution)."`
	ask
}

// Run fetches one still, writes it, and says on standard error when it was taken.
func (c *imageCommand) Run(ctx context.Context, s streams) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	op, text := vms.OpBefore, c.Before
	switch {
	case c.At != "":
		op, text = vms.OpAt, c.At
	case c.After != "":
		op, text = vms.OpAfter, c.After
	case c.Before == "":
		text = "0s"
	}
	t, err := parseTime(text, time.Now())
	if err != nil {
		return cli.Exit(exitUsage, err)
	}
	cl, err := c.client()
	if err != nil {
		return err
	}
	defer cl.Close()
	jpeg, at, err := cl.Image(ctx, c.Camera, c.Type, op, t)
	if refused, ok := errors.AsType[*vms.RefusedError](err); ok && refused.Code == 404 {
		if err := knownCameras(ctx, cl, c.Camera); err != nil {
			return err
		}
		return fmt.Errorf("no such still: %s", refused.Message)
	}
	if err != nil {
		return hinted("fetch the still", err)
	}
	if c.Output == "-" {
		_, err = s.out.Write(jpeg)
	} else {
		err = vfs.Replace(c.Output, jpeg, 0o644, -1, -1)
	}
	if err != nil {
		return fmt.Errorf("write the still: %w", err)
	}
	_, _ = fmt.Fprintf(s.err, "%s still of %s taken at %s (%v before the time asked for), %d bytes\n", c.Type, c.Camera,
		vms.At(at), t.Sub(at).Round(time.Millisecond), len(jpeg))
	return nil
}
