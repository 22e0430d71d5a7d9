package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/cmd/vmscloud/presence"
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

// watched is the book of a service with the bridge b1 and its cameras c1 and c2, in a synctest
// bubble. Times are seconds since its start.
type watched struct {
	*ledger
	t     testing.TB
	dir   string
	door  door
	from  time.Time
	token string
	ahead atomic.Int64            // of the service's clock, in nanoseconds
	asked func([]vms.Event) error // before events are stored; nil: nothing is asked
	stop  func()
}

func newWatched(t testing.TB) *watched {
	w := &watched{t: t, dir: t.TempDir(), from: time.Now().UTC(), token: "first"}
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

// online has the bridge, its tunnel and both cameras there from the beginning.
func (w *watched) online() *watched {
	w.register(on, on)
	w.presence.TunnelStands(box)
	w.status("c1", on, 0, -1)
	w.status("c2", on, 0, -1)
	return w
}

// seen is when the bridge was last heard of.
func (w *watched) seen() time.Time { return w.presence.LastSeen(box.Account, box.Actor.ID).UTC() }

// start opens the files as the service does.
func (w *watched) start() {
	j, err := journal.Open(filepath.Join(w.dir, eventsFile), journal.Options{})
	require.NoError(w.t, err)
	r, err := registry.Open(filepath.Join(w.dir, registryFile))
	require.NoError(w.t, err)
	w.ledger = &ledger{Journal: j, registry: r, log: slog.New(slog.DiscardHandler), feed: feed.New()}
	if w.asked != nil {
		w.ledger.Journal = &askedJournal{j, w.asked}
	}
	w.ledger.presence, err = watchBridges(w.ledger, r, w.clock, w.log)
	require.NoError(w.t, err)
	r.Away = w.presence.Away
	kept, err := openMarks(w.ledger)
	require.NoError(w.t, err)
	ids, err := openUsers(w.dir, store.Options{})
	require.NoError(w.t, err)
	w.door = door{r, kept, w.presence, ids}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.presence.Run(ctx) }()
	w.stop = func() {
		cancel()
		<-done
		require.NoError(w.t, j.Close())
		require.NoError(w.t, r.Close())
		require.NoError(w.t, ids.Close())
	}
}

// clock is what the service's clock shows.
func (w *watched) clock() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

func (w *watched) register(statuses ...string) {
	w.t.Helper()
	reg := vms.Registration{ID: "b1", Name: "Box", ImageToken: w.token}
	for i, s := range statuses {
		reg.Cameras = append(reg.Cameras, vms.RegisteredCamera{ID: []string{"c1", "c2"}[i], ConnectionStatus: s})
	}
	require.NoError(w.t, w.door.Register(w.t.Context(), principal("acc-1"), reg))
}

var box = presence.BridgeOf("acc-1", "b1")

func (w *watched) at(second float64) time.Time {
	return w.from.Add(time.Duration(second * float64(time.Second)))
}

// until lets time pass.
func (w *watched) until(second float64) {
	time.Sleep(time.Until(w.at(second)))
	synctest.Wait()
}

// tell reports what a bridge does of a camera: to < 0 for what goes on.
func (w *watched) tell(camera, kind, status string, from, to float64) {
	w.t.Helper()
	ev := motion("acc-1", camera, 0)
	ev.Type, ev.StartTimestamp = kind, vms.At(w.at(from))
	if status != "" {
		ev.CreatorID = vms.CreatorHealth
		ev.SetData(vms.DeviceCloudStatusUpdate("", status))
	}
	if to >= 0 {
		ev.EndTimestamp = vms.Ptr(w.at(to))
	}
	ev.ID = ev.NaturalID()
	require.NoError(w.t, w.Put(ev, false))
}

func (w *watched) status(camera, status string, from, to float64) {
	w.t.Helper()
	w.tell(camera, vms.TypeDeviceStatus, status, from, to)
}

