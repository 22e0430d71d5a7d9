package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// outbox is a model of the journal's outbox.
type outbox struct {
	mu      sync.Mutex
	entries map[uint64]*vms.Queued // by place
	order   []uint64               // the places, also of some that have left
	places  map[string]uint64
	parked  map[string]string
	rev     uint64
	changed chan struct{}
	peeks   int
	peekErr error
	slow    time.Duration // what a Scan takes
}

func newOutbox() *outbox {
	return &outbox{entries: map[uint64]*vms.Queued{}, places: map[string]uint64{}, parked: map[string]string{},
		changed: make(chan struct{}, 1)}
}

func (o *outbox) put(ev vms.Event) {
	ev.ID = ev.NaturalID()
	o.mu.Lock()
	o.rev++
	if e := o.entries[o.places[ev.ID]]; e != nil {
		e.Event, e.Revision = ev, o.rev
	} else {
		o.entries[o.rev] = &vms.Queued{Event: ev, Place: o.rev, Revision: o.rev}
		o.order = append(o.order, o.rev)
		o.places[ev.ID] = o.rev
	}
	o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

func (o *outbox) Scan(after uint64, n int, visit func(uint64, string)) error {
	o.mu.Lock()
	slow := o.slow
	o.mu.Unlock()
	time.Sleep(slow)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.peeks++
	if o.peekErr != nil {
		return o.peekErr
	}
	i, _ := slices.BinarySearch(o.order, after+1)
	for _, place := range o.order[i:] {
		if e := o.entries[place]; e != nil && n > 0 {
			visit(place, e.Event.ActorID)
			n--
		}
	}
	return nil
}

func (o *outbox) LastPlace() (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.rev, o.peekErr
}

func (o *outbox) Load(places []uint64) ([]vms.Queued, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []vms.Queued
	for _, place := range places {
		if e := o.entries[place]; e != nil {
			out = append(out, *e)
		}
	}
	return out, o.peekErr
}

func (o *outbox) remove(id string, revision uint64) bool {
	e := o.entries[o.places[id]]
	if e == nil || e.Revision != revision {
		return false
	}
	delete(o.entries, e.Place)
	delete(o.places, id)
	for len(o.order) > 0 && o.entries[o.order[0]] == nil {
		o.order = o.order[1:]
	}
	return true
}

func (o *outbox) AckAll(entries []vms.Queued) (renewed []uint64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range entries {
		if waits := o.entries[e.Place] != nil; !o.remove(e.Event.ID, e.Revision) && waits {
			renewed = append(renewed, e.Place)
		}
	}
	return renewed, nil
}

func (o *outbox) Park(id string, revision uint64, reason string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.remove(id, revision) {
		o.parked[id] = reason
	}
	return nil
}

func (o *outbox) Changed() <-chan struct{} { return o.changed }

func (o *outbox) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.entries)
}

func (o *outbox) parkedFor(id string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.parked[id]
}

// service is a model of the service: it notes what it took, in order, and answers what the test
// says.
type service struct {
	mu      sync.Mutex
	answer  func(vms.Event) error // nil: takes all
	took    []vms.Event
	tries   int
	running int
	most    int
	latency time.Duration
}

func (s *service) Report(ctx context.Context, ev vms.Event) error {
	s.mu.Lock()
	s.tries++
	s.running++
	s.most = max(s.most, s.running)
	answer, latency := s.answer, s.latency
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	if latency > 0 {
		select {
		case <-time.After(latency):
		case <-ctx.Done():
			return &vms.TransientError{Err: ctx.Err()}
		}
	}
	if answer != nil {
		if err := answer(ev); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.took = append(s.took, ev)
	s.mu.Unlock()
	return nil
}

func (s *service) AtOnce() int { return 1 }

func (s *service) ReportMany(context.Context, []vms.Event) ([]error, error) {
	return nil, errors.New("it takes one at a time")
}

func (s *service) set(answer func(vms.Event) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *service) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, len(s.took))
	for i, ev := range s.took {
		ids[i] = ev.NaturalID()
	}
	return ids
}

func (s *service) attempts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries
}

var epoch = time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)

func event(actor string, n int) vms.Event {
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(epoch.Add(time.Duration(n) * time.Second)), Span: true,
		ActorID: actor, ActorType: vms.ActorCamera}
	ev.ID = ev.NaturalID()
	return ev
}

