package codec

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"vmsbridge/agent/codec/worker"
	"vmsbridge/agent/supervisor"
)

// group is the cameras that share a process, and the goroutine that is the only one to talk to it:
// it starts the process when a call needs it, does one call at a time, and notices its end. The
// process decodes on one thread, so that taking turns costs nothing, and whose call was under way
// when it died is always known.
type group struct {
	pool  *Pool
	calls chan call
	wake  chan struct{} // one slot: leaving has something
	stop  chan struct{} // closed by endLocked
	done  chan struct{} // closed when the goroutine has ended
	proc  atomic.Pointer[process]

	// Guarded by pool.mu.
	alone   bool
	ended   bool
	members map[string][]*Decoder // by owner
	leaving []*Decoder            // closed, not yet closed in the process

	// Owned by run.
	open      map[*Decoder]bool // in the present process
	pauses    supervisor.Backoff
	notBefore time.Time // no new process before
	bare      bool      // one with libavcodec did not come to life
}

// call is one request of a decoder; done has room for its answer, so that the group never waits for
// the caller.
type call struct {
	decoder *Decoder
	kind    worker.Kind
	request []byte
	done    chan answer
}

type answer struct {
	pictures []Picture
	still    []byte
	err      error
}

func newGroup(p *Pool, alone bool, deaths int) *group {
	g := &group{
		pool: p, alone: alone,
		calls: make(chan call), wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		members: map[string][]*Decoder{}, open: map[*Decoder]bool{},
		pauses: supervisor.Backoff{Free: freeDeaths, Min: time.Second, Max: maxPause, Calm: calmAfter},
	}
	if alone {
		g.pauses.Failures = deaths
	}
	return g
}

// endLocked makes run return soon, whatever the process does. pool.mu is held.
func (g *group) endLocked() {
	if g.ended {
		return
	}
	g.ended = true
	close(g.stop)
	if proc := g.proc.Load(); proc != nil {
		proc.kill()
	}
}

func (g *group) stopped() bool {
	select {
	case <-g.stop:
		return true
	default:
		return false
	}
}

func (g *group) run() {
	defer close(g.done)
	defer func() {
		if proc := g.proc.Load(); proc != nil {
			proc.end()
		}
	}()
	for {
		var dead <-chan struct{}
		if proc := g.proc.Load(); proc != nil {
			dead = proc.dead
		}
		select {
		case <-g.stop:
			return
		case c := <-g.calls:
			c.done <- g.serve(c)
		case <-g.wake:
			g.closeLeft()
		case <-dead:
			_ = g.bury(nil, "")
		}
	}
}

// serve does one call.
func (g *group) serve(c call) answer {
	d := c.decoder
	if d.lost.Load() {
		return answer{err: fmt.Errorf("%w: its process ended", ErrLost)}
	}
	if !g.has(d) {
		return answer{err: fmt.Errorf("%w: its camera was given another process", ErrLost)}
	}
	if !g.open[d] && c.kind == worker.Flush {
		return answer{}
	}
	if !g.open[d] && c.kind == worker.Still {
		return answer{err: ErrGone}
	}
	if err := g.ensure(d); err != nil {
		return answer{err: err}
	}
	if !g.open[d] {
		if _, err := g.exchange(d.owner, worker.OK, worker.AppendOpen(nil, d.number, d.format, d.lumaPixels),
			startTimeout); err != nil {
			g.renew(err)
			return answer{err: err}
		}
		g.open[d] = true
	}
	want := worker.Pictures
	if c.kind == worker.Still {
		want = worker.OK
	}
	proc := g.proc.Load()
	spent := proc.spent()
	body, err := g.exchange(d.owner, want, c.request, g.pool.options.CallTimeout)
	g.pool.charge(g, d.owner, proc.spent()-spent)
	if err != nil {
		return answer{err: err}
	}
	if c.kind == worker.Still {
		return answer{still: body}
	}
	pictures, err := worker.ParsePictures(body)
	if err != nil {
		return answer{err: g.bury(err, d.owner)}
	}
	return answer{pictures: pictures}
}

// exchange does one request and answers the body of a reply of the kind wanted; what goes wrong
// with the process is dealt with.
func (g *group) exchange(owner string, want worker.Kind, request []byte, timeout time.Duration) ([]byte, error) {
	reply, err := g.proc.Load().exchange(request, timeout)
	if err == nil && reply.Kind == want {
		return reply.Body, nil
	}
	if err == nil {
		if err = worker.ParseError(reply); err != nil && !errors.Is(err, worker.ErrBroken) {
			return nil, err
		}
		err = fmt.Errorf("a reply of kind %d instead of %d: %w", reply.Kind, want, worker.ErrBroken)
	}
	return nil, g.bury(err, owner)
}

