package web

import (
	"net/netip"
	"sync"
	"time"

	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
)

// Limit is how many requests are let through: Burst at once, then one Every. The zero value lets
// all through.
type Limit struct {
	Burst int
	Every time.Duration
}

// Limits of the endpoints with which something could be guessed. What was right was no guess: a
// request that showed a good password, code or token gives back what it took from the first two, so
// that a company that signs in every morning, or a program that does so for each thing that it
// does, is not taken for a guesser.
type Limits struct {
	PerAddress Limit // of the client; IPv6 addresses of one /64 are one
	// Free is what an address has of its own about one user, known or not. Who signs in at a fresh
	// address gets in whatever others do. The zero value gives none.
	Free Limit
	// PerUser is what all addresses that used up theirs have together about one user.
	PerUser Limit
	// PerDevice is what a device has about a user who signed in there before, in place of the three
	// above: nobody else can use it up.
	PerDevice Limit
	// Work is of the client, all requests, right or wrong: checking a password costs
	// something, and so does a token.
	Work Limit
}

// DefaultLimits let a person mistype and a Mailer sign in. Of one user's password a guesser can try
// ten thousand a week, three more from each fresh address, and one more a day from each: with a
// thousand addresses twenty thousand.
var DefaultLimits = Limits{PerAddress: Limit{120, 2 * time.Second}, Free: Limit{3, 24 * time.Hour},
	PerUser:   Limit{20, time.Minute},
	PerDevice: Limit{20, time.Minute}, Work: Limit{600, 500 * time.Millisecond}}

const retryAfterSeconds = 60

// maxBuckets bounds the memory of a limiter.
const maxBuckets = 20000

// limiter lets so many requests of each key through. Safe for concurrent use.
type limiter struct {
	limit    Limit
	capacity int
	now      func() time.Time

	mu      sync.Mutex // guards buckets
	buckets map[string]bucket
}

// bucket is how many requests were left at a time.
type bucket struct {
	left float64
	at   time.Time
}

func newLimiter(l Limit, now func() time.Time) *limiter {
	return &limiter{limit: l, capacity: maxBuckets, now: now, buckets: map[string]bucket{}}
}

func (l *limiter) allow(key string) bool {
	if l.limit == (Limit{}) {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if _, ok := l.buckets[key]; !ok && len(l.buckets) >= l.capacity {
		l.makeRoomLocked(now)
	}
	left := l.leftLocked(key, now)
	ok := left >= 1
	if ok {
		left--
	}
	l.buckets[key] = bucket{left, now}
	return ok
}

// giveBack undoes an allow.
func (l *limiter) giveBack(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.buckets[key]; ok {
		now := l.now()
		l.buckets[key] = bucket{min(float64(l.limit.Burst), l.leftLocked(key, now)+1), now}
	}
}

// leftLocked is how many requests of a key would be let through now. A clock that is set back takes
// nothing away.
func (l *limiter) leftLocked(key string, now time.Time) float64 {
	b, ok := l.buckets[key]
	if !ok {
		return float64(l.limit.Burst)
	}
	return min(float64(l.limit.Burst), b.left+max(0, float64(now.Sub(b.at)))/float64(max(1, l.limit.Every)))
}

// makeRoomLocked forgets keys that have rested long enough to be as good as new, and if there are
// none, some others.
func (l *limiter) makeRoomLocked(now time.Time) {
	for key := range l.buckets {
		if l.leftLocked(key, now) >= float64(l.limit.Burst) {
			delete(l.buckets, key)
		}
	}
	for key := range l.buckets {
		if len(l.buckets) < l.capacity*9/10 {
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

// limitedUser is whom a request could be guessing about: the address that it names, or who is
// signed in.
func (c *call) limitedUser() string {
	for _, name := range []string{"username", "email"} {
		if v, err := c.set.Text(name); err == nil && v != "" {
			return model.Fold(v)
		}
	}
	if key, from := c.set.Session(); c.endpoint.session && from != api.FromNowhere && key != "" {
		return c.caller.User.ID
	}
	return ""
}
