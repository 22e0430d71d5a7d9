package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// feed is a model of a cursor: places 1, 2, 3 …, a minute apart.
type feed struct {
	mu       sync.Mutex
	list     []vms.Queued
	noted    uint64
	advances int
	skipped  uint64
	fail     error // of Advance
	changed  chan struct{}
}

func newFeed(n int, began time.Time) *feed {
	f := &feed{changed: make(chan struct{}, 1)}
	for i := range n {
		f.put(event(fmt.Sprint("cam", i%3), i), began.Add(time.Duration(i+1)*time.Minute))
	}
	return f
}

func (f *feed) put(ev vms.Event, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, vms.Queued{Event: ev, Place: uint64(len(f.list) + 1), Since: since, Newest: true})
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

func (f *feed) Read(after uint64, n int) ([]vms.Queued, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := min(max(after, f.noted), uint64(len(f.list)))
	return slices.Clone(f.list[from:min(from+uint64(n), uint64(len(f.list)))]), nil
}

func (f *feed) Advance(place uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return f.fail
	}
	f.advances++
	f.noted = max(f.noted, place)
	return nil
}

func (f *feed) Changed() <-chan struct{} { return f.changed }
func (f *feed) Now() time.Time           { return time.Now() }

func (f *feed) Trim(most int, before time.Time) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.noted < uint64(len(f.list)) && (most > 0 && len(f.list)-int(f.noted) > most ||
		f.list[f.noted].Since.Before(before)) {
		f.noted++
		n++
	}
	f.skipped += uint64(n)
	return n, nil
}

func (f *feed) Lag(after uint64) (vms.Lag, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := max(f.noted, after)
	l := vms.Lag{Waiting: len(f.list) - int(from), Skipped: f.skipped}
	if l.Waiting > 0 {
		l.Oldest = f.list[from].Since
	}
	return l, nil
}

// judge is a sink that notes what it took, and judges as it is told; nil: it takes all.
type judge struct {
	mu     sync.Mutex
	answer func(vms.Event) delivery.Verdict
	took   []vms.Event
}

func (j *judge) Send(_ context.Context, list []vms.Queued) (verdicts []delivery.Verdict) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, q := range list {
		var v delivery.Verdict
		if j.answer != nil {
			v = j.answer(q.Event)
		}
		if verdicts = append(verdicts, v); !v.Kind.Done() {
			break
		}
		if v.Kind == delivery.Taken {
			j.took = append(j.took, q.Event)
		}
	}
	return verdicts
}

func (j *judge) set(answer func(vms.Event) delivery.Verdict) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.answer = answer
}

func (j *judge) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.took)
}

func verdict(kind delivery.Kind, err, hint string) func(vms.Event) delivery.Verdict {
	return func(vms.Event) delivery.Verdict {
		return delivery.Verdict{Kind: kind, Err: errors.New(err), Hint: hint}
	}
}

// follow runs a follower in a bubble of its own time.
func follow(t *testing.T, f delivery.Feed, sink *judge, o delivery.FollowOptions) (fl *delivery.Follower, stop func()) {
	o.Kind, o.Name, o.Feed = "webhook", "x", f
	fl = delivery.Follow(sink, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- fl.Run(ctx) }()
	return fl, sync.OnceFunc(func() { cancel(); require.NoError(t, <-done) })
}

func TestCapsAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		sink := &judge{answer: verdict(delivery.OfSink, "refused", "start it")}
		f := newFeed(300, time.Now().Add(-301*time.Minute))
		fl, stop := follow(t, f, sink, delivery.FollowOptions{Caps: delivery.Caps{Events: 250, Age: 2 * time.Hour},
			Log: slog.New(slog.NewTextHandler(&log, nil))})
		defer stop()
		synctest.Wait()
		require.Equal(t, 250, fl.Status().Waiting, "the number counts at once")
		after(59 * time.Minute)
		require.Equal(t, 250, fl.Status().Waiting, "the age only once the clock has gone on for long")
		after(3 * time.Minute)
		s := fl.Status()
		require.InDelta(t, 58, s.Waiting, 2)
		require.EqualValues(t, 300-s.Waiting, s.Skipped)
		sink.set(nil)
		after(time.Minute)
		require.Equal(t, s.Waiting, sink.count(), "what was given up is not handed over")
		require.Zero(t, fl.Status().Waiting)
		stop()
		require.Contains(t, log.String(), "too far behind")
	})
}

