package agent

import (
	"context"
	"time"

	"vmsbridge/agent/codec"
	"vmsbridge/motion"
	"vmsbridge/storage/stills"
)

// album is where stills are kept; the ring is one.
type album interface {
	Append(stills.Still) error
}

// developer makes the JPEG of a picture that has just come out of a decoder, at most maxWidth wide (0: as it is).
type developer interface {
	Still(ctx context.Context, p codec.Picture, maxWidth int) ([]byte, error)
}

// pace says how often stills are kept (DESIGN §6).
type pace struct {
	quiet, motion, main time.Duration
	previewWidth        int
	mainToo             bool // this stream is also the full-resolution one
}

// maxPending bounds the stills of a motion that is not confirmed yet: more than the detector's window holds.
const maxPending = 16

// recorder decides which pictures of a camera's motion stream become stills: while it is quiet one an interval, in motion
// one every half second, and always the first picture of a span, which is known to be the first only when the motion is
// confirmed some pictures later; until then the candidates' stills wait here. One goroutine.
type recorder struct {
	camera string
	pace   pace
	album  album
	dev    developer
	m      *metrics
	fail   func(error)

	lastPreview, lastMain time.Time
	pending               []stills.Still
}

// Picture looks at one picture and what the detector said of it. It blocks while JPEGs are made.
func (r *recorder) Picture(ctx context.Context, p codec.Picture, t time.Time, res motion.Result) {
	began, start := firstBegan(res.Changes)
	switch {
	case began:
		kept := r.confirm(start)
		first := !kept && !t.After(start)
		if !kept && !first {
			r.m.firstPictureMissed.Inc()
		}
		r.take(ctx, p, t, first || due(t, r.lastPreview, r.pace.motion), r.pace.mainToo && (first || due(t, r.lastMain, r.pace.main)))
	case res.Moving:
		r.pending = nil
		r.take(ctx, p, t, due(t, r.lastPreview, r.pace.motion), r.pace.mainToo && due(t, r.lastMain, r.pace.main))
	case res.Candidate:
		r.hold(ctx, p, t)
	default:
		r.pending = nil
		r.take(ctx, p, t, due(t, r.lastPreview, r.pace.quiet), false)
	}
}

// hold keeps the stills of a picture that may turn out to be the first of a span.
func (r *recorder) hold(ctx context.Context, p codec.Picture, t time.Time) {
	if s, ok := r.develop(ctx, p, t, stills.Preview); ok {
		r.pending = append(r.pending, s)
		if due(t, r.lastPreview, r.pace.quiet) {
			r.keep(s)
		}
	}
	if r.pace.mainToo {
		if s, ok := r.develop(ctx, p, t, stills.Main); ok {
			r.pending = append(r.pending, s)
		}
	}
	if n := len(r.pending) - maxPending; n > 0 {
		r.pending = append(r.pending[:0], r.pending[n:]...)
	}
}

// confirm keeps those of the waiting stills that the span needs: the one of its first picture, or of the newest picture
// before it, and then one per interval. It tells whether a preview of the first picture was among them.
func (r *recorder) confirm(start time.Time) (kept bool) {
	for _, kind := range []stills.Kind{stills.Preview, stills.Main} {
		interval := r.pace.motion
		if kind == stills.Main {
			interval = r.pace.main
		}
		first := -1
		for i, s := range r.pending {
			if s.Kind == kind && (first < 0 || !s.Time.After(start)) {
				first = i
			}
		}
		for i, s := range r.pending {
			if s.Kind == kind && (i == first || i > first && due(s.Time, r.last(kind), interval)) {
				r.keep(s)
			}
		}
		kept = kept || kind == stills.Preview && first >= 0
	}
	r.pending = nil
	return kept
}

func (r *recorder) take(ctx context.Context, p codec.Picture, t time.Time, preview, main bool) {
	if preview {
		if s, ok := r.develop(ctx, p, t, stills.Preview); ok {
			r.keep(s)
		}
	}
	if main {
		if s, ok := r.develop(ctx, p, t, stills.Main); ok {
			r.keep(s)
		}
	}
}

func (r *recorder) develop(ctx context.Context, p codec.Picture, t time.Time, kind stills.Kind) (stills.Still, bool) {
	width := 0
	if kind == stills.Preview {
		width = r.pace.previewWidth
	}
	jpeg, err := r.dev.Still(ctx, p, width)
	if err != nil {
		r.fail(err)
		return stills.Still{}, false
	}
	return stills.Still{Camera: r.camera, Kind: kind, Time: t, JPEG: jpeg}, true
}

func (r *recorder) keep(s stills.Still) {
	if err := r.album.Append(s); err != nil {
		r.fail(err)
		return
	}
	r.m.stills.WithLabelValues(r.camera, s.Kind.String()).Inc()
	if s.Kind == stills.Preview {
		r.lastPreview = s.Time
	} else {
		r.lastMain = s.Time
	}
}

func (r *recorder) last(kind stills.Kind) time.Time {
	if kind == stills.Preview {
		return r.lastPreview
	}
	return r.lastMain
}

// due tells whether an interval has passed, with some room for the jitter of capture times. A clock that stepped back
// makes a still due.
func due(t, last time.Time, interval time.Duration) bool {
	d := t.Sub(last)
	return d < 0 || d >= interval-min(interval/10, 30*time.Millisecond)
}

func firstBegan(changes []motion.Change) (bool, time.Time) {
	began, start := false, time.Time{}
	for _, c := range changes {
		if c.Kind == motion.Began && (!began || c.Start.Before(start)) {
			began, start = true, c.Start
		}
	}
	return began, start
}