// timeline is the status events of a device in their order, such as "online 0..3.5", what was
// before them, and whether they were cut off.
func (w *watched) timeline(kind, id string) (out []string) {
	w.t.Helper()
	page, err := w.List(vms.Query{Actors: []vms.Actor{{Type: kind, ID: id, Account: "acc-1"}},
		Types: []string{vms.TypeDeviceStatus}, Ascending: true, PageSize: 100}, nil)
	require.NoError(w.t, err)
	for _, ev := range page.Events {
		line := newStatus(ev) + " " + w.spell(ev)
		for _, d := range ev.Data {
			var s struct {
				ConnectionStatus string   `json:"connectionStatus"`
				StartTimestamp   vms.Time `json:"startTimestamp"`
				Duration         int64    `json:"duration"`
			}
			if d.Type == vms.SchemaPreviousStatus && d.Into(&s) == nil {
				require.Equal(w.t, ev.StartTimestamp.Sub(s.StartTimestamp.Time).Milliseconds(), s.Duration)
				line += " after " + s.ConnectionStatus + " " + w.since(s.StartTimestamp)
			}
		}
		out = append(out, line)
	}
	return out
}

// spell is when an event was, and whether it was cut off.
func (w *watched) spell(ev vms.Event) string {
	line := w.since(ev.StartTimestamp) + ".."
	if !ev.Ongoing() {
		line += w.since(*ev.EndTimestamp)
	}
	if presence.IsCut(ev) {
		line += " cut"
	}
	return line
}

func (w *watched) since(t vms.Time) string {
	return strconv.FormatFloat(t.Sub(w.from).Round(time.Millisecond).Seconds(), 'f', -1, 64)
}

// motion is the camera's only motion event.
func (w *watched) motion(camera string) string {
	w.t.Helper()
	page, err := w.List(vms.Query{Actors: []vms.Actor{{Type: vms.ActorCamera, ID: camera, Account: "acc-1"}},
		Types: []string{vms.TypeMotion}, PageSize: 9}, nil)
	require.NoError(w.t, err)
	require.Len(w.t, page.Events, 1)
	return w.spell(page.Events[0])
}

// statuses are those of the cameras as they are listed.
func (w *watched) statuses() (out []string) {
	w.t.Helper()
	for _, id := range w.registry.CameraIDs("acc-1", "") {
		c, ok := w.registry.CameraOf("acc-1", id)
		require.True(w.t, ok)
		out = append(out, c.Status.ConnectionStatus)
	}
	return out
}

const (
	on, off, gone = vms.StatusOnline, vms.StatusDeviceOffline, vms.StatusBridgeOffline
)

