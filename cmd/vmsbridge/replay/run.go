package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"time"

	"vmsbridge/cmd/vmsbridge/replay/footage"
	"vmsbridge/motion/rule"
	"vmsbridge/uplink/vms"
)

// Recording is one file on its way through the detector.
type Recording struct {
	File     string
	Several  bool // there are others
	Settings Settings
	Camera   string  // whose settings, in words
	Labels   []Label // nil without
	Watch    *Watch
	Rate     float64       // as footage.Info has it
	Size     image.Point   // of the pictures; zero before the first
	Length   time.Duration // of what was replayed so far

	command  *Command
	program  Program
	show     *show
	observer Observer

	begin    time.Time
	pictures int
	spans    []Span // of the whole picture
	events   int
	crossed  map[string]int // by line and direction
}

// Note prints something that the user should know.
func (r *Recording) Note(text string) { r.show.note(text) }

// run replays the file and prints each span as it is found. After an interruption, or a file
// that ends early, what was found so far is complete all the same.
func (r *Recording) run(ctx context.Context) (err error) {
	r.begin = time.Now()
	open := footage.Open
	if r.program.Open != nil {
		open = r.program.Open
	}
	f, err := open(ctx, r.File, footage.Options{Rate: r.command.FPS})
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer f.Close()
	r.Rate = f.Info.Rate
	if note := rateNote(r.File, f, r.command.FPS); note != "" {
		r.show.note(note)
	}
	if r.Watch, err = NewWatch(r.Settings); err != nil {
		return err
	}
	if r.program.Begin != nil {
		if r.observer, err = r.program.Begin(r); err != nil {
			return err
		}
		defer func() { err = r.observer.Close(err) }()
	}
	readErr := r.pump(ctx, f)
	if r.pictures > 0 {
		if err := r.finish(ctx, f); err != nil {
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
func (r *Recording) pump(ctx context.Context, f *footage.Footage) error {
	for ctx.Err() == nil {
		p, err := f.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if p.Damaged == nil && r.Size == (image.Point{}) {
			r.Size = image.Pt(p.Image.Width, p.Image.Height)
			r.show.header(r, f.Info)
		}
		r.pictures, r.Length = p.Number+1, p.At
		seen := r.Watch.Picture(p)
		if r.observer != nil {
			if err := r.observer.Picture(p, seen); err != nil {
				return err
			}
		}
		if err := r.found(seen.Ended); err != nil {
			return err
		}
		r.show.progress(r, f.Info)
	}
	return nil
}

// found prints the spans that ended.
func (r *Recording) found(events []Event) error {
	for _, ev := range events {
		r.events++
		if ev.Type == vms.TypeLineCross {
			if r.crossed == nil {
				r.crossed = map[string]int{}
			}
			r.crossed[ev.Region+" "+ev.Direction]++
		}
		if ev.Type == vms.TypeMotion {
			r.spans = append(r.spans, Span{Start: ev.Start.Frame, End: ev.End.Frame})
		}
		if r.observer != nil {
			r.observer.Event(ev)
		}
		if err := r.show.event(r, ev); err != nil {
			return fmt.Errorf("print a span: %w", err)
		}
	}
	return nil
}

// crossings are the totals of each line and direction, a line of text each.
func (r *Recording) crossings() (list []string) {
	if r.Settings.Rules == nil {
		return nil
	}
	for _, l := range r.Settings.Rules.Lines {
		list = append(list, fmt.Sprintf("line %s: %d a-to-b, %d b-to-a", cmp.Or(l.Name, l.ID),
			r.crossed[l.ID+" "+string(rule.AToB)], r.crossed[l.ID+" "+string(rule.BToA)]))
	}
	return list
}

// finish ends the open spans and prints the summary.
func (r *Recording) finish(ctx context.Context, f *footage.Footage) error {
	if err := r.found(r.Watch.Close()); err != nil {
		return err
	}
	r.show.summary(r, f.Info, ctx.Err() != nil)
	if r.observer != nil {
		return r.observer.Finish()
	}
	return nil
}

// verdict scores the whole file; a part of it has no score.
func (r *Recording) verdict(ctx context.Context) error {
	if r.Labels == nil || ctx.Err() != nil {
		return nil
	}
	if last := r.Labels[len(r.Labels)-1]; last.End >= r.pictures+last.Tolerance {
		r.show.note(fmt.Sprintf("%s has %d pictures, and the labels go on to number %d: do they belong to it?", r.File,
			r.pictures, last.End))
	}
	score := ScoreSpans(r.Labels, r.spans)
	if err := r.show.score(r, score); err != nil {
		return fmt.Errorf("print the score: %w", err)
	}
	if r.command.Strict && !score.Perfect() {
		return &Exit{Code: scored}
	}
	return nil
}