// closeLeft closes in the process what was closed here.
func (g *group) closeLeft() {
	g.pool.mu.Lock()
	left := g.leaving
	g.leaving = nil
	g.pool.mu.Unlock()
	for _, d := range left {
		if g.open[d] {
			delete(g.open, d)
			if _, err := g.exchange(d.owner, worker.OK, worker.AppendFrame(nil, worker.Close, d.number),
				g.pool.options.CallTimeout); err != nil {
				return
			}
		}
	}
}

// How often a process may die before the next one has to wait: the first two times not at all, for
// cameras should be back at once; then 1 s, doubled each time up to maxPause. A process that lived
// for calmAfter clears the count.
const (
	freeDeaths = 2
	maxPause   = time.Minute
	calmAfter  = time.Minute
)

// ensure starts a process if there is none that serves d.
func (g *group) ensure(d *Decoder) error {
	video := d.format != MJPEG
	proc := g.proc.Load()
	if proc != nil && (proc.video || !video) {
		return nil
	}
	if wait := time.Until(g.notBefore); wait > 0 {
		return fmt.Errorf("%w: its process died %d times, the next one starts in %v", ErrLost, g.pauses.Failures,
			wait.Round(100*time.Millisecond))
	}
	if proc != nil {
		g.retire() // it cannot load anything any more
	}
	err := g.start(video || !g.bare)
	if err != nil && !video && !g.bare {
		g.bare = true // so that a libavcodec that breaks what loads it costs no JPEG
		err = g.start(false)
	}
	if g.stopped() {
		return ErrClosed
	}
	if err != nil {
		g.pauses.Failures = max(g.pauses.Failures, freeDeaths)
		pause := g.pauses.Failed(0)
		g.notBefore = time.Now().Add(pause)
		g.pool.metrics.deaths.WithLabelValues(reasonStart).Inc()
		g.pool.log.Error("decoder process does not start", "error", err, "next_try_in", pause)
		if video {
			g.pool.blame(g, d.owner, false)
		}
		return fmt.Errorf("%w: start decoder process: %w", ErrLost, err)
	}
	return nil
}

// start starts a process and waits until it serves.
func (g *group) start(video bool) error {
	proc, err := g.pool.launch(video)
	if err != nil {
		return err
	}
	g.proc.Store(proc)
	if g.stopped() {
		proc.kill()
	}
	if err = proc.greet(); err != nil {
		g.proc.Store(nil)
		return err
	}
	g.bare = g.bare && !video
	g.pool.mu.Lock()
	defer g.pool.mu.Unlock()
	if g.alone && g.pool.overLocked(g) {
		proc.yield()
	}
	return nil
}

// has says whether d still belongs here.
func (g *group) has(d *Decoder) bool {
	g.pool.mu.Lock()
	defer g.pool.mu.Unlock()
	return d.group == g
}

// lookAgain is how long a missing libavcodec stays missing before it is looked for again, so that
// installing it is enough.
const lookAgain = 30 * time.Second

// renew ends the process if err says that it cannot decode a format, which it said as it started:
// the next one looks again.
func (g *group) renew(err error) {
	var unsupported *UnsupportedError
	proc := g.proc.Load()
	if !errors.As(err, &unsupported) || proc == nil || time.Since(proc.started) < lookAgain {
		return
	}
	for d := range g.open {
		if d.format != MJPEG {
			return // it serves a camera, and so it has a library
		}
	}
	g.retire()
}

// retire ends a process that did no wrong. It has no video open: a camera loses one JPEG.
func (g *group) retire() {
	g.proc.Load().end()
	g.proc.Store(nil)
	for d := range g.open {
		d.lost.Store(true)
	}
	clear(g.open)
}

// bury deals with a process that died, or that gave err as an answer while owner's call was under
// way. The decoders that were open in it are lost. The answer is the error for that call.
func (g *group) bury(err error, owner string) error {
	proc := g.proc.Load()
	proc.end()
	g.proc.Store(nil)
	reason, text := proc.reason(err)
	for d := range g.open {
		d.lost.Store(true)
	}
	clear(g.open)
	if g.stopped() {
		return ErrClosed
	}
	g.pool.metrics.deaths.WithLabelValues(reason).Inc()
	pause := g.pauses.Failed(time.Since(proc.started))
	if owner != "" && g.pool.blame(g, owner, reason == reasonHang) {
		g.pauses.Failures, pause = 0, 0 // the one who did it is gone
	}
	g.notBefore = time.Now().Add(pause)
	g.pool.log.Warn("decoder process died", "pid", proc.pid(), "reason", reason, "detail", text, "during_call_of",
		owner,
		"said", proc.lastWords(), "next_start_in", pause)
	return fmt.Errorf("%w: its process %s", ErrLost, text)
}
