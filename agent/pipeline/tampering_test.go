package pipeline

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/camera/clip"
	"vmsbridge/configs"
	"vmsbridge/motion"
	"vmsbridge/motion/tamper"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

// spoilt is a scene in which someone tampers, as an MJPEG camera sends it, and when.
func spoilt(t *testing.T, name string, seed uint64) ([]camera.AccessUnit, clip.Tampering) {
	t.Helper()
	film := clip.Draw(t, "--scene", name, "--seed", fmt.Sprint(seed), "--codec", "mjpeg", "--size", "320x176", "--fps",
		"10")
	require.Len(t, film.Tampering, 1)
	return unitsOf(film), film.Tampering[0]
}

func ofType(events []vms.Event, kind string) (out []vms.Event) {
	for _, ev := range events {
		if ev.Type == kind {
			out = append(out, ev)
		}
	}
	return out
}

// reason is what a tamper event says was done.
func reason(t *testing.T, ev vms.Event) string {
	t.Helper()
	var info vms.CreatorInfo
	require.Equal(t, vms.SchemaCreatorDetails, ev.Data[0].Type)
	require.NoError(t, ev.Data[0].Into(&info))
	return info.Reason
}

func TestTamperingBecomesAnEventWithItsStill(t *testing.T) {
	for _, name := range []string{"covered", "defocused", "frozen"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			units, truth := spoilt(t, name, 2)
			began := -1
			for i, u := range units {
				b.unit(t.Context(), u)
				if _, open := b.spans[viewKey]; open && began < 0 {
					began = i
					require.LessOrEqual(t, u.Time.Sub(epoch), truth.Start+10*time.Second)
					ev := ofType(b.events(t), vms.TypeTamper)[0]
					require.True(t, ev.Ongoing())
					require.Equal(t, name, reason(t, ev))
					require.Equal(t, name, b.Tampered().String())
					require.Equal(t, 1.0, testutil.ToFloat64(b.deps.Metrics.tampered.WithLabelValues("c")))
					// Its picture is there by the time it is heard of.
					op, moment := stills.Before, ev.StartTimestamp.Add(imageDelay)
					if name == "frozen" {
						op, moment = stills.AtOrBefore, u.Time
					}
					for _, kind := range []stills.Kind{stills.Preview, stills.Main} {
						s, err := b.ring.Find("c", kind, op, moment)
						require.NoError(t, err)
						require.WithinDuration(t, moment, s.Time, imageDelay)
					}
				}
			}
			require.Positive(t, began)
			b.close()
			events := ofType(b.events(t), vms.TypeTamper)
			require.Len(t, events, 1)
			ev := events[0]
			require.Empty(t, vms.Check(ev))
			require.False(t, ev.Ongoing())
			require.Equal(t, vms.CreatorMotion, ev.CreatorID, "so that the start after a crash ends it")
			// Not before it begins to show, but for two looks of the watch.
			require.WithinRange(t, ev.StartTimestamp.Time, epoch.Add(truth.From-time.Second),
				epoch.Add(truth.Start+2*time.Second))
			require.WithinDuration(t, epoch.Add(truth.End), ev.EndTimestamp.Time, 3*time.Second)
			require.Equal(t, name, reason(t, ev))
			require.Equal(t, tamper.None, b.Tampered())
			require.Equal(t, 0.0, testutil.ToFloat64(b.deps.Metrics.tampered.WithLabelValues("c")))
		})
	}
}

func TestTamperingCanBeTurnedOff(t *testing.T) {
	b := newBench(t, func(c *configs.Config) { c.Cameras[0].Motion.Tamper = false })
	units, _ := spoilt(t, "covered", 2)
	for _, u := range units {
		b.unit(t.Context(), u)
	}
	b.close()
	require.Empty(t, ofType(b.events(t), vms.TypeTamper))
}

// A lost stream ends the span, and so does a bug that costs the pipeline its watch.
func TestTamperSpansNeverStayOpen(t *testing.T) {
	units, _ := spoilt(t, "covered", 2)
	open := func(t *testing.T) *bench {
		b := newBench(t, nil)
		for _, u := range units {
			if b.unit(t.Context(), u); len(ofType(b.events(t), vms.TypeTamper)) > 0 {
				return b
			}
		}
		require.FailNow(t, "nothing was found")
		return nil
	}
	check := func(t *testing.T, b *bench) {
		events := ofType(b.events(t), vms.TypeTamper)
		require.Len(t, events, 1)
		require.False(t, events[0].Ongoing())
		require.Equal(t, tamper.None, b.Tampered())
	}
	t.Run("stream lost", func(t *testing.T) {
		b := open(t)
		b.status(t.Context(), camera.Status{State: camera.Disconnected, Reason: "away", Since: at(29_000)})
		check(t, b)
	})
	t.Run("panic", func(t *testing.T) {
		b := open(t)
		b.view.watch = &tamper.Watch{} // a bug: it knows nothing, and ends nothing
		b.close()
		check(t, b)
	})
}

// While the view is covered, one span of motion in the minute is enough; what goes on when it is
// free again is told.
func TestMotionBehindACoverIsNoStorm(t *testing.T) {
	b := newBench(t, nil)
	change := func(k motion.ChangeKind, ms int) {
		b.report([]motion.Change{{Kind: k, Start: at(ms), Last: at(ms + 900), Object: "1"}})
	}
	motions := func() int { return len(ofType(b.events(t), vms.TypeMotion)) }
	view := func(k tamper.Kind, r tamper.Reason) {
		b.reportView([]tamper.Change{{Kind: k, Reason: r, Start: at(0), Last: at(200_000)}})
	}
	view(tamper.Began, tamper.Covered)
	for ms := 1000; ms < 120_000; ms += 2000 {
		change(motion.Began, ms)
		change(motion.Ended, ms)
	}
	require.Equal(t, 2, motions(), "of sixty in two minutes")
	require.Equal(t, 58.0, testutil.ToFloat64(b.deps.Metrics.withheld.WithLabelValues("c")))
	change(motion.Began, 120_500)
	require.Equal(t, 2, motions())
	view(tamper.Ended, tamper.Covered)
	require.Equal(t, 3, motions(), "it still goes on")
	change(motion.Ended, 120_500)
	for _, ev := range ofType(b.events(t), vms.TypeMotion) {
		require.False(t, ev.Ongoing())
	}
	view(tamper.Began, tamper.Turned)
	for ms := 200_000; ms < 210_000; ms += 2000 {
		change(motion.Began, ms)
		change(motion.Ended, ms)
	}
	require.Equal(t, 8, motions(), "a camera that was turned sees well")
}