// engine is a delivery to the service, as the bridge has it.
func engine(box delivery.Store, svc client.Service, register func(context.Context) error,
	o delivery.Options) *delivery.Engine {
	if o.AtOnce = svc.AtOnce; o.AuthPause == 0 {
		o.AuthPause = 30 * time.Second
	}
	return delivery.New(box, &client.Sink{Service: svc, Register: register, Log: slog.New(slog.DiscardHandler)}, o)
}

// scene runs a delivery in a bubble of its own time.
func scene(t *testing.T, o delivery.Options, test func(box *outbox, svc *service, r *delivery.Engine)) {
	sceneOf(t, nil, o, test)
}

func sceneOf(t *testing.T, register func(context.Context) error, o delivery.Options,
	test func(*outbox, *service, *delivery.Engine)) {
	synctest.Test(t, func(t *testing.T) {
		box, svc := newOutbox(), &service{}
		r := engine(box, svc, register, o)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		defer cancel() // where the test fails, or the bubble's time goes on for ever
		test(box, svc, r)
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		require.Equal(t, delivery.Stopped, r.Status().State)
	})
}

// after lets the bubble's time pass until all is quiet.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func away(code int, after time.Duration) error {
	return &vms.TransientError{Code: code, RetryAfter: after, Err: errors.New("away")}
}

func TestDrainsInOrderPerActor(t *testing.T) {
	scene(t, delivery.Options{Overtake: time.Hour}, func(box *outbox, svc *service, r *delivery.Engine) {
		svc.latency = 5 * time.Millisecond
		var want []string
		for n := range 700 { // more than two batches
			for _, actor := range []string{"a", "b", "c"} {
				box.put(event(actor, n))
				want = append(want, event(actor, n).ID)
			}
		}
		after(20 * time.Second)
		require.Zero(t, box.waiting())
		got := svc.taken()
		require.ElementsMatch(t, want, got)
		for _, actor := range []string{"a", "b", "c"} {
			own := slices.DeleteFunc(slices.Clone(got), func(id string) bool { return id[:1] != actor })
			require.True(t, slices.IsSorted(own), "the events of %s went out of order", actor)
		}
		require.Equal(t, 3, svc.most, "each actor has one request under way")
		require.Equal(t, delivery.Idle, r.Status().State)
		require.EqualValues(t, 2100, r.Status().Accepted)
	})
}

func TestConcurrencyIsBounded(t *testing.T) {
	scene(t, delivery.Options{Concurrency: 4}, func(box *outbox, svc *service, _ *delivery.Engine) {
		svc.latency = time.Second
		for n := range 40 {
			box.put(event(fmt.Sprintf("cam%d", n), 0))
		}
		after(15 * time.Second)
		require.Zero(t, box.waiting())
		require.Equal(t, 4, svc.most)
	})
}

func TestNewEventWakesIt(t *testing.T) {
	scene(t, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
		after(10 * time.Minute)
		box.put(event("a", 1))
		after(time.Millisecond)
		require.Len(t, svc.taken(), 1)
	})
}

func TestIdleCostsNothing(t *testing.T) {
	scene(t, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
		box.put(event("a", 1))
		after(time.Hour)
		require.Len(t, svc.taken(), 1)
		require.Less(t, box.peeks, 100)
	})
}

// An outage of days: nothing is lost or parked, the pauses stay short, and events flow soon after
// the return.
func TestOutage(t *testing.T) {
	for name, cause := range map[string]error{
		"no connection":  &vms.TransientError{Err: errors.New("connection refused")},
		"502":            away(502, 0),
		"503":            away(503, 0),
		"captive portal": &vms.TransientError{Code: 200, Err: errors.New("text/html")},
		"own 503":        &vms.TransientError{Code: 503, Own: true, Err: errors.New("full")},
	} {
		t.Run(name, func(t *testing.T) {
			scene(t, delivery.Options{}, func(box *outbox, svc *service, r *delivery.Engine) {
				svc.set(func(vms.Event) error { return cause })
				for n := range 50 {
					box.put(event(fmt.Sprintf("cam%d", n%5), n))
				}
				after(time.Second / 2)
				require.Equal(t, 1.0, float64(r.Status().Failures))
				require.Equal(t, delivery.Waiting, r.Status().State)
				after(24 * time.Hour)
				require.Equal(t, 50, box.waiting())
				tries := svc.attempts()
				require.Greater(t, tries, 24*3600/20, "asks at least every 15 s with jitter")
				require.Less(t, tries, 24*3600/5, "does not hammer")
				svc.set(nil)
				after(20 * time.Second)
				require.Zero(t, box.waiting())
				require.Len(t, svc.taken(), 50)
				require.Equal(t, delivery.Idle, r.Status().State)
				require.Empty(t, r.Status().Trouble)
			})
		})
	}
}

