package pipeline

import (
	"time"

	"vmsbridge/agent/camera"
	"vmsbridge/uplink/vms"
)

// span is a time during which a camera's connection was in one state.
type span struct {
	connection  string // a connectionStatus of the interface
	start       time.Time
	before      string // the state before it, "" if this is the first
	beforeStart time.Time
}

// presence turns a camera's states into status events: one span for as long as the camera stays in a state, each ended
// before the next one begins. Connecting, while nothing is known yet, is no state of the interface. One goroutine.
type presence struct {
	author *author
	out    Outlet
	now    span
}

// Set notes that the camera is in state s since at. A camera that tries again after a failure stays in that failure's
// state until the attempt has ended.
func (p *presence) Set(s camera.State, at time.Time) {
	if s == camera.Connecting {
		return
	}
	connection := s.Connection()
	if connection == p.now.connection {
		return
	}
	next := span{connection: connection, start: at, before: p.now.connection, beforeStart: p.now.start}
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
