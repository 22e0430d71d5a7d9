package delivery

import (
	"slices"
	"sync"
	"time"

	"vmsbridge/uplink/vms"
)

// Feed is a cursor of the journal: it reads every event that is put, in order, at its own pace. Its
// methods are safe for concurrent use.
type Feed interface {
	// Read is up to n entries behind a place, in order; 0 is where Advance came to. None says that
	// there are no more.
	Read(after uint64, n int) ([]vms.Queued, error)
	// Advance notes durably that everything up to a place was dealt with.
	Advance(place uint64) error
	// Now is the clock of Queued.Since, which need not be the machine's.
	Now() time.Time
	// Changed has a value after something was put, and at first.
	Changed() <-chan struct{}
	// Trim gives up what was put before a time, and the oldest of what is more than most.
	Trim(most int, before time.Time) (skipped int, err error)
	// Lag is how far the cursor is behind, from a place on if all up to that is dealt with; 0 is
	// where Advance came to.
	Lag(after uint64) (vms.Lag, error)
}

const (
	// lazy is how long the passing of events that the sink does not want may stay unnoted, and
	// lazyMost how many: each note is a write to the device, and what is passed over costs nothing
	// to pass again.
	lazy, lazyMost = time.Minute, 256
	// scanPiece is how many entries of a feed are read in one go.
	scanPiece = 512
)

// cursor is a Store over a Feed. What is dealt with behind something that is not is known in memory
// only: it goes again after a restart.
type cursor struct {
	Feed
	wants  func(vms.Queued) bool
	lane   func(vms.Event) string
	untrue bool
	turn   chan struct{} // buffered 1: held by the one who notes

	mu      sync.Mutex // guards what follows
	waits   []uint64   // places that were read, are wanted and not dealt with, in order
	read    uint64     // what is wanted up to this place is in waits, or dealt with
	noted   uint64     // what Advance was told, and when
	notedAt time.Time
	over    int   // how many were passed over since then
	dirty   bool  // something was dealt with that is not noted
	failed  error // of Advance, until it does
}

// Scan reads on. It stops before an event whose time is not true yet, unless such are wanted.
func (c *cursor) Scan(after uint64, n int, visit func(place uint64, lane string)) error {
	for n > 0 {
		list, err := c.Read(c.from(after), min(n, scanPiece))
		if err != nil || len(list) == 0 {
			c.note()
			return err
		}
		for _, q := range list {
			if q.Untrue && !c.untrue {
				return nil
			}
			if after = q.Place; c.admit(q) {
				visit(q.Place, c.lane(q.Event))
				n--
			}
		}
	}
	return nil
}

// from is where to read on behind a place: behind all that is known, if nothing behind it waits.
func (c *cursor) from(after uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.waits); n == 0 || c.waits[n-1] <= after {
		return max(after, c.read)
	}
	return after
}

// admit says whether an entry is to be handed over.
func (c *cursor) admit(q vms.Queued) bool {
	wanted := c.wants(q)
	c.mu.Lock()
	defer c.mu.Unlock()
	if q.Place <= c.read {
		_, waits := slices.BinarySearch(c.waits, q.Place)
		return waits
	}
	if c.read = q.Place; !wanted {
		c.over++
		return false
	}
	c.waits = append(c.waits, q.Place)
	return true
}

// LastPlace is as far as it was read: what stands behind that is all newer.
func (c *cursor) LastPlace() (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read, nil
}

// Load reads entries again. What has gone meanwhile, or is not wanted any more, is dealt with.
func (c *cursor) Load(places []uint64) (found []vms.Queued, err error) {
	for rest := places; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n] == rest[0]+uint64(n) {
			n++
		}
		list, err := c.Read(rest[0]-1, n)
		if err != nil {
			return nil, err
		}
		for _, q := range list {
			if _, asked := slices.BinarySearch(rest[:n], q.Place); asked && c.wants(q) {
				q.Revision = q.Place
				found = append(found, q)
			}
		}
		rest = rest[n:]
	}
	for _, place := range places {
		if !slices.ContainsFunc(found, func(q vms.Queued) bool { return q.Place == place }) {
			c.done(place)
		}
	}
	return found, nil
}

// AckAll notes what the sink has. An error of the note is told by Follower.Status; what was handed
// over does not go again for it.
func (c *cursor) AckAll(list []vms.Queued) (renewed []uint64, err error) {
	for _, q := range list {
		c.done(q.Place)
	}
	c.note()
	return nil, nil
}

// Park leaves an event out; its revision is its place.
func (c *cursor) Park(_ string, revision uint64, _ string) error {
	c.done(revision)
	c.note()
	return nil
}

func (c *cursor) done(place uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i, waits := slices.BinarySearch(c.waits, place); waits {
		c.waits, c.dirty = slices.Delete(c.waits, i, i+1), true
	}
}

// passed is the place up to which everything is dealt with.
func (c *cursor) passed() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passedLocked()
}

func (c *cursor) passedLocked() uint64 {
	if len(c.waits) > 0 {
		return c.waits[0] - 1
	}
	return c.read
}

// due is passed, and whether that is to be noted now.
func (c *cursor) due() (place uint64, due bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	place = c.passedLocked()
	due = place > c.noted && (c.dirty || c.over >= lazyMost || time.Since(c.notedAt) >= lazy)
	c.dirty = c.dirty && !due
	return place, due
}

// note tells the feed what is dealt with, up to the first that is not.
func (c *cursor) note() {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	place, due := c.due()
	if !due {
		return
	}
	err := c.Advance(place)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed = err; err != nil {
		c.dirty = true
		return
	}
	c.noted, c.notedAt, c.over = place, time.Now(), 0
}

// trimmed forgets what was given up.
func (c *cursor) trimmed() error {
	list, err := c.Read(0, 1)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.waits)
	if len(list) > 0 {
		n, _ = slices.BinarySearch(c.waits, list[0].Place)
	}
	c.waits = slices.Delete(c.waits, 0, n)
	return nil
}