func TestShortOutageEndsSoon(t *testing.T) {
	scene(t, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
		svc.set(func(vms.Event) error { return away(0, 0) })
		box.put(event("a", 1))
		after(3 * time.Second)
		svc.set(nil)
		after(5 * time.Second)
		require.Zero(t, box.waiting())
	})
}

// A pause that ends while the outbox is read is over, however late that was noticed.
func TestPauseEndsWhileReading(t *testing.T) {
	scene(t, delivery.Options{Overtake: 24 * time.Hour}, func(box *outbox, svc *service, _ *delivery.Engine) {
		svc.set(func(vms.Event) error { return &vms.TransientError{Code: 500, Own: true, Err: errors.New("boom")} })
		box.put(event("a", 1))
		after(time.Second / 2) // it rests for a second
		svc.set(nil)
		box.mu.Lock()
		box.slow = 10 * time.Second
		box.mu.Unlock()
		box.put(event("a", 2))
		after(30 * time.Second)
		require.Len(t, svc.taken(), 2)
	})
}

func TestRetryAfter(t *testing.T) {
	scene(t, delivery.Options{}, func(box *outbox, svc *service, r *delivery.Engine) {
		svc.set(func(vms.Event) error { return away(429, 2*time.Minute) })
		for n := range 10 {
			box.put(event(fmt.Sprint(n), n))
		}
		after(time.Minute)
		first := svc.attempts()
		require.LessOrEqual(t, first, 10, "those under way when the first answer came")
		after(59 * time.Second)
		require.Equal(t, first, svc.attempts())
		require.False(t, r.Status().NextTry.IsZero())
		svc.set(nil)
		after(2 * time.Second)
		require.Zero(t, box.waiting())
	})
}

func TestRefusedIsParkedAndOthersGoOn(t *testing.T) {
	scene(t, delivery.Options{}, func(box *outbox, svc *service, r *delivery.Engine) {
		bad := event("a", 1)
		svc.set(func(ev vms.Event) error {
			if ev.ID == bad.ID {
				return &vms.RefusedError{Code: 400, Reason: vms.ReasonValue, Message: "bad box"}
			}
			return nil
		})
		for n := range 5 {
			box.put(event("a", n))
		}
		after(time.Second)
		require.Zero(t, box.waiting())
		require.Len(t, svc.taken(), 4)
		require.Contains(t, box.parkedFor(bad.ID), "bad box")
		require.EqualValues(t, 1, r.Status().Refused)
		require.Equal(t, 5, svc.attempts(), "a refused event is not sent twice")
	})
}

func TestUnknownActorRegistersFirst(t *testing.T) {
	known := false
	registered := 0
	register := func(context.Context) error { registered++; known = true; return nil }
	sceneOf(t, register, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
		svc.set(func(ev vms.Event) error {
			if !known || ev.ActorID == "stranger" {
				return &vms.RefusedError{Code: 404, Reason: vms.ReasonResource, Message: "no camera"}
			}
			return nil
		})
		box.put(event("a", 1))
		after(time.Second)
		require.Len(t, svc.taken(), 1)
		require.Equal(t, 1, registered)
		box.put(event("stranger", 1))
		after(time.Second)
		require.NotEmpty(t, box.parkedFor(event("stranger", 1).ID))
		require.Equal(t, 2, registered)
	})
}

