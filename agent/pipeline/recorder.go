package pipeline

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"vmsbridge/agent/codec"
	"vmsbridge/configs"
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

// pace says how often stills are kept.
type pace struct {
	quiet, motion, main time.Duration
	previewWidth        int
	mainToo             bool // this stream is also the full-resolution one
}

// Pace is how often and how large stills are kept, for all pipelines together. It may be set anew while they run. Safe for
// concurrent use.
type Pace struct {
	stills  atomic.Pointer[configs.Stills]
	watched sync.Map // of cameras that somebody looks at: id → until when, a time.Time
}

// NewPace takes it from the configuration.
func NewPace(s configs.Stills) *Pace {
	p := &Pace{}
	p.Set(s)
	return p
}

// Set takes effect with the next picture.
func (p *Pace) Set(s configs.Stills) { p.stills.Store(&s) }

func (p *Pace) quality() int { return p.stills.Load().Quality }

// Watch has a camera keep as many stills as in motion until a time, since somebody looks.
func (p *Pace) Watch(camera string, until time.Time) { p.watched.Store(camera, until) }

// of is the pace of one camera.
func (p *Pace) of(c configs.Camera) pace {
	s := p.stills.Load()
	quiet := s.PreviewInterval
	if until, ok := p.watched.Load(c.ID); ok && time.Now().Before(until.(time.Time)) {
		quiet = min(quiet, s.MotionInterval)
	}
	return pace{quiet: quiet, motion: s.MotionInterval, main: s.MainInterval, previewWidth: s.PreviewWidth, mainToo: c.PreviewURL == ""}
}

// What is held of a motion that is not confirmed yet: about as far as the detector looks back from there, a few seconds. A
// setting (motion.min_duration) may take longer; what falls out of the window is then stored as if it were motion.
const (
	maxPreviews = 32
	maxMains    = 12
	mainSpacing = 250 * time.Millisecond // between two full-resolution ones that are held: they are large
)

// recorder decides which pictures of a camera's motion stream become stills: while it is quiet one an interval, in motion
// one every half second, and always the first picture of a span, which is known to be the first only when the motion is
// confirmed some pictures later; until then the candidates' stills wait here. One goroutine.
type recorder struct {
	camera string
	pace   pace
	album  album
	dev    developer
	m      *Metrics
	fail   func(error)

	lastPreview, lastMain time.Time
	previews, mains       []stills.Still // of candidates, by time
}

// Picture looks at one picture and what the detector said of it. It blocks while JPEGs are made.
func (r *recorder) Picture(ctx context.Context, p codec.Picture, t time.Time, res motion.Result) {
	began, start := firstBegan(res.Changes)
	switch {
	case began:
		r.confirm(start)
		if t.After(start) && r.lastPreview.Before(start) {
			r.m.firstPictureMissed.Inc()
		}
		// Where nothing was held (a span of a region that begins while something moves elsewhere), this is the next best.
		r.take(ctx, p, t, r.lastPreview.Before(start) || due(t, r.lastPreview, r.pace.motion),
			r.pace.mainToo && (r.lastMain.Before(start) || due(t, r.lastMain, r.pace.main)))
	case res.Moving:
		r.previews, r.mains = nil, nil
		r.take(ctx, p, t, due(t, r.lastPreview, r.pace.motion), r.pace.mainToo && due(t, r.lastMain, r.pace.main))
	case res.Candidate:
		r.hold(ctx, p, t)
	default:
		r.previews, r.mains = nil, nil
		r.take(ctx, p, t, due(t, r.lastPreview, r.pace.quiet), false)
	}
}

// hold keeps the stills of a picture that may turn out to be the first of a span.
func (r *recorder) hold(ctx context.Context, p codec.Picture, t time.Time) {
	if s, ok := r.develop(ctx, p, t, stills.Preview); ok {
		r.previews = r.wait(r.previews, s, maxPreviews)
		if due(t, r.lastPreview, r.pace.quiet) {
			r.keep(s)
		}
	}
	if n := len(r.mains); r.pace.mainToo && (n == 0 || due(t, r.mains[n-1].Time, mainSpacing)) {
		if s, ok := r.develop(ctx, p, t, stills.Main); ok {
			r.mains = r.wait(r.mains, s, maxMains)
		}
	}
}

// wait appends a still. The oldest one makes room, stored if nothing else of its time was.
func (r *recorder) wait(list []stills.Still, s stills.Still, most int) []stills.Still {
	if len(list) < most {
		return append(list, s)
	}
	if old := list[0]; old.Time.Sub(r.last(s.Kind)) >= r.interval(s.Kind) {
		r.keep(old)
	}
	copy(list, list[1:])
	list[len(list)-1] = s
	return list
}

// confirm keeps those of the waiting stills that a span which began at start needs: the one of its first picture, or of
// the next after it that there is, and then one per interval.
func (r *recorder) confirm(start time.Time) {
	for _, list := range [][]stills.Still{r.previews, r.mains} {
		first := true
		for _, s := range list {
			if !s.Time.Before(start) && (first || due(s.Time, r.last(s.Kind), r.interval(s.Kind))) {
				first = false
				r.keep(s)
			}
		}
	}
	r.previews, r.mains = nil, nil
}

// interval is the time between two stills of a kind in motion.
func (r *recorder) interval(kind stills.Kind) time.Duration {
	if kind == stills.Preview {
		return r.pace.motion
	}
	return r.pace.main
}

// Keep stores a picture's stills now, whatever the pace says, unless it is stored already. It blocks while JPEGs are made.
func (r *recorder) Keep(ctx context.Context, p codec.Picture, t time.Time) {
	r.take(ctx, p, t, !r.lastPreview.Equal(t), r.pace.mainToo && !r.lastMain.Equal(t))
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