// What a person is told of a sink, in the status, the metrics and the log: one line for each
// trouble, not one for each event.
func TestWhatIsSaidOfASink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewRegistry()
		var log bytes.Buffer
		lines := func() int { return bytes.Count(log.Bytes(), []byte("\n")) }
		f := newFeed(3, time.Now().Add(-time.Hour))
		sink := &judge{answer: verdict(delivery.OfSink, "refused", "start the broker")}
		// several share a registry
		delivery.Follow(sink, delivery.FollowOptions{Kind: "mqtt", Name: "b", Feed: f, Registerer: reg})
		fl, stop := follow(t, f, sink, delivery.FollowOptions{Registerer: reg,
			Log: slog.New(slog.NewTextHandler(&log, nil))})
		defer stop()
		after(4 * time.Minute)
		s := fl.Status()
		require.Equal(t, []any{false, "start the broker", "refused", 3, uint64(0)},
			[]any{s.Up, s.Problem, s.LastError, s.Waiting, s.Sent})
		require.Equal(t, 1, lines(), "%s", &log)
		sink.set(verdict(delivery.OfSink, "refused", "sign in"))
		after(time.Minute / 2)
		require.Equal(t, 2, lines(), "another trouble is said at once: %s", &log)
		sink.set(nil)
		after(time.Minute)
		s = fl.Status()
		require.Equal(t, []any{true, "", "refused", 0, uint64(3)},
			[]any{s.Up, s.Problem, s.LastError, s.Waiting, s.Sent})
		require.Equal(t, 3, lines(), "%s", &log)
		require.Contains(t, log.String(), "sink=webhook/x")
		sink.set(verdict(delivery.Refused, "too large", ""))
		for n := range 100 {
			f.put(event("cam0", 100+n), time.Now())
		}
		after(time.Minute)
		s = fl.Status()
		require.Equal(t, []any{uint64(100), event("cam0", 199).ID + ": too large", 0},
			[]any{s.Refused, s.LastRefused, s.Waiting})
		require.Equal(t, 4, lines(), "%s", &log)
		found, err := reg.Gather()
		require.NoError(t, err)
		got := map[string]float64{}
		for _, fam := range found {
			require.Len(t, fam.GetMetric(), 2)
			m := fam.GetMetric()[1]
			require.Equal(t, "webhook/x", m.GetLabel()[0].GetValue())
			got[fam.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
		require.Greater(t, got["vmsbridge_home_failures_total"], 10.0)
		delete(got, "vmsbridge_home_failures_total")
		require.Equal(t, map[string]float64{"vmsbridge_home_sent_total": 3, "vmsbridge_home_refused_total": 100,
			"vmsbridge_home_oldest_age_seconds": 0, "vmsbridge_home_up": 1, "vmsbridge_home_waiting_events": 0,
			"vmsbridge_home_skipped_events": 0}, got)
	})
}

// Where the journal does not take how far a sink is, that is said, nothing goes twice, and it is
// noted once it can be.
func TestANoteThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, sink := newFeed(5, time.Now()), &judge{}
		f.fail = errors.New("no space left")
		fl, stop := follow(t, f, sink, delivery.FollowOptions{})
		defer stop()
		after(10 * time.Minute)
		require.Equal(t, 5, sink.count())
		require.Contains(t, fl.Status().Problem, "is the disk full?")
		f.mu.Lock()
		f.fail = nil
		f.mu.Unlock()
		after(2 * time.Minute)
		require.Empty(t, fl.Status().Problem)
		require.Equal(t, 5, sink.count())
		require.EqualValues(t, 5, f.noted)
	})
}