// A bridge that has signed in anew is not the one that reported the event, until it has registered.
func TestAnothersEventRegistersFirst(t *testing.T) {
	registered := 0
	register := func(context.Context) error { registered++; return nil }
	sceneOf(t, register, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
		svc.set(func(ev vms.Event) error {
			if registered == 0 || ev.ActorID == "taken" {
				return &vms.RefusedError{Code: 409, Reason: vms.ReasonExists, Message: "Another has reported it"}
			}
			return nil
		})
		box.put(event("a", 1))
		after(time.Second)
		require.Len(t, svc.taken(), 1)
		require.Equal(t, 1, registered)
		box.put(event("taken", 1))
		after(time.Second)
		require.NotEmpty(t, box.parkedFor(event("taken", 1).ID), "it is another's all the same")
		require.Equal(t, 2, registered)
	})
}

func TestUnauthorizedNeverParks(t *testing.T) {
	scene(t, delivery.Options{}, func(box *outbox, svc *service, r *delivery.Engine) {
		svc.set(func(vms.Event) error { return &vms.UnauthorizedError{Message: "no"} })
		for n := range 3 {
			box.put(event("a", n))
		}
		after(time.Hour)
		require.Equal(t, delivery.Unauthorized, r.Status().State)
		require.Contains(t, r.Status().LastError, "vmscloud token create")
		require.Equal(t, 3, box.waiting())
		require.Greater(t, svc.attempts(), 3600/61)
		require.Less(t, svc.attempts(), 3600/29)
		svc.set(nil)
		after(61 * time.Second)
		require.Len(t, svc.taken(), 3)
	})
}

// One event that the service chokes on is set aside in the end, so that it does not hold up its
// camera for ever; but an hour of failures of everything parks nothing.
func TestPoisonousEvent(t *testing.T) {
	for name, cause := range map[string]error{
		"500": &vms.TransientError{Code: 500, Own: true, Err: errors.New("panic")},
		"403": &vms.ForbiddenError{Reason: "invalidPermission", Message: "another account"},
	} {
		for _, actors := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s of %d", name, actors), func(t *testing.T) {
				scene(t, delivery.Options{}, func(box *outbox, svc *service, r *delivery.Engine) {
					bad := event("cam0", 0)
					svc.set(func(ev vms.Event) error {
						if ev.ID == bad.ID {
							return cause
						}
						return nil
					})
					for n := range 40 {
						box.put(event(fmt.Sprintf("cam%d", n%actors), n))
					}
					after(50 * time.Minute)
					require.Empty(t, box.parkedFor(bad.ID), "it has an hour")
					require.Equal(t, 40/actors, box.waiting(), "the other actors go on")
					if name == "403" {
						require.Equal(t, delivery.Forbidden, r.Status().State)
					}
					box.put(event("cam1", 99)) // evidence within the hour, where there are others
					after(15 * time.Minute)
					require.Zero(t, box.waiting())
					require.Contains(t, box.parkedFor(bad.ID), "set aside")
				})
			})
			t.Run(fmt.Sprintf("%s of %d, all", name, actors), func(t *testing.T) {
				scene(t, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
					svc.set(func(vms.Event) error { return cause })
					for n := range 40 {
						box.put(event(fmt.Sprintf("cam%d", n%actors), n))
					}
					after(24 * time.Hour)
					require.Equal(t, 40, box.waiting())
					require.Empty(t, box.parked)
					svc.set(nil)
					after(2 * time.Minute)
					require.Len(t, svc.taken(), 40)
				})
			})
		}
	}
}

// One event that makes the service look as if it were away (a firewall that dislikes it, a backend
// that falls over it) holds the others up only briefly.
func TestEventThatLooksLikeAnOutage(t *testing.T) {
	for _, c := range []struct{ actors, bad int }{{1, 1}, {4, 1}, {4, 2}} {
		t.Run(fmt.Sprintf("%d of %d actors", c.bad, c.actors), func(t *testing.T) {
			scene(t, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
				actors := c.actors
				var bad []string
				for n := range c.bad {
					bad = append(bad, event(fmt.Sprintf("cam%d", n), n).ID)
				}
				svc.set(func(ev vms.Event) error {
					if slices.Contains(bad, ev.ID) {
						return away(502, 0)
					}
					return nil
				})
				for n := range 40 {
					box.put(event(fmt.Sprintf("cam%d", n%actors), n))
				}
				after(2 * time.Minute)
				require.Equal(t, c.bad*40/actors, box.waiting(), "the other actors went on")
				for n := range 240 { // life goes on
					box.put(event(fmt.Sprintf("cam%d", n%actors), 100+n))
					after(time.Minute)
				}
				require.Zero(t, box.waiting())
				require.Len(t, svc.taken(), 40+240-c.bad)
				for _, id := range bad {
					require.Contains(t, box.parkedFor(id), "set aside")
				}
			})
		})
	}
}

