package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// bulk is a service that takes several events at once.
type bulk struct {
	*service
	most int
}

func (s *bulk) AtOnce() int { return s.most }

func (s *bulk) ReportMany(ctx context.Context, events []vms.Event) (verdicts []error, err error) {
	for _, ev := range events[:min(len(events), s.most)] {
		err := s.Report(ctx, ev)
		if refused := (*vms.RefusedError)(nil); err != nil && !errors.As(err, &refused) {
			return verdicts, err
		}
		verdicts = append(verdicts, err)
	}
	return verdicts, nil
}

// After an outage what is new goes ahead of a long backlog, in its order, while the backlog goes
// on, in its own.
func TestFreshGoesAhead(t *testing.T) {
	for _, actors := range []int{1, 3} {
		t.Run(fmt.Sprint(actors), func(t *testing.T) {
			scene(t, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
				svc.set(func(vms.Event) error { return away(503, 0) })
				for n := range 3000 {
					box.put(event(fmt.Sprintf("cam%d", n%actors), n))
				}
				after(30 * time.Minute)
				svc.mu.Lock()
				svc.answer, svc.latency = nil, 100*time.Millisecond
				svc.mu.Unlock()
				after(16 * time.Second) // the longest pause, and what is tried after it
				waited := 0
				for n := range 30 {
					ev := event(fmt.Sprintf("cam%d", n%actors), 10_000+n)
					box.put(ev)
					before := box.waiting()
					after(2 * time.Second)
					require.True(t, slices.Contains(svc.taken(), ev.ID), "%s within two seconds", ev.ID)
					require.Less(t, box.waiting(), before-10*actors, "the backlog goes on")
					waited = box.waiting()
				}
				require.Positive(t, waited, "the backlog is still there")
				after(10 * time.Minute)
				require.Zero(t, box.waiting())
				ids := svc.taken()
				require.Len(t, ids, 3030)
				for a := range actors {
					var old, fresh []string
					for _, ev := range svc.took {
						if ev.ActorID != fmt.Sprintf("cam%d", a) {
							continue
						}
						if ev.StartTimestamp.Before(epoch.Add(10_000 * time.Second)) {
							old = append(old, ev.NaturalID())
						} else {
							fresh = append(fresh, ev.NaturalID())
						}
					}
					require.True(t, slices.IsSorted(old))
					require.True(t, slices.IsSorted(fresh))
				}
			})
		})
	}
}

// A backlog that goes within a second is not overtaken: each actor's events go strictly in order.
func TestShortBacklogKeepsOrder(t *testing.T) {
	scene(t, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
		svc.set(func(vms.Event) error { return away(503, 0) })
		for n := range 80 {
			box.put(event("a", n))
		}
		after(30 * time.Minute)
		svc.mu.Lock()
		svc.answer, svc.latency = nil, 2*time.Millisecond
		svc.mu.Unlock()
		for n := range 40 {
			after(500 * time.Millisecond)
			box.put(event("a", 80+n))
		}
		after(time.Minute)
		require.Len(t, svc.taken(), 120)
		require.True(t, slices.IsSorted(svc.taken()))
	})
}

// Whatever a service answers, and however many events it takes at once, each event reaches it,
// those that it refuses for good are parked, and without overtaking each actor's events go in
// order.
func TestReportingHoldsWhateverHappens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.SampledFrom([]int{1, 2, 7, 500}).Draw(rt, "most")
		actors := rapid.IntRange(1, 4).Draw(rt, "actors")
		answers := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 60).Draw(rt, "answers")
		overtake := rapid.SampledFrom([]time.Duration{time.Millisecond, time.Hour}).Draw(rt, "overtake")
		synctest.Test(t, func(t *testing.T) {
			box, svc := newOutbox(), &service{latency: time.Millisecond}
			asked := 0
			svc.answer = func(ev vms.Event) error {
				svc.mu.Lock()
				defer svc.mu.Unlock()
				if asked++; asked > len(answers) {
					return nil
				}
				switch answers[asked-1] {
				case 0:
					return away(503, 0)
				case 1:
					return &vms.TransientError{Err: errors.New("reset")}
				case 2:
					return &vms.TransientError{Code: 500, Own: true, Err: errors.New("boom")}
				case 3:
					return &vms.UnauthorizedError{Message: "no"}
				}
				return nil
			}
			r := engine(box, &bulk{svc, most}, nil, delivery.Options{Overtake: overtake})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- r.Run(ctx) }()
			for n := range 120 {
				box.put(event(fmt.Sprintf("cam%d", n%actors), n))
				if n%20 == 0 {
					<-time.After(20 * time.Millisecond)
				}
			}
			after(6 * time.Hour)
			cancel()
			<-done
			require.Zero(t, box.waiting())
			require.Empty(t, box.parked)
			ids := svc.taken()
			require.Len(t, ids, 120, "each once: the model's answers come before it stores")
			for a := range actors {
				own := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
					return id[:4] != fmt.Sprintf("cam%d", a)
				})
				require.True(t, overtake < time.Second || slices.IsSorted(own), "out of order")
			}
		})
	})
}

// sluggish is a service that takes a while for a request, however many events it has.
type sluggish struct{ *service }

func (s sluggish) AtOnce() int { return 512 }

func (s sluggish) ReportMany(ctx context.Context, events []vms.Event) ([]error, error) {
	if err := s.Report(ctx, events[0]); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = append(s.took, events[1:]...)
	return make([]error, len(events)), nil
}

// Where the service is so slow that also what is fresh takes longer than Overtake, that goes ahead
// of the backlog all the same, also after it was away for a moment; and there is a lane for it.
func TestFreshGoesAheadAtASlowService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, svc := newOutbox(), &service{latency: 1500 * time.Millisecond}
		for n := range 100_000 {
			box.put(event(fmt.Sprintf("cam%d", n%8), n))
		}
		r := engine(box, sluggish{svc}, nil, delivery.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		defer func() { cancel(); <-done }()
		after(5 * time.Second)
		for n := range 12 {
			if n == 6 {
				svc.set(func(vms.Event) error { return away(0, 0) })
				box.put(event("cam3", 300_000))
				after(10 * time.Second)
				svc.set(nil)
			}
			ev := event(fmt.Sprintf("cam%d", n%8), 200_000+n)
			box.put(ev)
			after(7 * time.Second)
			require.True(t, slices.Contains(svc.taken(), ev.ID), "the %d. event", n+1)
		}
		require.True(t, slices.Contains(svc.taken(), event("cam3", 300_000).ID), "what happened while it was away")
		require.Greater(t, box.waiting(), 5_000, "the backlog is still there")
	})
}
