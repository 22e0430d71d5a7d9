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
	// over it, who has more than an equal share is cut off.
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
	logEvery = time.Minute
)

// Listener lets connections in. Safe for concurrent use.
type Listener struct {
	net.Listener
	o   Options
	now func() time.Time
	own func(netip.Addr) bool // this machine itself

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
		addresses: map[netip.Prefix]*line{}}
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

// Accept waits for the next connection that there is room for.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: inner, l: l}
		from, limited := l.origin(inner.RemoteAddr())
		ok, victims := l.enter(c, from, limited)
		for _, v := range victims {
			_ = v.Conn.Close() // its server notices
		}
		l.memory.watch(l)
		if ok {
			return c, nil
		}
		_ = inner.Close()
	}
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

// enter takes c in, or says no. victims make room for it, and are to be closed.
func (l *Listener) enter(c *conn, from netip.Prefix, limited bool) (ok bool, victims []*conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	theirs := l.addresses[from]
	if theirs == nil {
		theirs = &line{}
	}
	total, strangers := l.o.Total, l.o.Strangers
	if !l.own(from.Addr()) {
		total -= total / 16
		strangers -= strangers / 16
	}
	makeRoom := func(in *line, full func() bool, of ...state) bool {
		for full() {
			v := in.oldest(l.now().Add(-patience), of...)
			if v == nil {
				return false
			}
			l.leaveLocked(v)
			victims = append(victims, v)
		}
		return true
	}
	ok = (!limited || makeRoom(theirs, func() bool { return theirs.n >= l.o.PerAddress }, answered, idle, stranger)) &&
		makeRoom(&l.all, func() bool { return l.all.n >= total }, answered, idle, stranger) &&
		makeRoom(&l.all, func() bool { return l.strangersLocked() >= strangers }, answered, stranger)
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
	l.becomeLocked(c, stranger)
	return true, victims
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

// oldest is the connection that has been in the first of the states for longest which has one. One
// of a stranger counts if it has been so since before.
func (x *line) oldest(before time.Time, of ...state) *conn {
	for _, s := range of {
		if e := x.rest[s].Front(); e != nil {
			if c := e.Value.(*conn); s != stranger || c.since.Before(before) {
				return c
			}
		}
	}
	return nil
}