// The box loses its power in the midst of a motion. Within ten seconds of its tunnel's end the
// events say so, and the lists. When it is back, the spans meet, and the motion has its true end.
func TestABoxThatLosesItsPower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t)
		w.register(on, on)
		w.presence.TunnelStands(box)
		w.status("c1", on, 0.5, -1)
		w.status("c2", off, 0.25, -1)
		w.tell("c1", vms.TypeMotion, "", 90, -1)
		follower := w.feed.Follow()
		w.until(100)
		require.Equal(t, w.at(100), w.seen())
		w.presence.TunnelEnded(box, w.at(100))
		w.until(100.5)
		w.tell("c2", vms.TypeMotion, "", 99, 99.5) // was under way
		w.until(106)
		require.Equal(t, w.at(100), w.seen())
		require.Equal(t, []string{"online 0.."}, w.timeline("bridge", "b1"), "it may dial again")
		w.until(110)
		require.Equal(t, []string{"online 0..100", "bridgeOffline 100.. after online 0"}, w.timeline("bridge", "b1"))
		require.Equal(t, []string{"online 0.5..100 cut", "bridgeOffline 100.. after online 0.5"},
			w.timeline("camera", "c1"))
		require.Equal(t, []string{"deviceOffline 0.25..100 cut", "bridgeOffline 100.. after deviceOffline 0.25"},
			w.timeline("camera", "c2"))
		require.Equal(t, "90..100 cut", w.motion("c1"))
		require.Equal(t, "99..99.5", w.motion("c2"))
		require.Equal(t, []string{gone, gone}, w.statuses())
		var told []string
		for len(told) < 8 {
			batch, err := follower.Next(t.Context())
			require.NoError(t, err)
			for _, x := range batch {
				told = append(told, x.Event.ActorID)
			}
		}
		require.Equal(t, 2, len(slices.DeleteFunc(told, func(id string) bool { return id != "b1" })),
			"subscribers are told")

		w.until(200)
		require.Equal(t, []string{gone, gone}, w.statuses(), "it stays so")
		require.Equal(t, w.at(100), w.seen())
		w.token = "second" // it starts anew
		w.register(vms.StatusUnknown, vms.StatusUnknown)
		w.presence.TunnelStands(box)
		w.status("c1", on, 0.5, 60) // its last note of it
		w.tell("c1", vms.TypeMotion, "", 90, 97)
		w.until(203)
		w.status("c1", on, 202, -1)
		require.Equal(t, []string{on, gone}, w.statuses())
		w.until(204)
		w.status("c2", off, 0.25, 60)
		w.status("c2", on, 199.5, -1)
		require.Equal(t, []string{on, on}, w.statuses())
		w.until(400)
		require.Equal(t, []string{"online 0..100", "bridgeOffline 100..200 after online 0",
			"online 200.. after bridgeOffline 100"}, w.timeline("bridge", "b1"))
		require.Equal(t, []string{"online 0.5..100 cut", "bridgeOffline 100..202 after online 0.5",
			"online 202.. after bridgeOffline 100"}, w.timeline("camera", "c1"))
		require.Equal(t, []string{"deviceOffline 0.25..100 cut", "bridgeOffline 100..199.5 after deviceOffline 0.25",
			"online 199.5.. after bridgeOffline 100"}, w.timeline("camera", "c2"))
		require.Equal(t, "90..97", w.motion("c1"), "the true end")
	})
}

// A link swallows everything: the tunnel ended six seconds after the bridge was last heard of, and
// three seconds later the events say so. A bridge that dials again at once was never away.
func TestASilentTunnel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t).online()
		w.until(56)
		w.presence.TunnelEnded(box, w.at(50))
		w.until(57)
		w.presence.TunnelStands(box)
		w.until(80)
		require.Equal(t, []string{on, on}, w.statuses())
		w.presence.TunnelEnded(box, w.at(74))
		w.until(81)
		require.Equal(t, []string{on, on}, w.statuses(), "it may dial again")
		w.until(84)
		require.Equal(t, []string{gone, gone}, w.statuses())
		require.Equal(t, []string{"online 0..74", "bridgeOffline 74.. after online 0"}, w.timeline("bridge", "b1"))
	})
}

// A link is so slow that a tunnel's signs of life come too late behind other things, again and
// again, while the bridge's reports come in: it was never away. When they stop, it is.
func TestALinkThatIsTooSlowForATunnel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t).online()
		w.until(56)
		w.presence.TunnelEnded(box, w.at(50))
		for s := 57.9; s < 90; s += 15 {
			w.until(s)
			w.tell("c1", vms.TypeMotion, "", s-2, s-1)
		}
		w.presence.TunnelStands(box)
		w.until(95.5)
		w.tell("c1", vms.TypeMotion, "", 92, 93)
		w.until(96)
		w.presence.TunnelEnded(box, w.at(90))
		w.until(115)
		require.Equal(t, []string{"online 0.."}, w.timeline("bridge", "b1"))
		require.Equal(t, []string{"online 0.."}, w.timeline("camera", "c1"))
		w.until(117)
		require.Equal(t, []string{"online 0..95.5", "bridgeOffline 95.5.. after online 0"}, w.timeline("bridge", "b1"))
		w.presence.TunnelStands(box)
		w.until(203)
		w.tell("c1", vms.TypeMotion, "", 202, 202.5)
		w.until(206)
		w.presence.TunnelEnded(box, w.at(200)) // between two signs of its life: the link is fast
		w.until(211)
		require.Len(t, w.timeline("bridge", "b1"), 4)
		require.Equal(t, "bridgeOffline 203.. after online 117", w.timeline("bridge", "b1")[3])
	})
}

