package codec

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"vmsbridge/agent/codec/worker"
	"vmsbridge/agent/supervisor"
)

// group is the cameras that share a process. Who has the turn is the only one to talk to it: it
// starts the process when a call needs it, does one call at a time, and notices its end. The
// process decodes on one thread, so that taking turns costs nothing, and whose call was under way
// when it died is always known. Callers do their calls themselves, for handing one to a goroutine
// wakes the machine once more; what a caller left who waits no longer, a goroutine brings to its
// end.
type group struct {
	pool *Pool
	turn chan struct{} // one slot: whoever has put something in has the turn
	wake chan struct{} // one slot: leaving has something, or there is another process
	stop chan struct{} // closed by endLocked
	proc atomic.Pointer[process]

	// Guarded by pool.mu.
	alone   bool
	ended   bool
	members map[string][]*Decoder // by owner
	leaving []*Decoder            // closed, not yet closed in the process

	// Of whoever has the turn.
	open      map[*Decoder]bool // in the present process
	pauses    supervisor.Backoff
	notBefore time.Time // no new process before
	bare      bool      // one with libavcodec did not come to life
}

// call is a request of a decoder, or several that are written at once.
type call struct {
	decoder *Decoder
	kind    worker.Kind
	request []byte
	count   int  // of requests; 0: one
	room    room // for the replies
}

// room is memory for replies: of the pipe, and those that the process placed in what it shares.
type room struct{ piped, placed []byte }

type answer struct {
	replies []Decoded // with Decode and Flush, if err is nil: of each request
	still   []byte
	room    room // that the replies were read into, with Decode and Flush
	err     error
}

// decoded appends what came of n requests to all.
func (a answer) decoded(n int, all []Decoded) []Decoded {
	for i := range n {
		if i < len(a.replies) {
			all = append(all, a.replies[i])
		} else {
			all = append(all, Decoded{Err: a.err})
		}
	}
	return all
}

func newGroup(p *Pool, alone bool, deaths int) *group {
	g := &group{
		pool: p, alone: alone,
		turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), stop: make(chan struct{}),
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

// take waits for the turn; false: the group has ended, or ctx is done first.
func (g *group) take(ctx context.Context) bool {
	select {
	case g.turn <- struct{}{}:
	default:
		select {
		case g.turn <- struct{}{}:
		case <-g.stop:
			return false
		case <-ctx.Done():
			return false
		}
	}
	if g.stopped() {
		g.pass()
		return false
	}
	return true
}

// pass gives the turn back.
func (g *group) pass() { <-g.turn }

// nudge has run look round.
func (g *group) nudge() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// run does what no call waits for: it closes what has left, notices a process that dies while
// nothing is asked of it, and ends it with the group.
func (g *group) run() {
	defer func() {
		g.turn <- struct{}{}
		defer g.pass()
		if proc := g.proc.Load(); proc != nil {
			proc.end()
		}
	}()
	for {
		proc := g.proc.Load()
		var dead <-chan struct{}
		if proc != nil {
			dead = proc.dead
		}
		select {
		case <-g.stop:
			return
		case <-g.wake:
		case <-dead:
		}
		if !g.take(context.Background()) {
			return
		}
		if g.proc.Load() == proc && proc != nil && proc.isDead() {
			_ = g.bury(nil, "")
		}
		g.closeLeft()
		g.pass()
	}
}

// do does one call, with the turn, which it passes on.
func (g *group) do(ctx context.Context, c call) answer {
	d := c.decoder
	if g.open[d] && !d.lost.Load() {
		a := g.serve(ctx, c)
		if !errors.Is(a.err, errLeft) {
			g.pass()
			return a
		}
		return answer{err: ctx.Err()}
	}
	done := make(chan answer, 1)
	g.pool.running.Go(func() { // a process may have to be started
		a := g.serve(context.Background(), c)
		g.pass()
		done <- a
	})
	select {
	case a := <-done:
		return a
	case <-ctx.Done():
		return answer{err: ctx.Err()}
	}
}

// errLeft: the caller waits no longer, and a goroutine does the rest, with the turn.
var errLeft = errors.New("the caller left")

// serve does one call. When ctx is done before there is an answer, that is errLeft.
func (g *group) serve(ctx context.Context, c call) answer {
	d := c.decoder
	if proc := g.proc.Load(); proc != nil && proc.isDead() {
		_ = g.bury(nil, "") // while nothing was asked of it
	}
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
	proc := g.proc.Load()
	x := &exchange{request: c.request, reply: c.room.piped[:0], placed: c.room.placed[:0], want: c.count,
		until: time.Now().Add(g.pool.options.CallTimeout)}
	err := proc.goOn(ctx, x)
	if !errors.Is(err, errLeft) {
		return g.outcome(c, proc, x, err)
	}
	g.pool.running.Go(func() {
		_ = g.outcome(c, proc, x, proc.goOn(context.Background(), x))
		g.pass()
	})
	return answer{err: err}
}

// outcome is the answer of an exchange that has ended with err.
func (g *group) outcome(c call, proc *process, x *exchange, err error) answer {
	d := c.decoder
	g.pool.charge(g, d, proc.lately())
	if err != nil {
		return answer{err: g.bury(err, d.owner)}
	}
	if c.kind == worker.Still {
		body, err := g.body(d.owner, worker.OK, x.frames[0])
		return answer{still: body, err: err}
	}
	a := answer{room: room{x.reply, x.placed}, replies: make([]Decoded, len(x.frames))}
	for i, f := range x.frames {
		o := &a.replies[i]
		if o.Pictures, o.Err = g.pictures(d.owner, f); g.proc.Load() == nil {
			return answer{err: o.Err}
		}
	}
	return a
}

// pictures are those of a reply.
func (g *group) pictures(owner string, f worker.Frame) ([]Picture, error) {
	body, err := g.body(owner, worker.Pictures, f)
	if err != nil {
		return nil, err
	}
	pictures, err := worker.ParsePictures(body)
	if err != nil {
		return nil, g.bury(err, owner)
	}
	return pictures, nil
}

// exchange does one request and answers the body of a reply of the kind wanted; what goes wrong
// with the process is dealt with.
func (g *group) exchange(owner string, want worker.Kind, request []byte, timeout time.Duration) ([]byte, error) {
	proc := g.proc.Load()
	x := &exchange{request: request, until: time.Now().Add(timeout)}
	err := proc.goOn(context.Background(), x)
	proc.lately() // no call's
	if err != nil {
		return nil, g.bury(err, owner)
	}
	return g.body(owner, want, x.frames[0])
}

// body is the body of a reply, if it is of the kind wanted; what goes wrong with the process is
// dealt with.
func (g *group) body(owner string, want worker.Kind, f worker.Frame) ([]byte, error) {
	if f.Kind == want {
		return f.Body, nil
	}
	err := worker.ParseError(f)
	if err != nil && !errors.Is(err, worker.ErrBroken) {
		return nil, err
	}
	return nil, g.bury(fmt.Errorf("a reply of kind %d instead of %d: %w", f.Kind, want, worker.ErrBroken), owner)
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
		if stillborn, ok := errors.AsType[*stillbornError](err); ok {
			g.pool.deaths.add(stillborn.reason)
		} else {
			g.pool.deaths.add(reasonStart)
		}
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
	g.nudge()
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
	g.pool.deaths.add(reason)
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
