package pipeline

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

// developer makes the JPEG of a picture that has just come out of a decoder, at most maxWidth wide
// (0: as it is).
type developer interface {
	Still(ctx context.Context, p codec.Picture, maxWidth int) ([]byte, error)
}

// recorder decides which pictures of a camera's motion stream become stills: while it is quiet one
// an interval, in motion one every half second, and always the first picture of a span, which is
// known to be the first only when the motion is confirmed some pictures later; until then the
// candidates' stills wait here. One goroutine.
type recorder struct {
	camera string
	pace   pace
	album  album
	dev    developer
	m      *Metrics
	fail   func(error)

	lastPreview, lastMain time.Time
	held                  candidates
	shown                 developed
}

// developed is the newest JPEG that was made: a preview that is not shrunk is the full-resolution
// still, too.
type developed struct {
	time time.Time
	jpeg []byte
}

// Came tells that so many pictures came out of the decoder, which are now looked at one by one.
// Seen is called after each.
func (r *recorder) Came(n int) { r.held.next, r.held.came = r.held.came+1, r.held.came+n }

// Seen makes the stills of those candidates that the decoder will not keep any longer. It blocks
// while JPEGs are made.
func (r *recorder) Seen(ctx context.Context) {
	c := &r.held
	c.next++
	for len(c.pictures) > 0 && c.came-c.pictures[0].number >= codec.Kept-1 {
		u := c.pictures[0]
		c.pictures = append(c.pictures[:0], c.pictures[1:]...)
		r.develops(ctx, u)
	}
}

// Lost forgets the pictures that are not developed: the decoder has lost them.
func (r *recorder) Lost() { r.held.pictures = r.held.pictures[:0] }

// Picture looks at one picture and what the detector said of it. It blocks while JPEGs are made.
func (r *recorder) Picture(ctx context.Context, p codec.Picture, t time.Time, res motion.Result) {
	began, start := firstBegan(res.Changes)
	switch {
	case began:
		r.confirm(ctx, start)
		if t.After(start) && r.lastPreview.Before(start) {
			r.m.firstPictureMissed.Inc()
		}
		// Where nothing was held (a span of a region that begins while something moves elsewhere),
		// this is the next best.
		r.take(ctx, p, t, r.lastPreview.Before(start) || due(t, r.lastPreview, r.pace.motion),
			r.pace.mainToo && (r.lastMain.Before(start) || due(t, r.lastMain, r.pace.main)))
	case res.Moving:
		r.held.drop()
		r.take(ctx, p, t, due(t, r.lastPreview, r.pace.motion), r.pace.mainToo && due(t, r.lastMain, r.pace.main))
	case res.Candidate:
		r.hold(ctx, p, t)
	default:
		r.held.drop()
		r.take(ctx, p, t, due(t, r.lastPreview, r.pace.quiet), false)
	}
}

// hold keeps a picture that may turn out to be the first of a span.
func (r *recorder) hold(ctx context.Context, p codec.Picture, t time.Time) {
	c := &r.held
	u := undeveloped{picture: p, time: t, number: c.next}
	u.picture.Luma = nil
	none := len(c.mains) == 0 && len(c.pictures) == 0
	if r.pace.mainToo && (none || due(t, c.lastMain, mainSpacing)) {
		u.main, c.lastMain = true, t
	}
	if !due(t, r.lastPreview, r.pace.quiet) {
		c.pictures = append(c.pictures, u)
		return
	}
	for _, before := range c.pictures {
		r.develops(ctx, before)
	}
	c.pictures = c.pictures[:0]
	if s, ok := r.develops(ctx, u); ok {
		r.keep(s)
	}
}

// develops makes the stills of a candidate, and answers the preview.
func (r *recorder) develops(ctx context.Context, u undeveloped) (stills.Still, bool) {
	c := &r.held
	s, ok := r.develop(ctx, u.picture, u.time, stills.Preview)
	if ok {
		c.previews = r.wait(c.previews, s, maxPreviews)
	}
	if u.main {
		if s, ok := r.develop(ctx, u.picture, u.time, stills.Main); ok {
			c.mains = r.wait(c.mains, s, maxMains)
		}
	}
	return s, ok
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

// confirm keeps those of the candidates' stills that a span which began at start needs: the one of
// its first picture, or of the next after it that there is, and then one per interval.
func (r *recorder) confirm(ctx context.Context, start time.Time) {
	c := &r.held
	for _, kind := range []stills.Kind{stills.Preview, stills.Main} {
		list := c.previews
		if kind == stills.Main {
			list = c.mains
		}
		first := true
		needed := func(t time.Time) bool {
			return !t.Before(start) && (first || due(t, r.last(kind), r.interval(kind)))
		}
		for _, s := range list {
			if needed(s.Time) {
				first = false
				r.keep(s)
			}
		}
		for _, u := range c.pictures {
			if (kind == stills.Preview || u.main) && needed(u.time) {
				if s, ok := r.develop(ctx, u.picture, u.time, kind); ok {
					first = false
					r.keep(s)
				}
			}
		}
	}
	c.drop()
}

// interval is the time between two stills of a kind in motion.
func (r *recorder) interval(kind stills.Kind) time.Duration {
	if kind == stills.Preview {
		return r.pace.motion
	}
	return r.pace.main
}

// Keep stores a picture's stills now, whatever the pace says, unless it is stored already. It
// blocks while JPEGs are made.
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
	whole := width == 0 || p.Width > 0 && p.Width <= width
	if whole && r.shown.jpeg != nil && r.shown.time.Equal(t) {
		return stills.Still{Camera: r.camera, Kind: kind, Time: t, JPEG: r.shown.jpeg}, true
	}
	jpeg, err := r.dev.Still(ctx, p, width)
	if err != nil {
		r.fail(err)
		return stills.Still{}, false
	}
	if r.shown = (developed{}); whole && r.pace.mainToo {
		r.shown = developed{t, jpeg}
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

// due tells whether an interval has passed, with some room for the jitter of capture times. A clock
// that stepped back makes a still due.
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