// A link that is cut: the bridge runs on, and its cameras stay as they are, or not.
func TestALinkThatIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t).online()
		w.tell("c1", vms.TypeMotion, "", 5, -1)
		w.until(50)
		w.presence.TunnelEnded(box, w.at(10)) // noticed by the silence
		w.until(100)
		require.Equal(t, []string{gone, gone}, w.statuses())
		w.presence.TunnelStands(box)
		w.register(on, off)
		w.until(101)
		require.Equal(t, []string{on, gone}, w.statuses(), "the second one's event is on its way")
		w.status("c2", on, 0, 60)
		w.status("c2", off, 60, -1)
		w.tell("c1", vms.TypeMotion, "", 5, -1) // again, since its answer was lost: it goes on
		require.Equal(t, "5..", w.motion("c1"))
		require.Equal(t, []string{on, off}, w.statuses())
		w.until(300)
		w.status("c1", on, 0, 250)
		w.status("c1", off, 250, -1)
		w.tell("c1", vms.TypeMotion, "", 5, 20)
		require.Equal(t, []string{"online 0..10 cut", "bridgeOffline 10..100 after online 0",
			"online 100..250 after bridgeOffline 10", "deviceOffline 250.."},
			w.timeline("camera", "c1"))
		require.Equal(t, []string{"online 0..10 cut", "bridgeOffline 10..60 after online 0",
			"deviceOffline 60.. after bridgeOffline 10"}, w.timeline("camera", "c2"))
		require.Equal(t, []string{off, off}, w.statuses())
		require.Equal(t, "5..20", w.motion("c1"))
	})
}

// A bridge that is back within its moment makes no event: after a goodbye, after a tunnel that
// broke, without a tunnel, and over a start of the service.
func TestABridgeThatIsBackInTimeWasNeverAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t)
		w.register(on, on)
		w.presence.TunnelStands(box)
		w.status("c1", on, 0, -1)
		w.until(10)
		w.presence.Left(box)
		w.presence.TunnelEnded(box, time.Now())
		w.until(39)
		w.register(vms.StatusUnknown, vms.StatusUnknown)
		w.presence.TunnelStands(box)
		require.Equal(t, []string{on, on}, w.statuses())
		w.until(100)
		w.presence.TunnelEnded(box, time.Now()) // the goodbye was for once
		w.until(106)
		w.presence.TunnelStands(box)
		w.until(200)
		w.presence.TunnelStands(box) // replaces the one before
		w.presence.TunnelEnded(box, time.Now())
		w.until(500)
		w.presence.TunnelEnded(box, time.Now())
		w.until(502)
		w.register(on, on) // its tunnel is shut out
		for s := 520.0; s < 900; s += 60 {
			w.until(s)
			w.register(on, on)
		}
		w.stop()
		time.Sleep(time.Hour)
		w.start()
		w.until(4600)
		w.register(on, on)
		w.until(4700)
		require.Equal(t, []string{"online 0.."}, w.timeline("bridge", "b1"))
		require.Equal(t, []string{"online 0.."}, w.timeline("camera", "c1"))
		require.Equal(t, []string{on, on}, w.statuses())
		w.until(4780)
		require.Equal(t, []string{"online 0..4600", "bridgeOffline 4600.. after online 0"}, w.timeline("bridge", "b1"),
			"three minutes after its last word")
		w.register(on, on)
		w.until(4790)
		w.presence.Left(box)
		w.until(4822)
		require.Len(t, w.timeline("bridge", "b1"), 4, "half a minute after a goodbye")
	})
}

