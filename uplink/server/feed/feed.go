// Package feed hands events that were stored just now to those who follow them, each at its own pace. The service's store publishes,
// each open stream of server-sent events (uplink/server) follows:
//
//	f := feed.New()
//	w := f.Follow()
//	for {
//		told, err := w.Next(ctx)
//		…
//	}
//
// The newest events are kept for all followers together, so that one who is slow costs nothing, and one whose connection broke goes on
// behind the last event that it has.
package feed

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"

	"vmsbridge/uplink/vms"
)

// room is how many of the newest events are kept: some seconds of a bridge that empties its outbox, and some megabytes.
const room = 4096

// packed is of how many of the newest events the JSON is kept: followers who keep up share it, and it costs some hundred kilobytes.
const packed = 256

// atOnce is how many events Next gives at most.
const atOnce = 64

// Errors of Next.
var (
	// ErrBehind says that the follower is so far behind that events are lost to it. It goes on with the oldest that are kept.
	ErrBehind = errors.New("too far behind: some events are no longer kept")
	// ErrClosed says that there will be no more.
	ErrClosed = errors.New("the feed is closed")
)

// Feed is safe for concurrent use.
type Feed struct {
	name string // tells its ids from those of an earlier run
	room uint64

	mu     sync.Mutex // guards what follows
	kept   []*Told
	end    uint64        // the place of the next event; that of place p is at p%room
	news   chan struct{} // closed when there is something new; nil: nobody waits
	closed bool
}

// New makes a feed that holds nothing.
func New() *Feed { return sized(room) }

func sized(room uint64) *Feed { return &Feed{name: rand.Text()[:10], room: room} }

// Publish hands an event on. It waits for nobody.
func (f *Feed) Publish(ev vms.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	told := &Told{ID: f.name + "-" + strconv.FormatUint(f.end, 10), Event: ev}
	if uint64(len(f.kept)) < f.room {
		f.kept = append(f.kept, told)
	} else {
		f.kept[f.end%f.room] = told
	}
	if f.end >= packed && packed < f.room {
		f.kept[(f.end-packed)%f.room].drop()
	}
	f.end++
	f.wakeLocked()
}

func (f *Feed) wakeLocked() {
	if f.news != nil {
		close(f.news)
		f.news = nil
	}
}

// Close ends all following, so that streams do not hold up the end of the program.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.wakeLocked()
}

// Told is an event and its ID in the feed, which is another one each time that the event is published. Followers share it and do not
// change it.
type Told struct {
	ID    string
	Event vms.Event

	mu   sync.Mutex // held while the JSON is made, so that one follower makes it for all
	raw  []byte
	past bool // it is not kept any more
}

// drop lets go of the JSON.
func (t *Told) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.raw, t.past = nil, true
}

// JSON is the event in JSON, which nobody changes. It is made when it is first asked for.
func (t *Told) JSON() ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.raw != nil {
		return t.raw, nil
	}
	raw, err := json.Marshal(t.Event)
	if err == nil && !t.past {
		t.raw = raw
	}
	return raw, err
}

// Follower reads a feed. It is for one goroutine.
type Follower struct {
	feed *Feed
	at   uint64
}

// Follow gives the events from now on.
func (f *Feed) Follow() *Follower {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Follower{f, f.end}
}

// FollowAfter gives the events behind the one of an ID. An ID that is none of this feed's, as of an earlier run of the program, is like
// none: then it is Follow.
func (f *Feed) FollowAfter(id string) *Follower {
	w := f.Follow()
	name, place, _ := strings.Cut(id, "-")
	if n, err := strconv.ParseUint(place, 10, 64); err == nil && name == f.name && n < w.at {
		w.at = n + 1
	}
	return w
}

// Next gives what was published since the last call, or waits for it. Errors are ErrBehind, ErrClosed and ctx's.
func (w *Follower) Next(ctx context.Context) ([]*Told, error) {
	for {
		told, news, err := w.read()
		if len(told) > 0 || err != nil {
			return told, err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Ahead is how many more events wait than Next gives at once.
func (w *Follower) Ahead() uint64 {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	return max(w.feed.end-w.at, atOnce) - atOnce
}

func (w *Follower) read() (told []*Told, news <-chan struct{}, err error) {
	f := w.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if oldest := f.end - uint64(len(f.kept)); w.at < oldest {
		w.at = oldest
		return nil, nil, ErrBehind
	}
	for ; w.at < f.end && len(told) < atOnce; w.at++ {
		told = append(told, f.kept[w.at%f.room])
	}
	if len(told) == 0 && f.closed {
		return nil, nil, ErrClosed
	}
	if f.news == nil {
		f.news = make(chan struct{})
	}
	return told, f.news, nil
}