// sparse is a feed whose places are far apart, as PostgreSQL's are.
type sparse struct{ *feed }

const apart = 1 << 20

func (f sparse) Read(after uint64, n int) ([]vms.Queued, error) {
	list, err := f.feed.Read(after/apart, n)
	for i := range list {
		list[i].Place *= apart
	}
	return list, err
}

func (f sparse) Advance(place uint64) error              { return f.feed.Advance(place / apart) }
func (f sparse) Lag(after uint64) (l vms.Lag, err error) { return f.feed.Lag(after / apart) }

// Events that a sink does not want cost the device little: they are noted together.
func TestWhatIsNotWantedIsNotedTogether(t *testing.T) {
	for _, far := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f, sink := newFeed(0, time.Now()), &judge{}
			var of delivery.Feed = f
			if far {
				of = sparse{f}
			}
			_, stop := follow(t, of, sink, delivery.FollowOptions{Wants: func(q vms.Queued) bool {
				return q.Event.ActorID == "cam1"
			}})
			defer stop()
			for n := range 600 {
				f.put(event("cam0", n), time.Now())
				after(time.Second)
			}
			require.Zero(t, sink.count())
			f.mu.Lock()
			defer f.mu.Unlock()
			require.InDelta(t, 600, f.noted, 100)
			require.LessOrEqual(t, f.advances, 12, "once a minute")
		})
	}
}

// Whatever a sink answers, and wherever a life is cut off, each event that is wanted arrives,
// nothing that was noted comes again, and the events of a lane come in order.
func TestFollowingHoldsWhateverHappens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		oneLane := rapid.Bool().Draw(rt, "one lane")
		atOnce := rapid.SampledFrom([]int{1, 7, 64}).Draw(rt, "at once")
		answers := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 60).Draw(rt, "answers")
		lives := rapid.IntRange(1, 4).Draw(rt, "lives")
		synctest.Test(t, func(t *testing.T) {
			f, sink := newFeed(0, time.Now()), &judge{}
			asked := 0
			sink.answer = func(vms.Event) delivery.Verdict {
				if asked++; asked <= len(answers) && answers[asked-1] < 4 {
					kind := []delivery.Kind{delivery.OfSink, delivery.OfEvent, delivery.OfToken,
						delivery.OfSink}[answers[asked-1]]
					return verdict(kind, "no", "")(vms.Event{})
				}
				return delivery.Verdict{}
			}
			for life := range lives {
				fl, stop := follow(t, f, sink, delivery.FollowOptions{OneLane: oneLane,
					Wants:  func(q vms.Queued) bool { return q.Place%5 != 0 },
					Engine: delivery.Options{AtOnce: func() int { return atOnce }, Concurrency: 3, Turn: 16}})
				for n := range 60 {
					f.put(event(fmt.Sprint("cam", n%3), 60*life+n), time.Now())
				}
				if life == lives-1 {
					after(6 * time.Hour)
					require.Zero(t, fl.Status().Waiting)
				}
				stop()
			}
			last, seen := map[string]string{}, map[string]int{}
			for _, ev := range sink.took {
				lane := ev.ActorID
				if seen[ev.ID]++; seen[ev.ID] > 1 {
					continue
				}
				if oneLane {
					require.Less(t, last[""], ev.StartTimestamp.String())
					last[""] = ev.StartTimestamp.String()
				}
				require.Less(t, last[lane], ev.ID)
				last[lane] = ev.ID
			}
			require.Len(t, seen, 60*lives*4/5)
			require.LessOrEqual(t, len(sink.took), 60*lives*4/5+3*16*lives, "little comes twice")
		})
	})
}
