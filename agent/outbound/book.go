package outbound

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// A service may lose its events, or go back to a copy of earlier, after the bridge has dropped from
// its outbox what it had reported. So each registration brings a mark of how far the journal is
// reported, which the service keeps in the same file as the events; when it has one that is older
// than what it has said before, what came after that is reported again.

// keyBook is where the bridge keeps what it knows of the service's book.
const keyBook = "service-book"

const (
	// againAtOnce is how many events enter the outbox again at a time, and only when fewer wait:
	// what is new does not wait behind more.
	againAtOnce = 512
	againEvery  = 200 * time.Millisecond
)

// book is what the bridge knows of the service's book. It is kept in the journal.
type book struct {
	outbox *journal.Journal
	// buffered 1: held by the one registration that is under way, and by whoever changes what is
	// known
	turn chan struct{}

	mu     sync.Mutex // guards what follows
	loaded bool
	known  known
}

func newBook(outbox *journal.Journal) *book {
	return &book{outbox: outbox, turn: make(chan struct{}, 1)}
}

// take waits for the turn.
func (b *book) take(ctx context.Context) error {
	select {
	case b.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *book) leave() { <-b.turn }

// known is the part that is kept.
type known struct {
	Journal string `json:"journal"`           // the journal's name
	Service string `json:"service,omitempty"` // the service's; "": it has never told one
	Sure    uint64 `json:"sure,omitempty"`    // the service keeps a mark of this place
	// From and Upto are the places of the events to report again; Upto 0: none.
	From uint64 `json:"from,omitempty"`
	Upto uint64 `json:"upto,omitempty"`
}

// mark is how far the journal is reported now.
func (b *book) mark() (*vms.Mark, error) {
	if err := b.load(); err != nil {
		return nil, err
	}
	low, err := b.outbox.Low()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known.Upto > 0 {
		low = min(low, b.known.From)
	}
	return &vms.Mark{Journal: b.known.Journal, Sure: b.known.Sure, Low: low}, nil
}

// load reads the kept state, and names a journal that has no name.
func (b *book) load() error {
	b.mu.Lock()
	loaded := b.loaded
	b.mu.Unlock()
	if loaded {
		return nil
	}
	raw, err := b.outbox.Meta(keyBook)
	if err != nil {
		return err
	}
	var k known
	if json.Unmarshal(raw, &k) != nil || k.Journal == "" {
		k = known{Journal: rand.Text()}
		if err := b.keep(k); err != nil {
			return err
		}
	}
	b.mu.Lock()
	b.known, b.loaded = k, true
	b.mu.Unlock()
	return nil
}

func (b *book) keep(k known) error {
	raw, err := json.Marshal(k)
	if err == nil {
		err = b.outbox.SetMeta(keyBook, raw)
	}
	if err != nil {
		return fmt.Errorf("keep how far the service has the journal: %w", err)
	}
	return nil
}

// compare takes in what the service says of its book, in its caller's turn, and says whether it has
// lost events. One of which the bridge knows nothing has lost none: it is another service, or of an
// older make.
func (b *book) compare(said vms.Book) (lost bool, err error) {
	b.mu.Lock()
	k := b.known
	b.mu.Unlock()
	was := k
	switch {
	case k.Service != said.Service:
		k.Service, k.Sure, k.From, k.Upto = said.Service, said.Low, 0, 0
	case said.Low < k.Sure:
		last, err := b.outbox.LastPlace()
		if err != nil {
			return false, err
		}
		if k.From = said.Low; was.Upto > 0 {
			k.From = min(k.From, was.From)
		}
		k.Sure, k.Upto, lost = said.Low, last+1, true
	default:
		k.Sure = said.Low
	}
	if k == was {
		return false, nil
	}
	if err := b.keep(k); err != nil {
		return false, err
	}
	b.mu.Lock()
	b.known = k
	b.mu.Unlock()
	return lost, nil
}

// wanted returns the range to report again; ok is false for none.
func (b *book) wanted() (w journal.Again, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return journal.Again{From: b.known.From, Upto: b.known.Upto}, b.known.Upto > 0
}

// done notes that all of w has entered the outbox again. More may have been lost meanwhile.
func (b *book) done(ctx context.Context, w journal.Again) error {
	if err := b.take(ctx); err != nil {
		return err
	}
	defer b.leave()
	b.mu.Lock()
	k := b.known
	b.mu.Unlock()
	if k.From != w.From || k.Upto != w.Upto {
		return nil
	}
	k.From, k.Upto = 0, 0
	if err := b.keep(k); err != nil {
		return err
	}
	b.mu.Lock()
	b.known = k
	b.mu.Unlock()
	return nil
}

// Remembers says whether the service is one that keeps how far it has what the bridge reported, and
// so also who is there.
func (l *Service) Remembers() bool {
	_ = l.book.load() // else it is not known, and counts as no
	l.book.mu.Lock()
	defer l.book.mu.Unlock()
	return l.book.known.Service != ""
}

// reportAgain lets what the service has lost wait again, a little at a time, until ctx is done.
func (l *Service) reportAgain(ctx context.Context) error {
	if !l.waitKnown(ctx) {
		return ctx.Err()
	}
	tick := time.NewTicker(againEvery)
	defer tick.Stop()
	after, total := "", 0
	var at journal.Again
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		w, ok := l.book.wanted()
		if !ok {
			continue
		}
		if w != at {
			at, after, total = w, "", 0
		}
		if s, err := l.book.outbox.OutboxStats(); err != nil || s.Waiting >= againAtOnce {
			continue
		}
		n, next, err := l.book.outbox.Again(w, after, againAtOnce)
		l.reportedAgain.Add(float64(n))
		if after, total = next, total+n; err == nil && next == "" {
			err = l.book.done(ctx, w)
			l.log.Info("all that the service had lost was handed to the outbox again", "events", total)
		}
		if err != nil {
			l.log.Warn("report again what the service has lost; it is tried again", "error", err)
		}
	}
}
