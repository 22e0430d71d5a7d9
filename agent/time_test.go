package agent

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/archive"
	"vmsbridge/agent/health"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/vms"
)

var long1970 = -time.Since(time.Unix(100, 0))

// Every way in which a machine's clock is wrong and becomes right, through the whole bridge: real
// cameras, real decoders, real stores, a real service. The bridges run side by side.
func TestEveryRecordGetsItsRightTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	untrueFirst := func(wrong time.Duration, set func(*quartz)) func(*testing.T) {
		return func(t *testing.T) {
			t.Parallel()
			b := w.box(t, &quartz{id: "a", booted: time.Now(), wrong: wrong})
			stop := b.start()
			b.rests(1)
			b.moves()
			b.silent()
			require.NotEmpty(t, b.agent.clock.Problem())
			set(b.m) // in the midst of a span
			b.isTrue()
			b.rests(2)
			b.told(2)
			stop()
			b.judge(nil, nil).within(t)
		}
	}
	sync := func(q *quartz) { q.set(0, true) }
	hour := time.Hour
	t.Run("boot in 1970, then NTP", untrueFirst(long1970, sync))
	t.Run("boot three days ago, then NTP", untrueFirst(-72*hour, sync))
	t.Run("boot three days ago, then set by hand", untrueFirst(-72*hour, func(q *quartz) { q.set(0, false) }))
	t.Run("an hour late, then a step forward", untrueFirst(-hour, sync))
	t.Run("an hour early, then a step back", untrueFirst(hour, sync))
	for name, by := range map[string]time.Duration{"true, an hour forward and back": hour,
		"true, an hour back and forward": -hour, "true, a day forward and back": 24 * hour,
		"true, a day back and forward": -24 * hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := w.box(t, &quartz{id: "a", booted: time.Now(), synced: true})
			stop := b.start()
			b.moves()
			require.Empty(t, clockProblems(b.agent))
			b.office.goes(true)
			b.m.set(by, false)
			b.eventually("status to tell of the step", func() bool { return len(clockProblems(b.agent)) == 1 })
			told := clockProblems(b.agent)[0]
			way := map[bool]string{true: " ahead of", false: " behind"}[by > 0]
			require.Contains(t, told.Text, by.Abs().String()+way)
			require.Contains(t, told.Hint, "NTP")
			b.rests(1)
			b.moves()
			b.m.set(0, true)
			b.eventually("status to tell of it no more", func() bool { return len(clockProblems(b.agent)) == 0 })
			b.rests(2)
			b.office.goes(false)
			b.told(2)
			stop()
			b.judge(nil, nil).within(t)
		})
	}
	for name, by := range map[string]time.Duration{"NTP sets it two hours forward": 2 * hour,
		"NTP sets it an hour back": -hour} {
		t.Run(name+" while the service is away", func(t *testing.T) {
			t.Parallel()
			b := w.box(t, &quartz{id: "a", booted: time.Now(), synced: true})
			stop := b.start()
			b.rests(1)
			b.moves() // and goes on
			b.office.goes(true)
			step := time.Now()
			b.m.set(by, true)
			ended := 0
			b.eventually("a motion in the new time", func() bool {
				q := vms.Query{PageSize: 1000, Types: []string{vms.TypeMotion}}
				page, err := b.agent.archive.Journal.List(q, nil)
				require.NoError(t, err)
				all := slices.DeleteFunc(page.Events, vms.Event.Ongoing)
				ended = len(all)
				return slices.ContainsFunc(all, func(ev vms.Event) bool {
					return ev.StartTimestamp.Sub(step).Abs() > by.Abs()/2
				})
			})
			b.office.goes(false)
			b.told(ended)
			stop()
			b.stepped(step, by)
		})
	}
	t.Run("a quartz that is 0.8 % off", func(t *testing.T) { // 200 ppm over 40 times as long
		t.Parallel()
		b := w.box(t, &quartz{id: "a", booted: time.Now(), synced: true, drift: 0.008})
		stop := b.start()
		b.rests(2)
		b.told(2)
		stop()
		b.judge(nil, nil).within(t)
	})
	t.Run("a leap second", func(t *testing.T) {
		t.Parallel()
		b := w.box(t, &quartz{id: "a", booted: time.Now(), synced: true})
		stop := b.start()
		b.moves()
		leap := time.Now()
		b.m.set(-time.Second, true) // Linux says 23:59:59 once more
		b.rests(2)
		b.told(2)
		stop()
		b.judge(func(at time.Time) (time.Time, bool) {
			switch {
			case at.Before(leap):
				return at, true
			case at.Before(leap.Add(time.Second)):
				return leap, false // 23:59:60, which no clock of ours can show
			}
			return at.Add(-time.Second), true
		}, nil).within(t)
	})
	t.Run("two runs in a boot, then NTP", func(t *testing.T) {
		t.Parallel()
		b := w.box(t, &quartz{id: "a", booted: time.Now(), wrong: -72 * hour})
		stop := b.start()
		b.moves()
		stop()
		b.silent()
		stop = b.start()
		b.rests(2) // the first run's among them
		b.silent()
		b.m.set(0, true)
		b.isTrue()
		b.rests(3)
		b.told(3)
		require.Zero(t, b.agent.clock.State().Unplaced)
		stop()
		b.judge(nil, nil).within(t)
	})
	t.Run("two boots, then NTP", func(t *testing.T) {
		t.Parallel()
		b := w.box(t, &quartz{})
		b.m.reboot("a", time.Unix(100, 0))
		stop := b.start()
		b.moves()
		stop()
		b.silent()
		b.rough = 1
		b.m.reboot("b", time.Unix(100, 0))
		stop = b.start()
		b.rests(2) // the first boot's among them
		b.silent()
		b.m.set(0, true)
		b.isTrue()
		require.NotZero(t, b.agent.clock.State().Unplaced)
		b.moves()
		b.rests(3)
		b.told(3)
		stop()
		uncertain := 0
		v := b.judge(nil, func(ev vms.Event) bool {
			var d struct {
				Time *struct{ Certain bool }
			}
			for _, item := range ev.Data {
				if item.Type == vms.SchemaCreatorDetails {
					require.NoError(t, item.Into(&d))
				}
			}
			if d.Time == nil {
				return false
			}
			uncertain++
			require.False(t, d.Time.Certain)
			late := ev.EndTimestamp.Sub(b.ended[0])
			require.Less(t, late, b.began[1].Sub(b.ended[0])+exact, "no later than the next boot")
			t.Logf("of the first boot: %s", ev.ID)
			return true
		})
		require.NotZero(t, uncertain)
		v.within(t)
	})
}

