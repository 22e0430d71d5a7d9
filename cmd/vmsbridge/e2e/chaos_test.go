package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// chaos is a site of cameras whose truth is known, and what happened to it.
type chaos struct {
	*site
	rng       *rand.Rand
	cameras   []*filmed
	link      *cable
	disk      atomic.Int64      // how long each fsync of the bridge takes, or broken
	disturbed map[string][]span // by camera: when its motion may be cut or missing
	counts    map[string]int    // of what was done
	began     time.Time
	reporting []span // when an event may be reported again
	heard     *heard
	late      []time.Duration // how old the still before a time was, in the middle of motion
	badDisk   span            // the last time that the disk was slow or failed
	noStills  []span          // when the disk failed, so that stills may be missing
}

// newChaos makes a site with this many cameras, each with a scene of its own, and others of which
// nothing is known.
func newChaos(t *testing.T, cameras int, seed uint64, others string) *chaos {
	t.Helper()
	var yaml strings.Builder
	yaml.WriteString(others)
	c := &chaos{rng: rand.New(rand.NewPCG(seed, 11)), disturbed: map[string][]span{}, counts: map[string]int{}}
	for i := range cameras {
		f := newFilmed(t, fmt.Sprint("cam", i), []string{"h264", "h265", "mjpeg"}[i%3], 20, "--seed",
			fmt.Sprint(seed+uint64(i)))
		c.cameras = append(c.cameras, f)
		yaml.WriteString(cameraYAML(f.id, f.address, "", "tcp", "", ""))
	}
	c.site = newSite(t, yaml.String())
	c.set("level: debug", "level: info")
	c.link = newCable(t, strings.TrimPrefix(c.service, "http://"))
	c.set(fmt.Sprintf("url: %q", c.service), fmt.Sprintf("url: %q", c.link.url()))
	c.startBridge()
	c.settle()
	c.heard = follow(t, c.site, c.cameras)
	return c
}

// startBridge starts the bridge, with a disk that can become slow or fail.
func (c *chaos) startBridge() {
	c.t.Helper()
	c.bridge = startSlow(c.t, &c.disk, "vmsbridge", "run", "--config", c.yaml)
	c.bridge.line("the bridge runs", 20*time.Second)
}

// settle waits until every camera gives pictures. Motion counts from then on, and a while: a
// detector has to learn what stands.
func (c *chaos) settle() {
	c.t.Helper()
	until(c.t, 30*time.Second, "pictures of all cameras", func() bool {
		n := c.pictures()
		return !slices.ContainsFunc(c.cameras, func(f *filmed) bool { return n[f.id] < 10 })
	})
	if c.began.IsZero() {
		c.began = time.Now().Add(3 * time.Second)
	}
}

// disturb notes that the motion of some cameras may be cut or missing from a time until now and the
// seconds in which a detector learns.
func (c *chaos) disturb(from time.Time, cameras ...*filmed) {
	for _, f := range cameras {
		c.disturbed[f.id] = append(c.disturbed[f.id], span{from, time.Now().Add(5 * time.Second)})
	}
}

// The faults, and how often each is chosen.
var faults = []struct {
	name   string
	weight int
	do     func(*chaos)
}{
	{"kill the bridge", 2, func(c *chaos) {
		at := time.Now()
		if at.Sub(c.badDisk.to) < 10*time.Second {
			at = c.badDisk.from // what waited for the disk was in memory only, and nobody had been told of it
		}
		c.bridge.kill()
		c.startBridge()
		c.settle()
		c.disturb(at, c.cameras...)
	}},
	{"restart the bridge", 1, func(c *chaos) {
		at := time.Now()
		c.bridge.stop(15 * time.Second)
		c.startBridge()
		c.settle()
		c.disturb(at, c.cameras...)
	}},
	{"kill the service", 3, func(c *chaos) {
		c.cloud.kill()
		c.bridge.pause(time.Duration(c.rng.IntN(8000)) * time.Millisecond)
		c.startCloud()
	}},
	{"cut the link", 4, func(c *chaos) {
		c.link.set([]string{refuses, resets, hole}[c.rng.IntN(3)])
		c.bridge.pause(time.Duration(1000+c.rng.IntN(8000)) * time.Millisecond)
		c.link.set(resets)
		c.link.set(whole)
	}},
	{"slow disk", 2, func(c *chaos) {
		c.disk.Store(int64(time.Second + time.Duration(c.rng.Int64N(int64(4*time.Second)))))
		c.bridge.pause(15 * time.Second)
		c.disk.Store(0)
	}},
	{"failing disk", 2, func(c *chaos) {
		c.disk.Store(broken)
		c.bridge.pause(time.Duration(2000+c.rng.IntN(8000)) * time.Millisecond)
		c.disk.Store(0)
	}},
	{"end a decoder", 2, func(c *chaos) {
		at := time.Now()
		if pids := c.bridge.children(); len(pids) > 0 {
			_ = syscall.Kill(pids[c.rng.IntN(len(pids))],
				[]syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGSTOP}[c.rng.IntN(3)])
		}
		c.bridge.pause(8 * time.Second) // one that is stopped is noticed after five
		c.disturb(at, c.cameras...)
	}},
	{"restart a camera", 2, func(c *chaos) {
		at, f := time.Now(), c.cameras[c.rng.IntN(len(c.cameras))]
		f.again(c.t)
		before := c.pictures()[f.id]
		until(c.t, 60*time.Second, "pictures of "+f.id, func() bool { return c.pictures()[f.id] > before+10 })
		c.disturb(at, f)
	}},
	{"take a camera away and back", 1, func(c *chaos) {
		at, f := time.Now(), c.cameras[c.rng.IntN(len(c.cameras))]
		line := cameraYAML(f.id, f.address, "", "tcp", "", "")
		c.set(line, "")
		require.NoError(c.t, c.bridge.cmd.Process.Signal(syscall.SIGHUP))
		until(c.t, 20*time.Second, f.id+" to go", func() bool { _, there := c.pictures()[f.id]; return !there })
		c.set("cameras:\n", "cameras:\n"+line)
		require.NoError(c.t, c.bridge.cmd.Process.Signal(syscall.SIGHUP))
		until(c.t, 60*time.Second, f.id+" to come back", func() bool { return c.pictures()[f.id] > 10 })
		c.disturb(at, f)
	}},
}

