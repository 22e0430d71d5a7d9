package archive

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }

// diary is a destination that can be full.
type diary struct {
	mu     sync.Mutex
	full   bool
	events []vms.Event
	report []bool
}

func (d *diary) Write(list ...journal.Record) []error { return each(list, d.put) }

// each stores one after the other.
func each(list []journal.Record, put func(vms.Event, bool) error) (errs []error) {
	for _, r := range list {
		errs = append(errs, put(r.Event, r.Report))
	}
	return errs
}

func (d *diary) put(ev vms.Event, report bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return errors.New("no space left on device")
	}
	d.events = append(d.events, ev)
	d.report = append(d.report, report)
	return nil
}

func (d *diary) TouchAll(map[string]time.Time) error { return nil }

func (d *diary) set(full bool) { d.mu.Lock(); d.full = full; d.mu.Unlock() }

func (d *diary) len() int { d.mu.Lock(); defer d.mu.Unlock(); return len(d.events) }

func testOutlet(to Destination, ongoing bool) *EventWriter {
	return NewEventWriter(EventOptions{To: to, Report: true, Ongoing: ongoing, Log: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry()})
}

func run(t *testing.T, o *EventWriter) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = o.Run(ctx) }()
	return func() { cancel(); <-done }
}

func someEvent(n int, ended bool) vms.Event {
	ev := vms.Event{Type: vms.TypeMotion, ActorID: "c", StartTimestamp: vms.At(at(n)), Span: true}
	if ended {
		ev.EndTimestamp = vms.Ptr(at(n + 1000))
	}
	ev.ID = ev.NaturalID()
	return ev
}

func TestOutletHoldsEventsWhileTheDiskIsFull(t *testing.T) {
	d := &diary{full: true}
	o := testOutlet(d, true)
	stop := run(t, o)
	o.Put(someEvent(1, false))
	o.Put(someEvent(2, false))
	require.Eventually(t, func() bool { return o.Failing() != nil }, time.Minute, time.Millisecond)
	o.Put(someEvent(1, true)) // the newer version takes the place of the one that waits
	d.set(false)
	require.Eventually(t, func() bool { return d.len() == 2 }, time.Minute, time.Millisecond)
	stop()
	require.NoError(t, o.Failing())
	require.Equal(t, someEvent(1, true), d.events[0])
	require.Equal(t, someEvent(2, false), d.events[1])
}

