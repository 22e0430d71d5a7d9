package web

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"vmsbridge/uplink/identity/argument"
	"vmsbridge/uplink/identity/record"
)

// Limit is how many requests are let through: Burst at once, then one Every.
type Limit struct {
	Burst int
	Every time.Duration
}

// Limits of the endpoints with which something could be guessed.
type Limits struct {
	PerAddress Limit // of the client; IPv6 addresses of one /64 are one
	PerUser    Limit // whom the request names, known or not, or who is signed in
}

// DefaultLimits let a person mistype and an office sign in, and a guesser try ten thousand passwords a week.
var DefaultLimits = Limits{PerAddress: Limit{60, 2 * time.Second}, PerUser: Limit{10, time.Minute}}

const retryAfterSeconds = 60

// maxBuckets bounds the memory of a limiter.
const maxBuckets = 20000

// limiter lets so many requests of each key through. Safe for concurrent use.
type limiter struct {
	limit Limit
	room  int
	now   func() time.Time

	mu      sync.Mutex // guards buckets
	buckets map[string]*rate.Limiter
}

func newLimiter(l Limit, now func() time.Time) *limiter {
	return &limiter{limit: l, room: maxBuckets, now: now, buckets: map[string]*rate.Limiter{}}
}

func (l *limiter) allow(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.buckets[key]
	if b == nil {
		if len(l.buckets) >= l.room {
			l.makeRoomLocked(now)
		}
		b = rate.NewLimiter(rate.Every(l.limit.Every), l.limit.Burst)
		l.buckets[key] = b
	}
	return b.AllowN(now, 1)
}

// makeRoomLocked forgets keys that have rested long enough to be as good as new, and if there are none, some others.
func (l *limiter) makeRoomLocked(now time.Time) {
	for key, b := range l.buckets {
		if b.TokensAt(now) >= float64(l.limit.Burst) {
			delete(l.buckets, key)
		}
	}
	for key := range l.buckets {
		if len(l.buckets) < l.room*9/10 {
			return
		}
		delete(l.buckets, key)
	}
}

// addressKey is the client as far as limits go.
func addressKey(a netip.Addr) string {
	a = a.Unmap()
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// limitedUser is whom a request could be guessing about: the address that it names, or who is signed in.
func (c *call) limitedUser() string {
	for _, name := range []string{"username", "email"} {
		if v, err := c.set.Text(name); err == nil && v != "" {
			return record.Fold(v)
		}
	}
	if key, from := c.set.Session(); c.endpoint.session && from != argument.FromNowhere && key != "" {
		return c.caller.User.ID
	}
	return ""
}