// fault does the one of this name, or any.
func (c *chaos) fault(name string) {
	for _, f := range faults {
		if f.name == name {
			c.do(f.name, f.do)
			return
		}
	}
	sum := 0
	for _, f := range faults {
		sum += f.weight
	}
	n := c.rng.IntN(sum)
	for _, f := range faults {
		if n -= f.weight; n < 0 {
			c.do(f.name, f.do)
			return
		}
	}
}

func (c *chaos) do(name string, fault func(*chaos)) {
	at := time.Now()
	c.counts[name]++
	fault(c)
	c.t.Logf("%s to %s: %s", at.UTC().Format(time.TimeOnly), time.Now().UTC().Format(time.TimeOnly), name)
	if name == "slow disk" || name == "failing disk" {
		c.badDisk = span{at, time.Now()}
	}
	if name == "failing disk" {
		c.noStills = append(c.noStills, span{at, time.Now().Add(10 * time.Second)})
	}
	if name == "end a decoder" || name == "slow disk" || name == "restart a camera" {
		return // it is none of what an event goes through once it is made
	}
	c.reporting = append(c.reporting, span{at, time.Now().Add(15 * time.Second)})
}

// keeps is how long the ring of newSite surely has every still of eight cameras.
const keeps = 4 * time.Minute

// lookAtStills asks for the still before a moment in the middle of motion, at the bridge, and how
// old it is. At the bridge a picture is kept twice a second while something moves.
func (c *chaos) lookAtStills(perCamera int) {
	c.t.Helper()
	for _, f := range c.cameras {
		moves := slices.DeleteFunc(f.moves(c.began, time.Now().Add(-2*time.Second)), func(m span) bool {
			return time.Since(m.from) > keeps || m.to.Sub(m.from) < 3*time.Second || !m.calm(c.disturbed[f.id]) ||
				!m.calm(c.noStills)
		})
		for range min(perCamera, 3*len(moves)) {
			m := moves[c.rng.IntN(len(moves))]
			// From a second after the start on: motion is certain by then.
			at := m.from.Add(time.Second +
				time.Duration(c.rng.Int64N(int64(m.to.Sub(m.from)-1500*time.Millisecond)))).Truncate(time.Millisecond)
			code, header, body := get(c.t, c.local+vms.ImageURL("", f.id, vms.ImagePreview, vms.OpBefore, at), lanToken)
			require.Equal(c.t, http.StatusOK, code, "%s before %v: %s", f.id, at, body)
			taken, err := vms.ParseTime(header.Get("X-Vms-Timestamp"))
			require.NoError(c.t, err)
			require.True(c.t, taken.Before(at), "%s: a still of %v for one before %v", f.id, taken, at)
			c.late = append(c.late, at.Sub(taken.Time))
			if old := at.Sub(taken.Time); old > 900*time.Millisecond {
				c.t.Logf("%s: the still before %v is of %v, %v older", f.id, at, taken, old)
			}
			code, header, _ = get(c.t, c.local+vms.ImageURL("", f.id, vms.ImagePreview, vms.OpAfter, taken.Time),
				lanToken)
			if code == http.StatusOK {
				next, err := vms.ParseTime(header.Get("X-Vms-Timestamp"))
				require.NoError(c.t, err)
				require.False(c.t, next.Before(at), "%s: the still of %v is nearer to %v than that of %v", f.id, next,
					at, taken)
			}
		}
	}
}

