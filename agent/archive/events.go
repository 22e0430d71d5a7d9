package archive

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/vfs"
	"vmsbridge/uplink/vms"
)

// Destination is where events become durable; the journal is one.
type Destination interface {
	// Write stores events durably, in one go, and has an error for each.
	Write(list ...journal.Record) []error
	// TouchAll notes that ongoing events were still going on, in one go.
	TouchAll(last map[string]time.Time) error
}

// Clock gives the true times of records, and the era that they are of if they are not true
// yet. agent/clock is one.
type Clock interface {
	Stamp() (at func(time.Time) time.Time, era uint32)
}

const (
	// eventRetry is how long the writer waits before it tries a journal that refused an event
	// again.
	eventRetry = time.Second
	// doubtEvery is how often it is asked whether events can be stored, while none comes that would
	// show it.
	doubtEvery = 3 * time.Second
	// eventDrain bounds the writing of waiting events when the agent stops, which is to take five
	// seconds at most in all.
	eventDrain = 1500 * time.Millisecond
	// touchEvery is how far the last activity of a span may lie behind on the disk, and so how much
	// of a span a kill or a power cut may cost: a second, with what the picture takes and a write
	// of a few hundred milliseconds, which is what a card or a busy machine takes.
	touchEvery = 500 * time.Millisecond
	// eventBatch is how many events share what one write to the disk costs.
	eventBatch = 256
	// maxWaiting is a bound that only a journal which cannot be written for days reaches; the
	// oldest then go, counted.
	maxWaiting = 100_000
)

// EventWriter takes events from the pipelines, which must not wait for a disk, and puts them into
// the journal in order. What the journal refuses (a full disk) stays in memory and is tried again
// until it is durable; a newer version of an event takes the place of an older one that is still
// waiting. An event that can never be stored is given up, so that it holds up no other. Safe for
// concurrent use.
type EventWriter struct {
	to      Destination
	ongoing atomic.Bool // report spans before they have ended
	report  bool        // there is a service to report to
	clock   Clock       // nil: events have their true times
	log     *slog.Logger

	timed    func() (ended func())
	doubt    func() error // nil: nothing is tried
	room     *room        // nil: a full disk stays full until someone makes room
	failures prometheus.Counter
	lost     prometheus.Counter

	writing atomic.Int64 // when the write under way began, by time.Now().UnixNano(); 0: none is

	mu      sync.Mutex // guards all below
	waiting []vms.Event
	// ids of those that wait that were stored before, and have the times that they had there
	stored  map[string]bool
	spans   map[string]span      // ongoing events, by id
	touched map[string]time.Time // id of an ongoing event → last activity not yet written
	failing error

	wake chan struct{} // buffered 1
}

// EventOptions are what a writer of events needs to know; To, Log and Registerer must be set.
type EventOptions struct {
	To      Destination
	Report  bool // there is a service to report to
	Ongoing bool // report spans before they have ended
	// Clock says which true times the times of events are. Nil: they are true.
	Clock Clock
	// Release frees up to so many bytes of the disk for events, and says how many came free. Nil: a
	// full disk stays full until someone makes room.
	Release func(bytes int64) (int64, error)
	// Doubt is asked every few seconds: where something speaks for it that events cannot be stored,
	// it tries whether they can, and says why not. Nil: only events show it.
	Doubt func() error
	// Timed is told when a durable write begins, and by what it returns when it has ended. Nil: it
	// is told nothing.
	Timed      func() (ended func())
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// NewEventWriter makes a writer. Events may be Put at once; they are written while it runs.
func NewEventWriter(opts EventOptions) *EventWriter {
	f := promauto.With(opts.Registerer)
	o := &EventWriter{to: opts.To, report: opts.Report, clock: opts.Clock, log: opts.Log, stored: map[string]bool{},
		spans: map[string]span{}, touched: map[string]time.Time{}, wake: make(chan struct{}, 1),
		failures: f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_agent_journal_failures_total",
			Help: "Writes that the journal refused; the event waits in memory."}),
		lost: f.NewCounter(prometheus.CounterOpts{Name: "vmsbridge_agent_events_lost_total",
			Help: "Events lost because the journal refused them until the stop, or for too long."})}
	o.ongoing.Store(opts.Ongoing)
	if o.timed = opts.Timed; o.timed == nil {
		o.timed = func() func() { return func() {} }
	}
	o.doubt = opts.Doubt
	if opts.Release != nil {
		o.room = &room{release: opts.Release, log: opts.Log}
	}
	return o
}

