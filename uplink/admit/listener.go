package admit

import (
	"container/list"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Options of New. Total and PerAddress are needed.
type Options struct {
	// Total is how many connections there are at a time, at most half of the files that the process
	// may open. A sixteenth of these, and of Strangers, is kept for this machine itself: its health
	// checks.
	Total int
	// PerAddress is how many of them may come from one address, or one /64 of IPv6. This machine
	// itself may have all.
	PerAddress int
	// Strangers is how many there may be that never showed a good credential; 0 means Total. Twice
	// as many requests of theirs may be under way at a time, as HTTP/2 has many in one connection;
	// over it, who has more than an equal share is cut off. Who finds all their places taken waits
	// for one, unserved; as many as an eighth of Total may.
	Strangers int
	// Bytes is what strangers may have sent together in requests that are not answered yet; 0 means
	// 2 MiB. Over it, who sends more than an equal share is cut off.
	Bytes int64
	// Exempt are addresses that bring connections of many clients: proxies.
	Exempt []netip.Prefix
	Log    *slog.Logger // nil: nothing is logged
}

const (
	defaultBytes = 2 << 20
	// smallRequest is never cut off for its size: a TLS handshake and the head of a request.
	smallRequest = 4 << 10
	// patience is how long a stranger has at least to show who it is before it makes room for
	// another. The one that has been there for longest goes first.
	patience = time.Second / 2
	// crowded is how long a stranger has whose address has few beside another that has many, and
	// one that was known before: a crowd that asks again at once does not push out who waits for an
	// answer.
	crowded = 10 * time.Second
	// few is how many times as many another address has then.
	few = 4
	// sending is how long a server has at most to send an answer that is made.
	sending  = 50 * time.Millisecond
	logEvery = time.Minute
)

// Listener lets connections in. Safe for concurrent use.
type Listener struct {
	net.Listener
	o   Options
	now func() time.Time
	own func(netip.Addr) bool // this machine itself

	begin, end sync.Once
	arrived    chan arrival  // from take
	freed      chan struct{} // somebody left or was answered
	closed     chan struct{}

	mu        sync.Mutex // guards what follows, and what conn says
	all       line
	addresses map[netip.Prefix]*line
	bytes     int64 // that strangers have sent
	requests  int   // of who is not known, under way
	turned    int   // connections refused or cut off since logged
	logged    time.Time
	memory    memory
}

// line is connections, of one address or of all.
type line struct {
	n    int
	rest [known]list.List // those that are not known, by when they became so
}

// New lets connections in that inner accepts.
func New(inner net.Listener, o Options) *Listener {
	if most := openFiles() / 2; most > 0 {
		o.Total = min(o.Total, most)
	}
	if o.Strangers <= 0 {
		o.Strangers = o.Total
	}
	if o.Bytes <= 0 {
		o.Bytes = defaultBytes
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Listener{Listener: inner, o: o, now: time.Now, own: netip.Addr.IsLoopback,
		addresses: map[netip.Prefix]*line{}, arrived: make(chan arrival), freed: make(chan struct{}, 1),
		closed: make(chan struct{})}
}

// Attach makes s tell how its connections are. s must serve l alone, and have no ConnState and
// ConnContext of its own.
func (l *Listener) Attach(s *http.Server) {
	s.ConnState = func(c net.Conn, state http.ConnState) {
		own := unwrap(c)
		if own == nil {
			return
		}
		switch state {
		case http.StateActive:
			l.become(own, stranger)
		case http.StateIdle:
			l.become(own, idle)
		case http.StateHijacked:
			l.become(own, known)
		}
	}
	prepare := withoutIdleTimer(s)
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		prepare()
		return context.WithValue(ctx, contextKey{}, unwrap(c))
	}
}

type contextKey struct{}

// Known says that a request showed a good credential, so that its connection is no stranger's until
// it is answered. ctx is the request's.
func Known(ctx context.Context) {
	if c, ok := ctx.Value(contextKey{}).(*conn); ok && c != nil {
		c.l.become(c, known)
	}
}

// Passed says that what a request sends is handed on as it comes, so that it counts for nothing
// here. ctx is the request's.
func Passed(ctx context.Context) {
	if c, ok := ctx.Value(contextKey{}).(*conn); ok && c != nil {
		c.l.mu.Lock()
		defer c.l.mu.Unlock()
		if c.state == stranger && !c.gone {
			c.l.bytes -= c.bytes
			c.bytes, c.passed = 0, true
		}
	}
}

func unwrap(c net.Conn) *conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	own, _ := c.(*conn)
	return own
}