// An outage holds over a start of the service, which also finds who died while it did not run.
func TestAnOutageHoldsOverAStartOfTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t).online()
		w.until(100)
		w.stop()
		time.Sleep(time.Minute)
		w.start() // at 160
		require.Zero(t, w.seen(), "not since the start")
		require.Equal(t, []string{on, on}, w.statuses())
		w.until(345)
		away := []string{"online 0..100", "bridgeOffline 100.. after online 0"}
		require.Equal(t, away, w.timeline("bridge", "b1"), "it was there when the service last ran")
		w.stop()
		time.Sleep(time.Minute)
		w.start()
		require.Equal(t, []string{gone, gone}, w.statuses())
		require.Equal(t, w.at(100), w.seen())
		w.until(1000)
		require.Equal(t, away, w.timeline("bridge", "b1"))
		w.register(on, on)
		require.Equal(t, w.at(1000), w.seen())
		w.until(1001)
		require.Equal(t, []string{"online 0..100 cut", "bridgeOffline 100..1000 after online 0",
			"online 1000.. after bridgeOffline 100"}, w.timeline("camera", "c1"))
		w.until(1002)
		w.stop()
		w.start()
		w.status("c1", on, 0, 1005)
		w.status("c1", off, 1005, -1)
		require.Equal(t, "online 1000..1005 after bridgeOffline 100", w.timeline("camera", "c1")[2])
		require.Equal(t, []string{off, on}, w.statuses())
	})
}

// The service's clock was an hour ahead, and was set right: what it began itself meanwhile begins
// in the future. What the bridge says of its cameras holds at once, not only when that has passed.
func TestTheServicesClockWasAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t).online()
		w.until(10)
		w.stop()
		w.ahead.Store(int64(time.Hour))
		w.start()
		w.register(on, on)
		w.until(300)
		require.Equal(t, []string{gone, gone}, w.statuses())
		w.stop()
		w.ahead.Store(0)
		w.start()
		w.until(310)
		w.token = "second" // the bridge has started anew, and tells of its cameras itself
		w.register(vms.StatusUnknown, vms.StatusUnknown)
		w.until(312)
		require.Equal(t, []string{gone, gone}, w.statuses())
		w.status("c1", on, 0, 305)
		w.status("c1", off, 312, -1)
		require.Equal(t, []string{off, gone}, w.statuses())
		require.Contains(t, w.timeline("camera", "c1"), off+" 312.. after bridgeOffline 312")
		w.status("c1", off, 312, 320)
		w.status("c1", on, 320, -1)
		require.Equal(t, []string{on, gone}, w.statuses())
		require.Contains(t, w.timeline("camera", "c1"), "online 320..")
	})
}