// ReportOngoing says from now on whether spans are reported before they have ended.
func (o *EventWriter) ReportOngoing(yes bool) { o.ongoing.Store(yes) }

// Writing is since when the journal has been busy with one write; zero while it is not.
func (o *EventWriter) Writing() time.Time {
	if n := o.writing.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}

// Put accepts an event for writing and returns at once. Its times are those of the pipelines.
func (o *EventWriter) Put(ev vms.Event) { o.accept(ev, false) }

// PutStored accepts an event that comes from the journal, with the times that it has there.
func (o *EventWriter) PutStored(ev vms.Event) { o.accept(ev, true) }

func (o *EventWriter) accept(ev vms.Event, stored bool) {
	o.mu.Lock()
	if stored {
		o.stored[ev.ID] = true
	}
	replaced := false
	for i := range o.waiting {
		if o.waiting[i].ID == ev.ID {
			o.waiting[i], replaced = ev, true
			break
		}
	}
	if !replaced {
		o.waiting = append(o.waiting, ev)
	}
	if len(o.waiting) > maxWaiting {
		o.waiting = o.waiting[1:]
		o.lost.Inc()
	}
	if !ev.Ongoing() {
		delete(o.touched, ev.ID)
		delete(o.spans, ev.ID)
	} else if !stored {
		o.spans[ev.ID] = spanOf(ev, o.touched[ev.ID])
	}
	o.mu.Unlock()
	o.signal()
}

// Touch notes that an ongoing event was still going on at last. It is written with the event, if
// that comes after it, and else within a second, together with all others.
func (o *EventWriter) Touch(id string, last time.Time) {
	o.mu.Lock()
	o.touched[id] = last
	if s, ok := o.spans[id]; ok {
		s.last = last
		o.spans[id] = s
	}
	o.mu.Unlock()
}

// Failing is why the journal refuses events at the moment, or nil.
func (o *EventWriter) Failing() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failing
}

// Flush writes what waits, as far as the journal takes it; what it refuses waits on. It must not be
// called once Run runs.
func (o *EventWriter) Flush() { _ = o.flush() }

// Run writes until ctx is done, and then the rest, as long as the journal takes it.
func (o *EventWriter) Run(ctx context.Context) error {
	// The notes have a goroutine of their own: they must not wait for an event that a slow disk
	// takes.
	touching, stop := context.WithCancel(ctx)
	var behind sync.WaitGroup
	behind.Go(func() { o.touch(touching) })
	defer behind.Wait()
	defer stop()
	pause := time.NewTimer(eventRetry)
	defer pause.Stop()
	look := time.NewTicker(doubtEvery)
	defer look.Stop()
	for {
		var retry <-chan time.Time
		wake := o.wake
		if err := o.flush(); err != nil {
			// A journal that refuses is not asked again before the pause is over.
			pause.Reset(eventRetry)
			retry, wake = pause.C, nil
		}
		select {
		case <-ctx.Done():
			o.drain()
			return ctx.Err()
		case <-wake:
		case <-retry:
		case <-look.C:
			o.settleDoubt()
		}
	}
}

// settleDoubt finds out whether an event could be stored, and makes room where there is none.
func (o *EventWriter) settleDoubt() {
	if o.doubt == nil || o.Failing() != nil {
		return // the event that was refused is tried again
	}
	if err := o.doubt(); errors.Is(err, journal.ErrFull) && o.room != nil && o.room.make() {
		_ = o.doubt()
	}
}

// drain writes the waiting events, for a bounded time.
func (o *EventWriter) drain() {
	deadline := time.Now().Add(eventDrain)
	for o.flush() != nil && time.Now().Before(deadline) {
		time.Sleep(eventRetry / 10)
	}
	o.writeTouched()
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.waiting); n > 0 {
		o.lost.Add(float64(n))
		o.log.Error("events could not be written before the stop", "events", n, "error", o.failing)
	}
}

