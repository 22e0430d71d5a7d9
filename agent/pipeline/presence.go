package pipeline

import (
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/uplink/vms"
)

// aliveEvery is how often a camera's status span is noted as still going on.
const aliveEvery = time.Minute

// Resumed is the state in which a camera was when the bridge stopped, all times on the pipelines'
// scale.
type Resumed struct {
	Connection  string // a connectionStatus of the interface
	Start, Last time.Time
	Before      string // the state before it, "" if none is known
	BeforeStart time.Time
}

// resumeWithin is how long nobody may have looked for a state to have gone on all the time: a
// restart, or one after a crash, which was noted up to aliveEvery before.
const resumeWithin = aliveEvery + 30*time.Second

// presence turns a camera's states into status events: one span for as long as the camera stays in
// a state, each ended before the next one begins. Connecting, while nothing is known yet, is no
// state of the interface. One goroutine.
type presence struct {
	author *author
	out    Outlet
	// resume is the state that the bridge left; nil: none, or it was taken up. It is asked again if
	// it is not known yet and who asks waits.
	resume func(waits bool) (r Resumed, ok, later bool)
	now    span
}

// Set notes that the camera is in state s since at. A camera that tries again after a failure stays
// in that failure's state until the attempt has ended.
func (p *presence) Set(s camera.State, at time.Time) {
	if s == camera.Connecting {
		return
	}
	connection := s.Connection()
	next := span{connection: connection, start: at}
	if p.resume != nil && p.now.connection == "" {
		r, ok, later := p.resume(s == camera.Online) // which is told with each picture
		if later {
			return
		}
		if p.resume = nil; ok {
			next.before, next.beforeStart = p.takeUp(r, connection, at)
		}
	}
	if connection == p.now.connection {
		return
	}
	if p.now.connection != "" {
		next.before, next.beforeStart = p.now.connection, p.now.start
	}
	if p.now.connection != "" {
		if next.start.Before(p.now.start) {
			next.start = p.now.start
		}
		// Two states that begin in one millisecond would be one event.
		if vms.At(next.start).Equal(vms.At(p.now.start).Time) {
			next.start = next.start.Add(time.Millisecond)
		}
		p.out.Put(p.author.Status(p.now, next.start))
	}
	p.now = next
	p.out.Put(p.author.Status(p.now, time.Time{}))
}

// takeUp goes on with the state that the bridge left when it stopped, if the camera is seen soon
// enough; if it still is in that state it is told again. Otherwise that state ended when it was
// last seen, and is what was before. One that begins in the future, as the machine's clock was
// ahead then, has no length and holds nothing up.
func (p *presence) takeUp(r Resumed, connection string, at time.Time) (before string, beforeStart time.Time) {
	was := span{connection: r.Connection, start: r.Start, before: r.Before, beforeStart: r.BeforeStart}
	switch {
	case r.Start.Sub(at) > time.Second:
		p.out.Put(p.author.Status(was, r.Start))
		return was.connection, at
	case at.Sub(r.Last) > resumeWithin:
		p.out.Put(p.author.Status(was, r.Last))
		return was.connection, was.start
	}
	if p.now = was; was.connection == connection {
		p.out.Put(p.author.Status(was, time.Time{}))
	}
	return "", time.Time{}
}

// Leave lets the present state go on: the bridge stops, and may be back in a moment.
func (p *presence) Leave(at time.Time) {
	p.Alive(at)
	p.now = span{}
}

// Alive notes that the present state still held at t, for the case of a power cut.
func (p *presence) Alive(t time.Time) {
	if p.now.connection != "" {
		p.out.Touch(p.author.Status(p.now, time.Time{}).ID, t)
	}
}

// Close ends the present state: the agent stops looking.
func (p *presence) Close(at time.Time) {
	if p.now.connection != "" {
		p.out.Put(p.author.Status(p.now, at))
		p.now = span{}
	}
}