// The service's clock is set while tunnels stand. Nobody is away for that; who goes away then is
// told of in time, and of a moment of the new time; and the spans meet, but for those that began in
// the future: they have no length.
func TestTheServicesClockIsSet(t *testing.T) {
	for name, by := range map[string]time.Duration{"two seconds forward": 2 * time.Second,
		"two seconds back": -2 * time.Second, "ten minutes forward": 10 * time.Minute,
		"ten minutes back": -10 * time.Minute, "a day forward": 24 * time.Hour, "a day back": -24 * time.Hour,
		"a year forward": 365 * 24 * time.Hour, "a year back": -365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWatched(t).online()
				shown := func(second float64) string { return w.since(vms.At(w.at(second).Add(by))) }
				first := shown(94)
				if by < -94*time.Second {
					first = "0" // it began in the future
				}
				w.until(50)
				w.ahead.Store(int64(by))
				w.until(100)
				require.Equal(t, []string{on, on}, w.statuses())
				require.Equal(t, []string{"online 0.."}, w.timeline("bridge", "b1"))
				w.presence.TunnelEnded(box, time.Now().Add(-6*time.Second)) // noticed by the silence
				w.until(104)
				require.Equal(t, []string{gone, gone}, w.statuses())
				w.until(200)
				w.presence.TunnelStands(box)
				w.register(on, on)
				w.until(202)
				require.Equal(t, []string{on, on}, w.statuses())
				before := "0"
				if by < 0 && first == "0" {
					before = shown(94)
				}
				lines := func(cut string) []string {
					return []string{"online 0.." + first + cut,
						"bridgeOffline " + shown(94) + ".." + shown(200) + " after online " + before,
						"online " + shown(200) + ".. after bridgeOffline " + shown(94)}
				}
				require.ElementsMatch(t, lines(""), w.timeline("bridge", "b1"))
				require.ElementsMatch(t, lines(" cut"), w.timeline("camera", "c1"))

				w.presence.TunnelEnded(box, time.Now())
				w.until(203)
				w.register(on, on) // and is silent from then on
				w.until(300)
				w.ahead.Store(0)
				w.until(382)
				require.Equal(t, []string{on, on}, w.statuses())
				w.until(384)
				require.Equal(t, []string{gone, gone}, w.statuses())
				require.True(t, slices.ContainsFunc(w.timeline("bridge", "b1"), func(line string) bool {
					return strings.HasPrefix(line, "bridgeOffline 203.. after online")
				}), "%q", w.timeline("bridge", "b1"))
			})
		})
	}
}

// The service's machine starts an hour, or a year, before the time at which it stopped, and is set
// right a minute later. Who was away since then is told of from when the service last ran.
func TestTheServicesClockWasBehind(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, -365 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			w := newWatched(t).online()
			w.until(100)
			w.stop()
			w.until(200)
			w.ahead.Store(int64(by))
			w.start()
			w.until(260)
			require.Equal(t, []string{on, on}, w.statuses())
			w.ahead.Store(0)
			w.until(385)
			away := []string{"online 0..100", "bridgeOffline 100.. after online 0"}
			require.Equal(t, away, w.timeline("bridge", "b1"))
			w.presence.TunnelStands(box)
			w.register(on, on)
			w.until(390)
			require.Equal(t, []string{"online 0..100 cut", "bridgeOffline 100..385 after online 0",
				"online 385.. after bridgeOffline 100"}, w.timeline("camera", "c1"))
		})
	}
}

// The bridge's clock is not the service's. What it says of a camera after an outage holds at once,
// in the events and in the lists.
func TestTheBridgesClockIsAnother(t *testing.T) {
	for name, by := range map[string]float64{"ten seconds behind": -10, "ten minutes behind": -600,
		"a day behind": -86400, "ten minutes ahead": 600, "a day ahead": 86400} {
		for _, anew := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", starts anew: ", anew), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWatched(t)
					w.register(on, on)
					w.presence.TunnelStands(box)
					w.status("c1", on, by, -1)
					w.until(100)
					w.presence.TunnelEnded(box, time.Now())
					w.until(110)
					require.Equal(t, gone, w.statuses()[0])
					w.until(200)
					w.presence.TunnelStands(box)
					if anew {
						w.token = "second"
						w.register(vms.StatusUnknown, vms.StatusUnknown)
						w.status("c1", on, by, 60+by)
						w.status("c1", on, 201+by, -1)
					} else {
						w.register(on, on)
					}
					w.until(202)
					require.Equal(t, on, w.statuses()[0])
					begun := 201 + by
					if !anew {
						begun = by
					}
					was := on
					for i, now := range []string{off, on, off} {
						at := 300 + 20*float64(i)
						w.until(at)
						w.status("c1", was, begun, at+by)
						w.status("c1", now, at+by, -1)
						was, begun = now, at+by
						going := 0
						for _, line := range w.timeline("camera", "c1") {
							if strings.Contains(line, ".. ") || strings.HasSuffix(line, "..") {
								require.True(t, strings.HasPrefix(line, now+" "), line)
								going++
							}
						}
						require.Equal(t, 1, going, "%q", w.timeline("camera", "c1"))
						require.Equal(t, now, w.statuses()[0], "at %v", at)
					}
				})
			})
		}
	}
}