// clockProblems are those that status tells of the clock.
func clockProblems(a *Agent) (found []health.Problem) {
	for _, p := range a.Status().Problems {
		if p.Kind == health.Clock {
			found = append(found, p)
		}
	}
	return found
}

// A camera's own clock is 4800 ppm slow, in seconds what others are in hours. Its pictures' times
// follow their arrival: beside a camera that shows the same at the right pace, the difference
// stays.
func TestACamerasClockDrifts(t *testing.T) {
	t.Parallel()
	right := newWorld(t)
	slow := newWorld(t, "--misbehave", "drift=4800")
	b := slow.box(t, &quartz{id: "a", booted: time.Now(), synced: true})
	stop := b.start()
	b.rests(4) // three may be over within 14 seconds, and then drift is less than the bound
	stop()
	r, err := stills.Open(filepath.Join(b.cfg.Bridge.Data, archive.StillsDir),
		stills.Options{MaxBytes: int64(b.cfg.Stills.MaxSize), SegmentBytes: int64(b.cfg.Stills.SegmentSize)})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	frames, _, err := r.Range("gate", stills.Preview, b.began[0].Add(2*time.Second), time.Now(), 0)
	require.NoError(t, err)
	var ahead []time.Duration // of what the other camera showed at the same point of its loop
	for _, f := range frames {
		s, err := r.Find("gate", stills.Preview, stills.At, f.Time)
		require.NoError(t, err)
		ahead = append(ahead, right.error(t, s.JPEG, s.Time))
	}
	require.Greater(t, len(ahead), 12)
	middle := func(list []time.Duration) time.Duration { return slices.Sorted(slices.Values(list))[len(list)/2] }
	grown := middle(ahead[len(ahead)-5:]) - middle(ahead[:5])
	passed := frames[len(frames)-3].Time.Sub(frames[2].Time)
	t.Logf("worst error: %d ms in %s; %d ms by the camera's clock alone", grown.Abs().Milliseconds(),
		passed.Round(time.Second), (passed * 48 / 10000).Milliseconds())
	require.Greater(t, passed, 14*time.Second)
	require.LessOrEqual(t, grown.Abs(), 60*time.Millisecond)
}
