package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/postgres"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// Who follows events reads the sequence of changes: streams through one cursor for all, each
// webhook through its own. So a stream goes on behind its last message, and a webhook where it came
// to, when the service was stopped meanwhile.

// cursor is one of the file of events, or of PostgreSQL.
type cursor interface {
	delivery.Feed
	Place() (uint64, error)
}

var _, _ cursor = (*journal.Cursor)(nil), (*postgres.Cursor)(nil)

// streamsCursor is the name of the cursor that streams share, and hookCursor begins those of
// webhooks.
const streamsCursor, hookCursor = "streams", "webhook/"

// streamsName is where the name of the stream is, beside the events themselves: others have other
// places.
const streamsName = "feed"

const (
	// what happened is kept for streams that come back: as long as a subscription lasts without one
	streamsKeep = 15 * time.Minute
	streamsTrim = 10 * time.Second
)

// followers are the open cursors.
type followers struct {
	cursors func(names ...string) ([]cursor, error)
	turn    chan []string // holds their names; empty while somebody opens or forgets one
}

func newFollowers(j Journal) *followers {
	f := &followers{turn: make(chan []string, 1)}
	switch j := j.(type) {
	case *journal.Journal:
		f.cursors = cursorsOf(j.Cursors)
	case *postgres.Events:
		f.cursors = cursorsOf(j.Cursors)
	}
	f.turn <- nil
	return f
}

// cursorsOf is the Cursors of either store.
func cursorsOf[C cursor](open func(names ...string) ([]C, error)) func(names ...string) ([]cursor, error) {
	return func(names ...string) ([]cursor, error) {
		list, err := open(names...)
		all := make([]cursor, len(list))
		for i, c := range list {
			all[i] = c
		}
		return all, err
	}
}

// open opens cursors beside those that are open, in their order. At first all that are to go on are
// opened together: others are forgotten.
func (f *followers) open(names ...string) ([]cursor, error) {
	before := <-f.turn
	all := slices.Concat(before, names)
	list, err := f.cursors(all...)
	if err != nil {
		f.turn <- before
		return nil, err
	}
	f.turn <- all
	return list[len(before):], nil
}

// forget forgets a cursor for good.
func (f *followers) forget(name string) error {
	before := <-f.turn
	rest := slices.DeleteFunc(slices.Clone(before), func(n string) bool { return n == name })
	_, err := f.cursors(rest...)
	if err != nil {
		rest = before
	}
	f.turn <- rest
	return err
}

// streams tell the feed of what is stored.
type streams struct {
	book   *ledger
	cursor cursor
	after  uint64
}

// openStreams makes the ledger's feed one that lasts over a restart, and tells it what was stored
// of late.
func (l *ledger) openStreams(cursor cursor) (*streams, error) {
	name, err := l.Meta(streamsName)
	if err == nil && len(name) == 0 {
		name = []byte(rand.Text()[:10])
		err = l.SetMeta(streamsName, name)
	}
	if err != nil {
		return nil, fmt.Errorf("name the stream of events: %w", err)
	}
	s := &streams{book: l, cursor: cursor}
	if err := s.trim(); err != nil {
		return nil, err
	}
	place, err := cursor.Place()
	if err != nil {
		return nil, err
	}
	l.feed, l.followed = feed.Lasting(string(name), place), true
	return s, s.read()
}

// read publishes what is new. An event that was stored again meanwhile comes once, as it is now.
func (s *streams) read() error {
	for {
		list, err := s.cursor.Read(s.after, 512)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, q := range list {
			if s.after = q.Place; q.Newest {
				s.book.feed.PublishAt(q.Place, bare(q.Event))
			}
		}
	}
}

func (s *streams) trim() error {
	_, err := s.cursor.Trim(feed.Room, s.cursor.Now().Add(-streamsKeep))
	return err
}

// Run publishes what is stored until ctx is done.
func (s *streams) Run(ctx context.Context) error {
	tick := time.NewTicker(streamsTrim)
	defer tick.Stop()
	for {
		err := s.read()
		select {
		case <-ctx.Done():
			return nil
		case <-s.cursor.Changed():
		case <-tick.C:
			err = s.trim()
		}
		if err != nil {
			s.book.log.Warn("read what streams of events are told of", "error", err)
		}
	}
}

// bareCursor is a cursor whose events are as others know them.
type bareCursor struct{ cursor }

// Read is for delivery.Feed.
func (c bareCursor) Read(after uint64, n int) ([]vms.Queued, error) {
	list, err := c.cursor.Read(after, n)
	for i := range list {
		list[i].Event = bare(list[i].Event)
	}
	return list, err
}