// A camera that the bridge no longer has does not stay out of reach for ever, nor one of which a
// bridge that started anew has nothing to report.
func TestCamerasOfWhichNothingIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t)
		w.register(on, on)
		w.status("c1", on, 0, -1)
		w.status("c2", on, 0, -1)
		w.until(200)
		require.Equal(t, []string{gone, gone}, w.statuses())
		w.token = "second"
		w.register(on)
		w.until(201)
		require.Equal(t, []string{gone}, w.statuses())
		for s := 260.0; s < 330; s += 60 {
			w.until(s)
			w.register(on)
		}
		w.until(325)
		require.Equal(t, []string{on}, w.statuses())
		require.Equal(t, "online 200.. after bridgeOffline 0.001", w.timeline("camera", "c1")[2])
		require.Equal(t, "off 200.. after bridgeOffline 0.001", w.timeline("camera", "c2")[2])
	})
}

// A bridge of an account that was deleted makes no more events.
func TestADeletedBridgeIsNotMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t)
		w.register(on, on)
		w.until(1)
		require.NoError(t, w.forget("acc-1"))
		w.until(400)
		require.Empty(t, w.timeline("bridge", "b1"))
	})
}

// askedJournal stores what asked has no error for.
type askedJournal struct {
	Journal
	asked func(events []vms.Event) error
}

func (j *askedJournal) PutAll(events []vms.Event, report bool) error {
	if err := j.asked(events); err != nil {
		return err
	}
	return j.Journal.PutAll(events, report)
}

// The lists know who is away, and who is back, before anybody is told; and not what the book did
// not take.
func TestListsKnowBeforeAnybodyIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatched(t)
		w.stop()
		var full atomic.Bool
		listed := map[string][]string{} // status that is stored → statuses in the lists, and whether the box is away
		w.asked = func(events []vms.Event) error {
			for _, ev := range events {
				if ev.ActorType == vms.ActorBridge && ev.Ongoing() && listed[newStatus(ev)] == nil {
					away := w.presence.Away("acc-1", box.Actor)
					listed[newStatus(ev)] = append(w.statuses(), strconv.FormatBool(away))
				}
			}
			if full.Load() {
				return errors.New("the disk is full")
			}
			return nil
		}
		w.start()
		w.online()
		w.until(10)
		full.Store(true)
		w.presence.TunnelEnded(box, w.at(10))
		w.until(20)
		require.Equal(t, []string{gone, gone, "true"}, listed[gone], "before it is stored and told")
		require.Equal(t, []string{on, on}, w.statuses(), "it was not stored")
		require.Equal(t, []string{"online 0.."}, w.timeline("bridge", "b1"))
		require.Empty(t, w.presence.Outages())
		full.Store(false)
		w.until(30)
		require.Equal(t, []string{gone, gone}, w.statuses())
		require.Equal(t, []string{"online 0..10", "bridgeOffline 10.. after online 0"}, w.timeline("bridge", "b1"))
		full.Store(true)
		delete(listed, on) // of the beginning
		w.presence.TunnelStands(box)
		w.until(35)
		require.Equal(t, "false", listed[on][2], "before it is stored and told")
		require.True(t, w.presence.Away("acc-1", box.Actor), "it was not stored")
		full.Store(false)
		w.until(40)
		require.False(t, w.presence.Away("acc-1", box.Actor))
		require.Equal(t, []string{"online 0..10", "bridgeOffline 10..30 after online 0",
			"online 30.. after bridgeOffline 10"}, w.timeline("bridge", "b1"))
	})
}