// flush writes the waiting events in order, as many in one go as there are, until one is refused.
func (o *EventWriter) flush() error {
	for {
		o.mu.Lock()
		batch := slices.Clone(o.waiting[:min(len(o.waiting), eventBatch)])
		stored, last := make([]bool, len(batch)), make([]time.Time, len(batch))
		for i, ev := range batch {
			stored[i], last[i] = o.stored[ev.ID], o.spans[ev.ID].last
		}
		o.mu.Unlock()
		if len(batch) == 0 {
			return nil
		}
		o.writing.Store(time.Now().UnixNano())
		ended := o.timed()
		errs := o.put(batch, stored, last)
		ended()
		o.writing.Store(0)
		if err := o.settle(batch, errs); err != nil {
			return err
		}
	}
}

// settle takes out of the waiting what was written, or can never be, and returns the first error
// that is to be tried again.
func (o *EventWriter) settle(batch []vms.Event, errs []error) (refused error) {
	done := map[string]vms.Event{}
	for i, ev := range batch {
		err := errs[i]
		if errors.Is(err, journal.ErrInvalid) {
			o.lost.Inc()
			o.log.Error("an event cannot be stored and is given up; please report it with the log", "id", ev.ID,
				"error", err)
			err = nil
		}
		if err == nil {
			done[ev.ID] = ev
		} else if refused == nil {
			refused = err
		}
	}
	o.mu.Lock()
	recovered := refused == nil && o.failing != nil
	began := refused != nil && o.failing == nil
	o.failing = refused
	o.waiting = slices.DeleteFunc(o.waiting, func(ev vms.Event) bool {
		written, ok := done[ev.ID]
		if ok = ok && sameVersion(ev, written); ok {
			delete(o.stored, ev.ID)
		}
		return ok
	})
	left := len(o.waiting)
	o.mu.Unlock()
	switch {
	case began:
		o.log.Error("the journal refuses events; they wait in memory", "waiting", left, "error", refused,
			"hint", vfs.Remedy(refused, "bridge.data"))
	case recovered:
		o.log.Info("the journal takes events again", "waiting", left)
	}
	if refused != nil {
		o.failures.Inc()
	}
	return refused
}

// put writes events. Where the disk is full, old stills make room.
func (o *EventWriter) put(batch []vms.Event, stored []bool, last []time.Time) []error {
	errs := o.write(batch, stored, last)
	full := func(err error) bool { return errors.Is(err, journal.ErrFull) }
	if slices.ContainsFunc(errs, full) && o.room != nil && o.room.make() {
		errs = o.write(batch, stored, last)
	}
	if !slices.ContainsFunc(errs, full) && o.room != nil {
		o.room.helped()
	}
	return errs
}

// sameVersion tells whether b, just written, is still the newest version of a.
func sameVersion(a, b vms.Event) bool {
	if a.Ongoing() != b.Ongoing() {
		return false
	}
	return a.Ongoing() || a.EndTimestamp.Equal(b.EndTimestamp.Time)
}

// touch writes every touchEvery when what goes on was last known to do so, if there is news.
func (o *EventWriter) touch(ctx context.Context) {
	tick := time.NewTicker(touchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			o.writeTouched()
		}
	}
}

func (o *EventWriter) writeTouched() {
	o.mu.Lock()
	touched, spans := map[string]time.Time{}, map[string]span{}
	for id, last := range o.touched {
		if s, ok := o.spans[id]; ok { // else its event is still to come
			touched[id], spans[id] = last, s
			delete(o.touched, id)
		}
	}
	o.mu.Unlock()
	if len(touched) == 0 {
		return
	}
	ended := o.timed()
	err := o.to.TouchAll(o.stamp().touched(touched, spans))
	ended()
	if err != nil {
		o.log.Debug("note what goes on", "error", err)
	}
}

func (o *EventWriter) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// write puts events into the journal under their true times. They are those of the moment of
// writing: what waited here while the clock became true is right as well, and so is what the
// journal gets before it is, and stores after.
func (o *EventWriter) write(batch []vms.Event, stored []bool, last []time.Time) []error {
	list := o.stamp().records(batch, stored, last)
	for i, ev := range batch {
		list[i].Report = o.report && (o.ongoing.Load() || !ev.Ongoing())
	}
	return o.to.Write(list...)
}

func (o *EventWriter) stamp() (s stamp) {
	if o.clock != nil {
		s.at, s.era = o.clock.Stamp()
	}
	return s
}
