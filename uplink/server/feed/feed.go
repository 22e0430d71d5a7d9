// Package feed hands events that were stored just now to those who follow them, each at its own
// pace. The service's store publishes, each open stream of server-sent events (uplink/server)
// follows:
//
//	f := feed.New()
//	w := f.Follow()
//	for {
//		told, err := w.Next(ctx)
//		…
//	}
//
// The newest events are kept for all followers together, so that one who is slow costs nothing, and
// one whose connection broke goes on behind the last event that it has.
package feed

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"vmsbridge/uplink/vms"
)

// room is how many of the newest events are kept: some seconds of a bridge that empties its outbox,
// and some megabytes.
const room = 4096

// mostPacked is how many bytes of messages are kept: followers who keep up share them.
const mostPacked = 4 << 20

// atOnce is how many events Next gives at most.
const atOnce = 64

// Errors of Next.
var (
	// ErrBehind says that the follower is so far behind that events are lost to it. It goes on with
	// the oldest that are kept.
	ErrBehind = errors.New("too far behind: some events are no longer kept")
	// ErrClosed says that there will be no more.
	ErrClosed = errors.New("the feed is closed")
)

// Feed is safe for concurrent use.
type Feed struct {
	name string // begins its ids, and tells them from those of others
	room uint64

	mu     sync.Mutex // guards what follows
	kept   []*Told
	end    uint64        // how many were published; number n, from 0 on, is at n%room
	gone   uint64        // the place of the last event that is no longer kept, or that was before this run
	news   chan struct{} // closed when there is something new; nil: nobody waits
	closed bool

	packedMu    sync.Mutex // guards those below; held for nothing else
	packed      []*Told    // those with a message, the oldest first
	packedBytes int
}

// New makes a feed that holds nothing. Its ids are of this run only.
func New() *Feed { return sized(room) }

func sized(room uint64) *Feed { return &Feed{name: rand.Text()[:10], room: room} }

// Room is how many events a feed keeps for those who come back.
const Room = room

// Lasting makes a feed whose ids are good over a restart: name is the same in each run, and events
// are published at the places that their store has them at. What came up to the place gone is no
// longer told.
func Lasting(name string, gone uint64) *Feed { return &Feed{name: name, room: room, gone: gone} }

// Publish hands an event on, at the place behind the last one. It waits for nobody.
func (f *Feed) Publish(ev vms.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.publishLocked(f.lastLocked()+1, ev)
}

// PublishAt is Publish at a place, which is higher than those before.
func (f *Feed) PublishAt(place uint64, ev vms.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.publishLocked(place, ev)
}

// lastLocked is the place of the newest event.
func (f *Feed) lastLocked() uint64 {
	if f.end == 0 {
		return f.gone
	}
	return f.kept[(f.end-1)%f.room].place
}

func (f *Feed) publishLocked(place uint64, ev vms.Event) {
	if f.closed {
		return
	}
	told := &Told{ID: f.id(place), Event: ev, feed: f, place: place}
	if uint64(len(f.kept)) < f.room {
		f.kept = append(f.kept, told)
	} else {
		f.gone = f.kept[f.end%f.room].place
		f.kept[f.end%f.room] = told
	}
	f.end++
	f.wakeLocked()
}

func (f *Feed) id(place uint64) string { return f.name + "-" + strconv.FormatUint(place, 10) }

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

// Told is an event and its ID in the feed, which is another one each time that the event is
// published. Followers share it and do not change it.
type Told struct {
	ID    string
	Event vms.Event

	feed    *Feed
	place   uint64
	mu      sync.Mutex // held while the message is made, so that one follower makes it for all
	base    string     // where the images in the message are
	message []byte
	past    bool // it is not kept any more
}

// drop lets go of the message.
func (t *Told) drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.message, t.past = nil, true
}

// Message is the event as a message of server-sent events, with the addresses of its images at a
// base address. Nobody changes it. It is made when it is first asked for, and kept for all who ask
// at the same address.
func (t *Told) Message(base string) ([]byte, error) {
	message, made, err := t.make(base)
	if made {
		t.feed.pack(t, len(message))
	}
	return message, err
}

// make also says whether the message was made just now, and is kept.
func (t *Told) make(base string) (message []byte, made bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.message != nil && t.base == base {
		return t.message, false, nil
	}
	if message, err = Message(t.ID, t.Event.WithOverlayImage().WithImagesAt(base)); err != nil || t.past ||
		t.message != nil {
		return message, false, err
	}
	t.message, t.base = message, base
	return message, true, nil
}

// pack notes that a message is kept, and lets go of the oldest if they are too many.
func (f *Feed) pack(t *Told, n int) {
	f.packedMu.Lock()
	f.packed, f.packedBytes = append(f.packed, t), f.packedBytes+n
	var over []*Told
	for f.packedBytes > mostPacked && len(f.packed) > 1 {
		oldest := f.packed[0]
		f.packed[0], f.packed = nil, f.packed[1:]
		f.packedBytes -= oldest.size()
		over = append(over, oldest)
	}
	f.packedMu.Unlock()
	for _, o := range over {
		o.drop()
	}
}

// size is how long the message is. It does not change as long as the message is kept.
func (t *Told) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.message)
}

// Message is an event as a message of server-sent events: its id, its type, and the event in JSON.
func Message(id string, ev vms.Event) ([]byte, error) {
	raw, err := json.Marshal(ev)
	if err != nil {
		return nil, err
	}
	text := make([]byte, 0, len(raw)+len(id)+len(ev.Type)+len("id: \nevent: \ndata: \n\n"))
	text = append(append(append(text, "id: "...), id...), "\nevent: "...)
	return append(append(append(append(text, ev.Type...), "\ndata: "...), raw...), "\n\n"...), nil
}

// Unnamed is a message without the type of its event.
func Unnamed(message []byte) []byte {
	id, rest, _ := bytes.Cut(message, []byte("\nevent: "))
	_, data, _ := bytes.Cut(rest, []byte("\n"))
	return slices.Concat(id, []byte("\n"), data)
}

// Follower reads a feed. It is for one goroutine.
type Follower struct {
	// From is the ID with which FollowAfter begins at the same place once more, if it began anew
	// and not behind an ID; else "".
	From string

	feed   *Feed
	at     uint64 // the number of the next event
	behind bool   // events are lost to it, and it is still to be told so
}

// Follow gives the events from now on.
func (f *Feed) Follow() *Follower {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Follower{From: f.id(f.lastLocked()), feed: f, at: f.end}
}

// FollowAfter gives the events behind the one of an ID. An ID that is none of this feed's, as of an
// earlier run of the program if the feed is not Lasting, is like none: then it is Follow.
func (f *Feed) FollowAfter(id string) *Follower {
	name, text, _ := strings.Cut(id, "-")
	place, err := strconv.ParseUint(text, 10, 64)
	if err != nil || name != f.name {
		return f.Follow()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	oldest := f.end - uint64(len(f.kept))
	n := sort.Search(len(f.kept), func(i int) bool { return f.kept[(oldest+uint64(i))%f.room].place > place })
	return &Follower{feed: f, at: oldest + uint64(n), behind: place < f.gone}
}

// Next gives what was published since the last call, or waits for it. Errors are ErrBehind,
// ErrClosed and ctx's.
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
	if oldest := f.end - uint64(len(f.kept)); w.behind || w.at < oldest {
		w.at, w.behind = max(w.at, oldest), false
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