// Accept waits for the next connection that there is room for. One call at a time.
func (l *Listener) Accept() (net.Conn, error) {
	l.begin.Do(func() { go l.take() })
	for {
		c, again := l.next()
		if c != nil {
			return c, nil
		}
		select {
		case a := <-l.arrived:
			if a.err != nil {
				return nil, a.err
			}
			if c := l.arrive(a.conn); c != nil {
				return c, nil
			}
		case <-l.freed:
		case <-again:
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
}

// arrival is what the listener below accepted.
type arrival struct {
	conn net.Conn
	err  error
}

// take accepts until Close.
func (l *Listener) take() {
	for {
		var a arrival
		a.conn, a.err = l.Listener.Accept()
		select {
		case l.arrived <- a:
		case <-l.closed:
			if a.conn != nil {
				_ = a.conn.Close()
			}
			return
		}
	}
}

// Close ends Accept, and the connections that wait for a place.
func (l *Listener) Close() error {
	l.end.Do(func() { close(l.closed) })
	err := l.Listener.Close()
	l.mu.Lock()
	var all []*conn
	for e := l.all.rest[waiting].Front(); e != nil; e = e.Next() {
		all = append(all, e.Value.(*conn))
	}
	l.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
	return err
}

// arrive is the new connection if there is a place for it at once.
func (l *Listener) arrive(inner net.Conn) *conn {
	c := &conn{Conn: inner, l: l}
	from, limited := l.origin(inner.RemoteAddr())
	ok, victims := l.enter(c, from, limited)
	l.cutOff(victims)
	if !ok {
		_ = inner.Close()
		return nil
	}
	if c.state == waiting { // only Accept changes that
		return nil
	}
	return c
}

// next is the connection that has waited for longest, if there is a place for it now, and else when
// to look again.
func (l *Listener) next() (c *conn, again <-chan time.Time) {
	l.mu.Lock()
	e := l.all.rest[waiting].Front()
	if e == nil {
		l.mu.Unlock()
		return nil, nil
	}
	c = e.Value.(*conn)
	ok, victims := l.placeLocked(c.from)
	if ok {
		l.becomeLocked(c, stranger)
	} else {
		again = time.After(sending)
	}
	l.mu.Unlock()
	l.cutOff(victims)
	if !ok {
		c = nil
	}
	return c, again
}

func (l *Listener) cutOff(victims []*conn) {
	for _, v := range victims {
		_ = v.Conn.Close() // its server notices
	}
	l.memory.watch(l)
}

// origin is whose connection it is as far as limits go, and whether they hold for it.
func (l *Listener) origin(a net.Addr) (from netip.Prefix, limited bool) {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{}, false // no network address
	}
	addr, bits := at.Addr().Unmap().WithZone(""), 32
	if addr.Is6() {
		bits = 64
	}
	from, _ = addr.Prefix(bits) // fits
	exempt := slices.ContainsFunc(l.o.Exempt, func(p netip.Prefix) bool { return p.Contains(addr) })
	return from, !exempt && !l.own(addr)
}

// enter takes c in, if need be to wait for a place, or says no. victims make room for it, and are
// to be closed.
func (l *Listener) enter(c *conn, from netip.Prefix, limited bool) (ok bool, victims []*conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	theirs := l.addresses[from]
	if theirs == nil {
		theirs = &line{}
	}
	total, queue := l.o.Total, l.all.rest[waiting].Len()
	if !l.own(from.Addr()) {
		total -= total / 16
	}
	ok = (!limited || l.makeRoomLocked(theirs, theirs.n-l.o.PerAddress+1, &victims, answered, idle, stranger)) &&
		l.makeRoomLocked(&l.all, l.all.n-total+1, &victims, answered, idle, stranger)
	at := stranger
	if ok && queue > 0 && !l.own(from.Addr()) {
		at = waiting // behind the others
	} else if ok {
		place, more := l.placeLocked(from)
		if victims = append(victims, more...); !place {
			at = waiting
		}
	}
	ok = ok && (at == stranger || queue < l.o.Total/8)
	if turned := len(victims); turned > 0 || !ok {
		if !ok {
			turned++
		}
		l.turnedLocked(turned, from)
	}
	if !ok {
		return false, victims
	}
	l.addresses[from], c.from, c.theirs, c.state, c.since = theirs, from, theirs, known, l.now()
	l.all.n++
	theirs.n++
	l.becomeLocked(c, at)
	return true, victims
}

// placeLocked makes room for a stranger from an address.
func (l *Listener) placeLocked(from netip.Prefix) (ok bool, victims []*conn) {
	most := l.o.Strangers
	if !l.own(from.Addr()) {
		most -= most / 16
	}
	ok = l.makeRoomLocked(&l.all, l.strangersLocked()-most+1, &victims, answered, stranger)
	return ok, victims
}

// makeRoomLocked has n connections leave, of those in the first of the states that has any.
func (l *Listener) makeRoomLocked(in *line, n int, victims *[]*conn, of ...state) bool {
	for ; n > 0; n-- {
		v := in.oldest(l.now(), of...)
		if v == nil {
			return false
		}
		l.leaveLocked(v)
		*victims = append(*victims, v)
	}
	return true
}

// strangersLocked is how many connections never showed a good credential, but for those that show
// one now.
func (l *Listener) strangersLocked() int {
	return l.all.rest[answered].Len() + l.all.rest[stranger].Len()
}

// turnedLocked counts connections that found no room, and logs them now and then.
func (l *Listener) turnedLocked(n int, from netip.Prefix) {
	l.turned += n
	if now := l.now(); now.Sub(l.logged) >= logEvery {
		l.logged = now
		l.o.Log.Warn("connections were refused or cut off: there are more than this serves at a time; "+
			"if they should not be, let a firewall keep out where they come from", "connections", l.turned,
			"last_from", from.Addr().String())
		l.turned = 0
	}
}

// oldest is the connection that has been in the first of the states for longest which has one that
// may go. Of strangers, those go first that never were known, and those whose address has most: a
// crowd does not push out who came by itself.
func (x *line) oldest(now time.Time, of ...state) (found *conn) {
	for _, s := range of {
		if s == stranger {
			found = x.oldestStranger(now)
		} else if e := x.rest[s].Front(); e != nil && !e.Value.(*conn).stays().After(now) {
			found = e.Value.(*conn)
		}
		if found != nil {
			return found
		}
	}
	return nil
}

func (x *line) oldestStranger(now time.Time) (found *conn) {
	crowd, fresh := 0, false // the largest, and whether one never was known
	for e := x.rest[stranger].Front(); e != nil; e = e.Next() {
		c := e.Value.(*conn)
		crowd, fresh = max(crowd, c.theirs.rest[stranger].Len()), fresh || !c.shown
		if !c.stays().After(now) && (found == nil || c.before(found)) {
			found = c
		}
	}
	if found != nil && found.since.Add(crowded).After(now) &&
		(found.shown && fresh || found.theirs.rest[stranger].Len()*few <= crowd) {
		return nil // one of the crowd has had its time in a moment
	}
	return found
}

// before says whether a stranger makes room before one that has been there for longer.
func (c *conn) before(other *conn) bool {
	if c.shown != other.shown {
		return other.shown
	}
	return c.theirs.rest[stranger].Len() > other.theirs.rest[stranger].Len()
}

// stays is until when a connection that is not known makes no room.
func (c *conn) stays() time.Time {
	switch {
	case c.state == stranger:
		return c.since.Add(patience)
	case c.ending:
		return c.since.Add(sending)
	}
	return time.Time{}
}