// drained waits until the service has all that the bridge has.
func (c *chaos) drained() {
	c.t.Helper()
	until(c.t, 2*time.Minute, "the bridge to report all", func() bool {
		var h struct {
			Outbox struct{ Waiting, Parked int }
		}
		_, _, body := get(c.t, c.local+"/healthz", "")
		require.NoError(c.t, json.Unmarshal(body, &h))
		require.Zero(c.t, h.Outbox.Parked, "the service refuses none")
		return h.Outbox.Waiting == 0
	})
}

// book lists a camera's events of a type since a time at the bridge or the service, by id.
func (s *site) book(base, token, camera, kind string, since time.Time) map[string]vms.Event {
	s.t.Helper()
	q := url.Values{"actor": {"camera:" + camera}, "type__in": {kind}, "pageSize": {"500"},
		"startTimestamp__gte": {vms.At(since.Add(-time.Hour)).String()},
		"startTimestamp__lte": {"2100-01-01T00:00:00.000+00:00"}}
	all := map[string]vms.Event{}
	for {
		code, _, body := get(s.t, base+"/api/v3.0/events?"+q.Encode(), token)
		require.Equal(s.t, http.StatusOK, code, "%s", body)
		var page vms.EventPage
		require.NoError(s.t, json.Unmarshal(body, &page))
		for _, ev := range page.Results {
			require.NotContains(s.t, all, ev.ID, "listed twice")
			all[ev.ID] = ev
		}
		if page.NextPageToken == "" {
			return all
		}
		q.Set("pageToken", page.NextPageToken)
	}
}

// check holds what the bridge and the service tell against the truth, and against each other.
func (c *chaos) check() {
	c.t.Helper()
	end := time.Now()
	c.bridge.pause(3 * time.Second) // what ends now is known then
	c.drained()
	var all told
	for _, f := range c.cameras {
		mine := c.book(c.local, lanToken, f.id, vms.TypeMotion, c.began)
		theirs := c.book(c.service, c.token, f.id, vms.TypeMotion, c.began)
		for id, ev := range mine {
			other, there := theirs[id]
			if ev.Ongoing() {
				continue // it goes on while this is asked
			}
			require.True(c.t, there, "the service does not have %s", id)
			require.Equal(c.t, ev.EndTimestamp, other.EndTimestamp, "the service has another end of %s", id)
		}
		for id, ev := range theirs {
			if ev.StartTimestamp.After(end) {
				continue // it may have begun between the two questions
			}
			require.Contains(c.t, mine, id, "the service has an event of which the bridge knows nothing")
		}
		var events []vms.Event
		for _, ev := range mine {
			events = append(events, ev)
		}
		all.add(f.compare(events, c.began, end.Add(-3*time.Second), c.disturbed[f.id]))
	}
	c.t.Logf("%v: %s", c.counts, &all)
	require.Empty(c.t, all.missed)
	require.Empty(c.t, all.invented)
	require.Empty(c.t, all.wrongStart)
	require.Empty(c.t, all.wrongEnd)
	require.NotEmpty(c.t, all.right)
	tooOften, told := c.heard.tooOften(c.reporting)
	require.NotZero(c.t, told, "followers are told of motion")
	require.Empty(c.t, tooOften, "told again and again though nothing was wrong")
	c.lookAtStills(6)
	slices.Sort(c.late)
	if n := len(c.late); n > 0 {
		c.t.Logf("%d stills in motion: median %v old, the oldest %v", n, c.late[n/2], c.late[n-1])
		require.LessOrEqual(c.t, c.late[n/2], 350*time.Millisecond,
			"a still is kept every half second while something moves")
		require.LessOrEqual(c.t, c.late[n-1], 900*time.Millisecond)
	}
}

// TestWhatIsToldIsTrue lets a site go through some faults. What it told of motion in between is
// what happened, service and bridge tell the same, and the still before a time is that still.
func TestWhatIsToldIsTrue(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	c := newChaos(t, 2, 1, "")
	// The first costs motion, the others must not.
	for _, name := range []string{"end a decoder", "kill the service", "cut the link", "failing disk"} {
		c.fault(name)
		c.bridge.pause(5 * time.Second)
	}
	c.bridge.pause(8 * time.Second)
	c.check()
	require.NotEmpty(t, c.late, "stills were looked at")
	c.bridge.stop(15 * time.Second)
	c.requireSound(0)
}

// TestTortureSite is TestWhatIsToldIsTrue for TORTURE_FOR, with eight cameras: scripts/torture
// site.
func TestTortureSite(t *testing.T) {
	torture(t, 10*time.Minute, func(t *testing.T, end time.Time, seed uint64) {
		c := newChaos(t, 8, seed, "")
		c.bridge.pause(25 * time.Second) // a whole loop in which nothing is wrong
		for time.Now().Before(end) {
			c.fault("")
			c.bridge.pause(time.Duration(c.rng.Int64N(int64(12 * time.Second))))
		}
		c.bridge.pause(10 * time.Second)
		c.check()
		c.bridge.stop(15 * time.Second)
		c.requireSound(0)
	})
}