// The same when nothing else was there to be taken before it.
func TestEventThatLooksLikeAnOutageComesFirst(t *testing.T) {
	scene(t, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
		svc.set(func(ev vms.Event) error {
			if ev.ActorID == "bad" {
				return away(502, 0)
			}
			return nil
		})
		box.put(event("bad", 0))
		after(10 * time.Second)
		for n := range 20 {
			box.put(event(fmt.Sprintf("cam%d", n%5), n))
		}
		after(2 * time.Minute)
		require.Len(t, svc.taken(), 20)
		require.Equal(t, 1, box.waiting())
	})
}

// What was read long before its turn is read again: an event that ended meanwhile is sent once,
// with its end.
func TestRenewedBeforeItsTurn(t *testing.T) {
	scene(t, delivery.Options{Concurrency: 1}, func(box *outbox, svc *service, _ *delivery.Engine) {
		svc.latency = 400 * time.Millisecond
		for n := range 8 {
			box.put(event(fmt.Sprintf("cam%d", n), 0))
		}
		after(1500 * time.Millisecond)
		last := event("cam7", 0)
		last.EndTimestamp = vms.Ptr(last.StartTimestamp.Add(time.Second))
		box.put(last)
		after(10 * time.Second)
		require.Zero(t, box.waiting())
		require.Len(t, svc.took, 8)
		require.False(t, svc.took[7].Ongoing())
	})
}

func TestRegistrationRefused(t *testing.T) {
	register := func(context.Context) error {
		return &vms.RefusedError{Code: 404, Reason: vms.ReasonEndpoint, Message: "no such endpoint"}
	}
	sceneOf(t, register, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
		svc.set(func(vms.Event) error {
			return &vms.RefusedError{Code: 404, Reason: vms.ReasonResource, Message: "no camera"}
		})
		box.put(event("a", 1))
		after(time.Second)
		require.Contains(t, box.parkedFor(event("a", 1).ID), "no camera")
	})
}

// An event that is renewed while it is on its way is sent again in its new form.
func TestRenewedWhileSending(t *testing.T) {
	scene(t, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
		svc.latency = time.Second
		ev := event("a", 1)
		box.put(ev)
		after(time.Second / 2)
		ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(3 * time.Second))
		box.put(ev)
		after(5 * time.Second)
		require.Zero(t, box.waiting())
		require.Len(t, svc.took, 2)
		require.True(t, svc.took[0].Ongoing())
		require.False(t, svc.took[1].Ongoing())
	})
}

func TestStopLetsARequestFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, svc := newOutbox(), &service{latency: 2 * time.Second}
		r := engine(box, svc, nil, delivery.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		box.put(event("a", 1))
		box.put(event("a", 2))
		after(time.Second / 2) // before the second event may overtake the first
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		require.Len(t, svc.taken(), 1, "the one under way, not the next")
		require.Equal(t, 1, box.waiting())
	})
}

func TestStopCutsAHangingRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, svc := newOutbox(), &service{latency: time.Hour}
		r := engine(box, svc, nil, delivery.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		box.put(event("a", 1))
		after(time.Second)
		began := time.Now()
		cancel()
		<-done
		require.Equal(t, 5*time.Second, time.Since(began))
		require.Equal(t, 1, box.waiting())
	})
}

func TestBrokenOutbox(t *testing.T) {
	scene(t, delivery.Options{}, func(box *outbox, svc *service, r *delivery.Engine) {
		box.mu.Lock()
		box.peekErr = errors.New("disk on fire")
		box.mu.Unlock()
		box.put(event("a", 1))
		after(time.Minute)
		require.Contains(t, r.Status().LastError, "disk on fire")
		require.Less(t, box.peeks, 80)
		box.mu.Lock()
		box.peekErr = nil
		box.mu.Unlock()
		after(2 * time.Second)
		require.Zero(t, box.waiting())
	})
}
