package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// opens is Options.Open that asks f.
func opens(f func() error) func(context.Context) (<-chan delivery.Verdict, delivery.Verdict) {
	return func(context.Context) (<-chan delivery.Verdict, delivery.Verdict) { return nil, client.Verdict(f()) }
}

// Something that happens as the link returns does not wait for the pause to end, nor for the
// backlog: it is taken within two seconds, wherever in the pause that is.
func TestFreshAsTheLinkReturns(t *testing.T) {
	for _, moment := range []time.Duration{0, 300 * time.Millisecond, 1100 * time.Millisecond, 5 * time.Second,
		13 * time.Second} {
		for _, greets := range []bool{false, true} {
			t.Run(fmt.Sprint(moment, greets), func(t *testing.T) {
				var back atomic.Bool
				gone := func() error {
					if back.Load() {
						return nil
					}
					return away(0, 0)
				}
				o := delivery.Options{}
				if greets { // the bridge was started during the outage
					o.Open = opens(func() error { return gone() })
				}
				scene(t, o, func(box *outbox, svc *service, r *delivery.Engine) {
					svc.answer, svc.latency = func(vms.Event) error { return gone() }, 50*time.Millisecond
					for n := range 1200 {
						box.put(event("cam0", n))
					}
					after(30*time.Minute + moment)
					require.Contains(t, []delivery.State{delivery.Waiting, delivery.Sending}, r.Status().State,
						"the pauses have jitter: it may be at one of its tries")
					back.Store(true)
					for n := range 3 {
						ev := event("cam0", 10_000+n)
						box.put(ev)
						after(2 * time.Second)
						require.True(t, slices.Contains(svc.taken(), ev.ID), "the %d. event", n+1)
					}
					require.Greater(t, box.waiting(), 900, "the backlog is still there")
				})
			})
		}
	}
}

// What is new does not hurry a service that asks to wait, and tries one that is away at the rate of
// the first pause at most.
func TestHurryIsBounded(t *testing.T) {
	for _, c := range []struct {
		err  error
		most int
	}{{away(429, 10*time.Minute), 2}, {away(503, 0), 50}, {away(0, 0), 200 * 4 / 3}} {
		scene(t, delivery.Options{}, func(box *outbox, svc *service, _ *delivery.Engine) {
			svc.set(func(vms.Event) error { return c.err })
			for n := range 800 {
				box.put(event("cam0", n))
				after(250 * time.Millisecond)
			}
			require.LessOrEqual(t, svc.attempts(), c.most+1, "%v", c.err)
		})
	}
}

// No event is sent before the service was greeted, and whatever keeps it from that is as if it kept
// events.
func TestGreetsFirst(t *testing.T) {
	answers := []error{away(503, 0), &vms.UnauthorizedError{Message: "no"}, &vms.RefusedError{Code: 409},
		&vms.ForbiddenError{}, errors.New("no way"), nil}
	var asked atomic.Int64
	o := delivery.Options{Open: opens(func() error { return answers[asked.Add(1)-1] })}
	scene(t, o, func(box *outbox, svc *service, r *delivery.Engine) {
		box.put(event("cam0", 0))
		for asked.Load() < int64(len(answers)) {
			require.Zero(t, svc.attempts())
			after(100 * time.Millisecond)
			if asked.Load() == 2 {
				require.Equal(t, delivery.Unauthorized, r.Status().State)
			}
		}
		after(time.Second)
		require.Zero(t, box.waiting())
		require.Equal(t, delivery.Idle, r.Status().State)
		after(time.Hour)
		require.EqualValues(t, len(answers), asked.Load())
	})
}
