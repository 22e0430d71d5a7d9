package admit

import (
	"container/list"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

// state is what a connection is at the moment.
type state int

const (
	waiting  state = iota // for a place
	idle                  // without a request, after one that showed a good credential
	answered              // without a request, after none that did
	stranger              // with a request, or without its first, that shows nobody yet
	known                 // with a request that showed a good credential
)

// conn is one connection that was let in. What it says of itself is guarded by its listener's
// mutex, but for free.
type conn struct {
	net.Conn
	l    *Listener
	free atomic.Bool // known: what it sends counts no more

	from     netip.Prefix
	theirs   *line // of its address
	state    state
	since    time.Time
	bytes    int64
	requests int              // under way
	passed   bool             // what it sends is held by nobody here
	shown    bool             // was known once
	ending   bool             // answered: its server may still be sending the answer
	places   [2]*list.Element // in theirs, and in all
	gone     bool
}

var errNoRoom = errors.New("the connection was cut off to make room")

// Read counts what strangers send.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.free.Load() && !c.l.sent(c, int64(n)) {
		_ = c.Conn.Close()
		c.l.memory.watch(c.l)
		return 0, errNoRoom
	}
	return n, err
}

// Close gives its place free.
func (c *conn) Close() error {
	c.l.mu.Lock()
	c.l.leaveLocked(c)
	c.l.mu.Unlock()
	err := c.Conn.Close()
	c.l.memory.watch(c.l)
	return err
}

// sent counts n bytes of a stranger, and says whether it may go on.
func (l *Listener) sent(c *conn, n int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.gone || c.state == known || c.passed {
		return !c.gone
	}
	c.bytes += n
	l.bytes += n
	share := max(smallRequest, l.o.Bytes/int64(max(1, l.all.rest[stranger].Len())))
	if l.bytes <= l.o.Bytes || c.bytes <= share {
		return true
	}
	l.turnedLocked(1, c.from)
	l.leaveLocked(c)
	return false
}

// requestsPer is how many requests a stranger has under way where strangers have all that they may.
const requestsPer = 2

// begins counts a request, and says whether it may go on.
func (l *Listener) begins(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.gone {
		return false
	}
	c.requests++
	if c.state == known {
		return true
	}
	l.becomeLocked(c, stranger) // over HTTP/2 the server may not have told that the last one ended
	l.requests++
	if l.requests <= requestsPer*l.o.Strangers ||
		c.requests <= requestsPer*l.o.Strangers/max(1, l.all.rest[stranger].Len()) {
		return true
	}
	l.turnedLocked(1, c.from)
	l.leaveLocked(c)
	return false
}

// ended is for a request that begins let go on. A stranger without others has had its answer, and
// makes room soon: a server that did not read all of a request keeps its connection for a while.
func (l *Listener) ended(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.requests--; c.gone || c.state == known {
		return
	}
	if l.requests--; c.requests == 0 {
		l.becomeLocked(c, idle)
		c.ending = true
	}
}

func (l *Listener) become(c *conn, s state) {
	l.mu.Lock()
	l.becomeLocked(c, s)
	l.mu.Unlock()
	l.memory.watch(l) // a crowd may turn out to be of those who are known
}

// becomeLocked moves c to the end of those in a state. What it sent up to then holds no memory any
// more, or is nobody's concern.
func (l *Listener) becomeLocked(c *conn, s state) {
	if s == idle && !c.shown {
		s = answered
	}
	c.ending = false
	if c.gone || c.state == s {
		return
	}
	l.standAsideLocked(c)
	if s != stranger {
		l.bytes -= c.bytes
		c.bytes = 0
	}
	switch { // over HTTP/2 requests outlast the one that showed who it is
	case s == known:
		c.shown = true
		l.requests -= c.requests
	case c.state == known:
		l.requests += c.requests
	}
	if c.state == stranger {
		l.freedLocked()
	}
	c.state, c.since, c.passed = s, l.now(), false
	c.free.Store(s == known)
	if s != known {
		c.places = [2]*list.Element{c.theirs.rest[s].PushBack(c), l.all.rest[s].PushBack(c)}
	}
}

// standAsideLocked takes c out of its lists.
func (l *Listener) standAsideLocked(c *conn) {
	if c.places[0] != nil {
		c.theirs.rest[c.state].Remove(c.places[0])
		l.all.rest[c.state].Remove(c.places[1])
		c.places = [2]*list.Element{}
	}
}

// freedLocked has Accept look whether somebody who waits has a place now.
func (l *Listener) freedLocked() {
	if l.all.rest[waiting].Len() == 0 {
		return
	}
	select {
	case l.freed <- struct{}{}:
	default:
	}
}

// leaveLocked forgets c.
func (l *Listener) leaveLocked(c *conn) {
	if c.gone || c.theirs == nil {
		return
	}
	l.standAsideLocked(c)
	c.gone = true
	l.freedLocked()
	if c.state != known {
		l.requests -= c.requests
	}
	l.bytes -= c.bytes
	l.all.n--
	if c.theirs.n--; c.theirs.n == 0 {
		delete(l.addresses, c.from)
	}
}
