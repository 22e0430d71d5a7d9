package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"path/filepath"
	"time"

	"vmsbridge/cmd/vmsbridge/replay/footage"
	"vmsbridge/cmd/vmsbridge/replay/masks"
	"vmsbridge/cmd/vmsbridge/replay/truth"
	"vmsbridge/cmd/vmsbridge/replay/watch"
	"vmsbridge/uplink/vms"
)

// replayed is one file on its way through the detector.
type replayed struct {
	command  *replayCommand
	file     string
	settings watch.Settings
	camera   string // whose settings, in words
	labels   []truth.Label
	show     *replayShow

	begin    time.Time
	size     image.Point
	pictures int
	length   time.Duration // of what was replayed
	rate     float64
	spans    []truth.Span // of the whole picture
	events   int

	masks *masks.Set
	mask  []byte
	// unsized are the names of masks of pictures that could not be decoded, while none could.
	unsized []string
	plot    *replayPlot
}

// run replays the file and prints what is found as it is found. After an interruption, or a file that ends early, what was
// found so far is complete all the same.
func (r *replayed) run(ctx context.Context) (err error) {
	r.begin = time.Now()
	f, err := footage.Open(ctx, r.file, footage.Options{Rate: r.command.FPS})
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer f.Close()
	r.rate = f.Info.Rate
	if note := rateNote(r.file, f, r.command.FPS); note != "" {
		r.show.note(note)
	}
	if dir := r.command.Masks; dir != "" {
		if r.show.several {
			dir = filepath.Join(dir, maskFolder(r.file))
		}
		if r.masks, err = masks.New(dir); err != nil {
			return err
		}
		if n := r.masks.Before; n > 0 {
			r.show.note(fmt.Sprintf("there are %s in %s already: those of other pictures than of %s stay there", counted(n, "mask"), dir, r.file))
		}
		defer func() {
			if left := r.masks.Close(); left != nil && !errors.Is(err, left) { // what Put could not write, Close says again
				err = errors.Join(err, left)
			}
		}()
		r.settings.Masks = true
	}
	w, err := watch.New(r.settings)
	if err != nil {
		return err
	}
	if r.command.Plot != "" {
		r.plot = newReplayPlot(w)
	}
	readErr := r.pump(ctx, f, w)
	if r.pictures > 0 {
		if err := r.finish(ctx, f, w); err != nil {
			return err
		}
	}
	if readErr != nil && ctx.Err() == nil {
		return readErr
	}
	if text := f.Complaint(); text != "" {
		r.show.note(text)
	}
	return r.verdict(ctx)
}

// pump takes the pictures through the detector until the file ends.
func (r *replayed) pump(ctx context.Context, f *footage.Footage, w *watch.Watch) error {
	for ctx.Err() == nil {
		p, err := f.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if p.Damaged == nil && r.size == (image.Point{}) {
			r.size = image.Pt(p.Image.Width, p.Image.Height)
			r.show.header(r, f.Info)
		}
		r.pictures, r.length = p.Number+1, p.At
		seen := w.Picture(p)
		if r.masks != nil {
			if err := r.putMask(w, p); err != nil {
				return err
			}
		}
		if r.plot != nil {
			r.plot.picture(p, seen)
		}
		if err := r.found(seen.Ended); err != nil {
			return err
		}
		r.show.progress(r, f.Info)
	}
	return nil
}

// putMask writes the picture's mask. A picture that could not be decoded has that of the one before, or a black one in the size of the first that can be.
func (r *replayed) putMask(w *watch.Watch, p footage.Picture) error {
	size := image.Pt(p.Image.Width, p.Image.Height)
	if p.Damaged != nil {
		if r.mask == nil {
			r.unsized = append(r.unsized, masks.Name(p.Digits, p.Number))
			return nil
		}
		return r.masks.Put(masks.Name(p.Digits, p.Number), r.mask, r.size.X, r.size.Y)
	}
	r.size = size
	if len(r.mask) != size.X*size.Y {
		r.mask = make([]byte, size.X*size.Y)
	}
	for _, name := range r.unsized {
		if err := r.masks.Put(name, r.mask, size.X, size.Y); err != nil {
			return err
		}
	}
	r.unsized = nil
	w.Mask(r.mask, size.X, size.Y)
	return r.masks.Put(masks.Name(p.Digits, p.Number), r.mask, size.X, size.Y)
}

// found prints the spans that ended.
func (r *replayed) found(events []watch.Event) error {
	for _, ev := range events {
		r.events++
		if ev.Type == vms.TypeMotion {
			r.spans = append(r.spans, truth.Span{Start: ev.Start.Frame, End: ev.End.Frame})
		}
		if r.plot != nil {
			r.plot.event(ev)
		}
		if err := r.show.event(r, ev); err != nil {
			return fmt.Errorf("print a span: %w", err)
		}
	}
	return nil
}

// finish ends the spans that are open, and shows what is known at the end.
func (r *replayed) finish(ctx context.Context, f *footage.Footage, w *watch.Watch) error {
	if err := r.found(w.Close()); err != nil {
		return err
	}
	r.show.summary(r, f.Info, ctx.Err() != nil)
	if r.plot != nil {
		if err := r.plot.write(r.command.Plot, r); err != nil {
			return fmt.Errorf("write the plot: %w", err)
		}
	}
	return nil
}

// verdict scores the whole file; a part of it has no score.
func (r *replayed) verdict(ctx context.Context) error {
	if r.labels == nil || ctx.Err() != nil {
		return nil
	}
	if last := r.labels[len(r.labels)-1]; last.End >= r.pictures+last.Tolerance {
		r.show.note(fmt.Sprintf("%s has %d pictures, and the labels go on to number %d: do they belong to it?", r.file, r.pictures, last.End))
	}
	score := truth.Rate(r.labels, r.spans)
	if err := r.show.score(r, score); err != nil {
		return fmt.Errorf("print the score: %w", err)
	}
	if r.command.Strict && !score.Perfect() {
		return &exitError{code: exitScore}
	}
	return nil
}
