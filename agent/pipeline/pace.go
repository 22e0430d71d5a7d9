package pipeline

import (
	"sync"
	"sync/atomic"
	"time"

	"vmsbridge/configs"
)

// pace says how often stills are kept.
type pace struct {
	quiet, motion, main time.Duration
	previewWidth        int
	mainToo             bool // this stream is also the full-resolution one
	watched             bool // somebody looks
}

// Pace is how often and how large stills are kept, for all pipelines together. It may be set anew
// while they run. Safe for concurrent use.
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
	watched := false
	if until, ok := p.watched.Load(c.ID); ok && time.Now().Before(until.(time.Time)) {
		quiet, watched = min(quiet, s.MotionInterval), true
	}
	return pace{quiet: quiet, motion: s.MotionInterval, main: s.MainInterval, previewWidth: s.PreviewWidth,
		mainToo: c.PreviewURL == "", watched: watched}
}
