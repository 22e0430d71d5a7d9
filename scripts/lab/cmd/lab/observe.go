package main

import (
	"errors"
	"fmt"
	"image"
	"path/filepath"

	"vmsbridge/cmd/vmsbridge/replay"
	"vmsbridge/cmd/vmsbridge/replay/footage"
	"vmsbridge/scripts/lab/masks"
)

// observer makes the masks and the plot of a recording.
type observer struct {
	command *replayCommand
	plot    *plot // nil without

	set      *masks.Set // nil without masks
	outlines *masks.Outlines
	size     image.Point
	mask     []byte
	// unsized are the names of masks of pictures that could not be decoded, while none could.
	unsized []string
}

func (c *replayCommand) begin(r *replay.Recording) (*observer, error) {
	o := &observer{command: c}
	if c.Plot != "" {
		o.plot = newPlot(r)
	}
	if c.Masks == "" {
		return o, nil
	}
	dir := c.Masks
	if r.Several {
		dir = filepath.Join(dir, maskFolder(r.File))
	}
	var err error
	if o.outlines, err = masks.NewOutlines(r.Settings.Motion); err != nil {
		return nil, fmt.Errorf("prepare the detector of masks: %w", err)
	}
	if o.set, err = masks.New(dir); err != nil {
		return nil, err
	}
	if n := o.set.Before; n > 0 {
		r.Note(fmt.Sprintf("there are %s in %s already: those of other pictures than of %s stay there",
			replay.Counted(n, "mask"), dir, r.File))
	}
	return o, nil
}

// Picture writes the picture's mask, and takes it for the plot.
func (o *observer) Picture(p footage.Picture, s replay.Seen) error {
	if o.set != nil {
		if err := o.putMask(p); err != nil {
			return err
		}
	}
	if o.plot != nil {
		o.plot.picture(p, s)
	}
	return nil
}

// putMask writes the picture's mask. A picture that could not be decoded has that of the one
// before, or a black one in the size of the first that can be.
func (o *observer) putMask(p footage.Picture) error {
	name := masks.Name(p.Digits, p.Number)
	if p.Damaged != nil {
		if o.mask == nil {
			o.unsized = append(o.unsized, name)
			return nil
		}
		return o.set.Put(name, o.mask, o.size.X, o.size.Y)
	}
	o.size = image.Pt(p.Image.Width, p.Image.Height)
	if len(o.mask) != o.size.X*o.size.Y {
		o.mask = make([]byte, o.size.X*o.size.Y)
	}
	for _, name := range o.unsized {
		if err := o.set.Put(name, o.mask, o.size.X, o.size.Y); err != nil {
			return err
		}
	}
	o.unsized = nil
	o.outlines.Look(p.Image, p.At)
	o.outlines.Write(o.mask, o.size.X, o.size.Y)
	return o.set.Put(name, o.mask, o.size.X, o.size.Y)
}

// Event takes a span for the plot.
func (o *observer) Event(ev replay.Event) {
	if o.plot != nil {
		o.plot.event(ev)
	}
}

// Finish draws the plot.
func (o *observer) Finish() error {
	if o.plot == nil {
		return nil
	}
	if err := o.plot.write(o.command.Plot); err != nil {
		return fmt.Errorf("write the plot: %w", err)
	}
	return nil
}

// Close waits for the masks.
func (o *observer) Close(err error) error {
	if o.set == nil {
		return err
	}
	if left := o.set.Close(); left != nil && !errors.Is(err, left) { // what Put could not write, Close says again
		err = errors.Join(err, left)
	}
	return err
}