func TestOutletWritesWhatIsLeftWhenItStops(t *testing.T) {
	d := &diary{}
	o := testOutlet(d, true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for n := range 100 {
		o.Put(someEvent(n, true))
	}
	require.ErrorIs(t, o.Run(ctx), context.Canceled)
	require.Equal(t, 100, d.len())
}

func TestOutletReportsOngoingSpansOnlyWhenWanted(t *testing.T) {
	for _, ongoing := range []bool{true, false} {
		d := &diary{}
		o := testOutlet(d, ongoing)
		stop := run(t, o)
		o.Put(someEvent(1, false))
		require.Eventually(t, func() bool { return d.len() == 1 }, time.Minute, time.Millisecond)
		o.Put(someEvent(1, true))
		stop()
		require.Equal(t, []bool{ongoing, true}, d.report)
	}
}

// refusing is a destination that refuses one event for good, and is full until room is made.
type refusing struct {
	diary
	never string
	room  int // puts that fail until room is made
}

func (r *refusing) Write(list ...journal.Record) []error { return each(list, r.put) }

func (r *refusing) put(ev vms.Event, report bool) error {
	switch {
	case ev.ID == r.never:
		return fmt.Errorf("put event: %w", journal.ErrInvalid)
	case r.room == 0:
		return fmt.Errorf("put event: %w", journal.ErrFull)
	}
	return r.diary.put(ev, report)
}

func TestOutletGivesUpWhatCanNeverBeStored(t *testing.T) {
	d := &refusing{never: someEvent(1, true).ID, room: 1}
	o := testOutlet(d, true)
	for n := range 3 {
		o.Put(someEvent(n, true))
	}
	require.NoError(t, o.flush())
	require.Equal(t, 2, d.len(), "one camera's event holds up those of the others")
	require.NoError(t, o.Failing())
}

func TestOutletHasStillsMakeRoom(t *testing.T) {
	d := &refusing{}
	o := testOutlet(d, true)
	asked := 0
	o.room = &room{log: slog.New(slog.DiscardHandler), release: func(n int64) (int64, error) {
		asked++
		d.room = 1
		return n, nil
	}}
	o.Put(someEvent(1, true))
	require.NoError(t, o.flush())
	require.Equal(t, 1, d.len())
	require.Equal(t, 1, asked)

	// Room that does not help is not asked for again and again.
	o.room.release = func(n int64) (int64, error) { asked++; return n, nil }
	d.room = 0
	o.Put(someEvent(2, true))
	for range 10 {
		require.ErrorIs(t, o.flush(), journal.ErrFull)
	}
	require.Equal(t, 2, asked)
}

// touchbook is a destination that remembers what was noted.
type touchbook struct {
	diary
	last []map[string]time.Time // what each write noted
	of   []journal.Record
}

func (b *touchbook) Write(list ...journal.Record) []error {
	b.mu.Lock()
	b.of = append(b.of, list...)
	b.mu.Unlock()
	return b.diary.Write(list...)
}

func (b *touchbook) TouchAll(last map[string]time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = append(b.last, last)
	return nil
}

// What goes on is noted once a second for all spans together, and a span is stored with the last
// that is known of it.
func TestOutletNotesWhatGoesOnTogether(t *testing.T) {
	b := &touchbook{}
	o := testOutlet(b, true)
	want := map[string]time.Time{}
	for n := range 100 {
		ev := someEvent(n, false)
		o.Touch(ev.ID, at(n+300))
		want[ev.ID] = at(n + 300)
	}
	o.writeTouched()
	for n := range 100 {
		o.Put(someEvent(n, false))
	}
	require.Empty(t, b.last, "an event comes before what is noted of it")
	require.NoError(t, o.flush())
	require.Len(t, b.of, 100)
	for _, r := range b.of {
		require.Equal(t, want[r.Event.ID], r.Last)
	}
	o.Touch("unknown", at(1))
	for range 3 {
		o.writeTouched()
	}
	require.Equal(t, []map[string]time.Time{want}, b.last, "one write, and none without news")
	ended := someEvent(1, true)
	o.Touch(ended.ID, at(500))
	o.Put(ended)
	o.writeTouched()
	require.Len(t, b.last, 1, "what has ended is not noted")
}

// slowbook is a destination whose notes take a disk's time until they are durable.
type slowbook struct {
	diary
	last time.Time
}

func (b *slowbook) TouchAll(last map[string]time.Time) error {
	time.Sleep(300 * time.Millisecond)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range last {
		b.last = t
	}
	return nil
}

// At whatever moment a kill comes, what a card that takes its time has of a span is less than a
// second older than its last picture.
func TestWhatGoesOnIsNotedWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &slowbook{}
		o := testOutlet(b, true)
		stop := run(t, o)
		began := time.Now()
		ev := someEvent(0, false)
		ev.StartTimestamp = vms.At(began)
		o.Put(ev)
		b.last = began // the event itself says so
		var worst time.Duration
		for range 1000 {
			time.Sleep(100 * time.Millisecond)
			now := time.Now()
			o.Touch(ev.ID, now)
			b.mu.Lock()
			worst = max(worst, now.Sub(b.last))
			b.mu.Unlock()
		}
		stop()
		require.Less(t, worst, time.Second)
	})
}

// A disk that takes its time over the first event takes no more over those that came meanwhile:
// they share the next write.
func TestOutletWritesWhatWaitsInOneGo(t *testing.T) {
	b := &counting{}
	o := testOutlet(b, true)
	for n := range 600 {
		o.Put(someEvent(n, true))
	}
	require.NoError(t, o.flush())
	require.Equal(t, []int{eventBatch, eventBatch, 600 - 2*eventBatch}, b.batches)
	require.Equal(t, 600, b.len())
	for n, ev := range b.events {
		require.Equal(t, someEvent(n, true).ID, ev.ID, "in order")
	}
}

type counting struct {
	diary
	batches []int
}

func (c *counting) Write(list ...journal.Record) []error {
	c.batches = append(c.batches, len(list))
	return c.diary.Write(list...)
}
