package pipeline

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/codec"
	"vmsbridge/configs"
	"vmsbridge/motion"
	"vmsbridge/uplink/vms"
)

// Pipeline is one camera's way from the stream to events and stills. New makes it; Run owns all its
// goroutines.
type Pipeline struct {
	cfg      configs.Camera
	deps     Deps
	log      *slog.Logger
	author   *author
	presence *presence
	recorder *recorder
	main     *mainStills // nil when one stream serves as both

	queue    *queue
	detector *motion.Detector
	decoder  *codec.Decoder
	waitKey  bool
	calm     bool // access units may wait for the next one
	inOrder  bool // the last access unit's picture came out at once, and no other
	marks    marks
	gate     gate
	looks    looks                // of those who try other settings
	nears    nears                // movements too small for the camera's sensitivity
	glances  bool                 // the picture that is looked at is one of few
	lookedAt time.Time            // capture time of the last picture that came by
	wished   time.Time            // of the picture whose still somebody waits for
	replayed time.Time            // while a group is decoded again: up to when it was looked at before
	spans    map[string]vms.Event // those that have begun, by region, viewKey, and those of areas
	view     view
	rules    rules
	disarmed *atomic.Bool // set by others
	rests    bool         // what moves makes no events
	pace     Sampler      // of the pictures looked at
	lastSeen time.Time    // capture time of the last picture decoded
	lostWhy  string       // why the camera was away, while it is
	aliveAt  time.Time
	grumble  complaint
	counters *counters           // nil before the first picture
	some     []camera.AccessUnit // room for those that are fed together
	chosen   []camera.AccessUnit // room for those of them that are decoded
	feeds    []codec.Unit        // room for how the decoder has them
	turned   atomic.Int64        // when work last came round, by time.Now().UnixNano()

	undecoded undecoded

	mu      sync.Mutex // guards all below
	state   camera.Status
	trouble camera.Status // of the decoder, while the camera itself is online; zero if there is none
}

func (p *Pipeline) setState(s camera.Status) {
	p.mu.Lock()
	p.state = s
	p.mu.Unlock()
	p.log.Info("camera", "state", string(s.State), "reason", s.Reason, "codec", s.Codec, "width", s.Width, "height",
		s.Height, "transport", s.Transport)
}

// setTrouble notes what keeps the decoder from giving pictures of a camera that is online; zero:
// nothing does.
func (p *Pipeline) setTrouble(s camera.Status) {
	p.mu.Lock()
	news := s.State != p.trouble.State || s.Reason != p.trouble.Reason
	if news {
		p.trouble = s
	}
	p.mu.Unlock()
	switch {
	case news && s.State != "":
		p.log.Warn("the camera's pictures cannot be decoded", "state", string(s.State), "reason", s.Reason)
	case news:
		p.log.Info("the camera's pictures can be decoded again")
	}
}

// State is what is known of the camera; Connecting until something is. Safe for concurrent use.
func (p *Pipeline) State() camera.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.State == camera.Online && p.trouble.State != "" {
		return p.trouble
	}
	return p.state
}

// MainRefused is why the camera's full-resolution stream cannot be decoded, "" if it can. Safe for
// concurrent use.
func (p *Pipeline) MainRefused() string {
	if p.main == nil {
		return ""
	}
	if why := p.main.refused.Load(); why != nil {
		return why.Error()
	}
	return ""
}

// Losing is the share of the camera's pictures of the last minute that the decoder did not come to,
// and of those that miss packets, each if that goes on. Safe for concurrent use.
func (p *Pipeline) Losing() (dropped, torn float64) {
	if p.queue == nil { // the zero Pipeline, which panics when it runs
		return 0, 0
	}
	return p.queue.Losing(time.Now())
}

// Rate is how many pictures of the camera came a second, within the last minute; 0 where that is
// not known. Safe for concurrent use.
func (p *Pipeline) Rate() float64 {
	if p.queue == nil {
		return 0
	}
	return p.queue.Rate(time.Now())
}

// Undecoded is the share of the camera's access units that stayed undecoded in the last minute, and
// why all are decoded now, "" if they are not; ok is false before the first keyframe. Safe for
// concurrent use.
func (p *Pipeline) Undecoded() (share float64, why Whole, ok bool) { return p.undecoded.now() }

// Turned is when the pipeline's consumer last took something up or found nothing to do, which it
// does once a minute at least; zero before it runs. Safe for concurrent use.
func (p *Pipeline) Turned() time.Time {
	if n := p.turned.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}

// stuckAfter is how long a camera's pipeline may take over one thing before it counts as standing
// still. It comes round once a minute when there is nothing to do, and a decoder that hangs is
// replaced within seconds.
const stuckAfter = 3 * time.Minute

// Stuck reports whether the pipeline stands still. Safe for concurrent use.
func (p *Pipeline) Stuck(now time.Time) bool {
	turned := p.Turned()
	return !turned.IsZero() && now.Sub(turned) > stuckAfter
}
