package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// load is what other programs do to a bridge: they report events, and ask for images.
type load struct {
	local   string
	account string
	cameras []string
	pace    time.Duration // each writer's pause between two events
	began   time.Time

	mu      sync.Mutex
	tried   map[string]bool                 // events that were sent
	acked   map[string]bool                 // events that the bridge has promised to keep
	refused string                          // the last answer that was neither
	images  map[time.Time][sha256.Size]byte // by the time that the answer named
}

const loadCamera = "cam"

func newLoad(s *site, pace time.Duration, cameras ...string) *load {
	return &load{local: s.local, account: s.account, cameras: cameras, pace: pace,
		began: time.Now().UTC().Truncate(time.Millisecond), tried: map[string]bool{}, acked: map[string]bool{},
		images: map[time.Time][sha256.Size]byte{}}
}

// start has four writers report and somebody watch, until stop, which waits for them.
func (l *load) start(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() { l.report(ctx, w) })
	}
	all.Go(func() { l.watch(ctx) })
	return func() { cancel(); all.Wait() }
}

// report sends events of the cameras in turn until ctx ends. writer makes them differ from those of
// others.
func (l *load) report(ctx context.Context, writer int) {
	for n := 0; ctx.Err() == nil; n++ {
		at := l.began.Add(time.Since(l.began).Truncate(10*time.Millisecond) + time.Duration(writer)*time.Millisecond)
		if l.pace == 0 {
			at = l.began.Add(time.Duration(time.Since(l.began).Milliseconds()*10+int64(writer)) * time.Millisecond)
		}
		ev := vms.Event{Type: vms.TypeTamper, StartTimestamp: vms.At(at), EndTimestamp: vms.Ptr(at),
			AccountID: l.account, ActorID: l.cameras[n%len(l.cameras)],
			ActorAccountID: l.account, ActorType: vms.ActorCamera, CreatorID: "e2e.load"}
		ev.SetData(vms.CreatorDetails("e2e.load", vms.CreatorInfo{ID: "e2e.load", Vendor: "e2e"}))
		id := ev.NaturalID()
		l.mu.Lock()
		l.tried[id] = true
		l.mu.Unlock()
		body, _ := json.Marshal(ev)
		code, _, answer := l.ask(ctx, http.MethodPost, "/api/v3.0/events", body)
		l.mu.Lock()
		switch code {
		case http.StatusCreated:
			l.acked[id] = true
		case 0:
		default:
			l.refused = fmt.Sprintf("%d %s", code, answer)
		}
		l.mu.Unlock()
		if code == 0 {
			time.Sleep(20 * time.Millisecond) // it has just been killed
		}
		time.Sleep(l.pace)
	}
}

// watch asks for the newest image again and again, and remembers each.
func (l *load) watch(ctx context.Context) {
	for ctx.Err() == nil {
		code, header, body := l.ask(ctx, http.MethodGet, vms.ImageURL("", l.cameras[0], vms.ImagePreview, vms.OpBefore,
			time.Now().UTC()), nil)
		if at, err := vms.ParseTime(header.Get("X-Vms-Timestamp")); code == http.StatusOK && err == nil {
			l.mu.Lock()
			l.images[at.Time] = sha256.Sum256(body)
			l.mu.Unlock()
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// ask answers code 0 where there was no whole answer.
func (l *load) ask(ctx context.Context, method, path string, body []byte) (int, http.Header, []byte) {
	req, err := http.NewRequestWithContext(ctx, method, l.local+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil
	}
	req.Header.Set("Authorization", "Bearer "+lanToken)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, nil
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil, nil
	}
	return res.StatusCode, res.Header, answer
}

// TestKilledAgainAndAgain kills the bridge under load at any moment. No event that it took is lost,
// none is twice at the service, no image has other bytes than before, and both stores are found in
// order each time.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	kills := 10
	if testing.Short() {
		kills = 3
	}
	s := newSite(t, cameraYAML(loadCamera, sceneCamera(t, "mjpeg"), "", "tcp", "", ""))
	killAgain(s, loadCamera, kills, time.Time{}, 1)
}

// TestTorture is TestKilledAgainAndAgain for TORTURE_FOR: scripts/torture agent. After the kills,
// what is told of motion is what happens, as in TestWhatIsToldIsTrue.
func TestTorture(t *testing.T) {
	torture(t, 5*time.Minute, func(t *testing.T, end time.Time, seed uint64) {
		c := newChaos(t, 2, seed, "")
		at := time.Now()
		c.bridge.kill()
		killAgain(c.site, c.cameras[0].id, 1, end.Add(-time.Minute), seed)
		c.startBridge()
		c.settle()
		c.disturb(at, c.cameras...)
		c.reporting = append(c.reporting, span{at, time.Now()})
		c.bridge.pause(30 * time.Second) // a whole loop of the scenes
		c.check()
		require.NotEmpty(t, c.late, "stills were looked at")
		c.bridge.stop(10 * time.Second)
		c.requireSound(0)
	})
}

// tortureRounds are the rounds, and their seed, that scripts/torture asks for.
func tortureRounds(t *testing.T) (rounds int, seed uint64) {
	if os.Getenv("TORTURE_ROUNDS") == "" {
		t.Skip("for as many rounds as you like: scripts/torture runs it")
	}
	rounds, err := strconv.Atoi(os.Getenv("TORTURE_ROUNDS"))
	require.NoError(t, err)
	seed, err = strconv.ParseUint(os.Getenv("TORTURE_SEED"), 10, 64)
	require.NoError(t, err)
	return rounds, seed
}

// torture runs one life after the other, each with a seed of its own and at most for a time, until
// TORTURE_FOR is over.
func torture(t *testing.T, most time.Duration, life func(t *testing.T, end time.Time, seed uint64)) {
	if os.Getenv("TORTURE_FOR") == "" {
		t.Skip("this goes on for hours: scripts/torture runs it")
	}
	span, err := time.ParseDuration(os.Getenv("TORTURE_FOR"))
	require.NoError(t, err)
	seed, err := strconv.ParseUint(os.Getenv("TORTURE_SEED"), 10, 64)
	require.NoError(t, err)
	for end := time.Now().Add(span); time.Now().Before(end); seed++ {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			soon := time.Now().Add(most)
			if end.Before(soon) {
				soon = end
			}
			life(t, soon, seed)
		})
	}
}

// killAgain kills a bridge that often, and on until the deadline, while programs report events of a
// camera.
func killAgain(s *site, camera string, kills int, deadline time.Time, seed uint64) {
	s.t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	l := newLoad(s, 0, camera)
	stop := l.start(s.t)
	defer stop()

	n := 0
	for ; n < kills || time.Now().Before(deadline); n++ {
		s.startBridge()
		s.bridge.pause(time.Duration(100+rng.IntN(1400)) * time.Millisecond)
		s.bridge.kill()
		s.requireSound(n)
	}
	s.startBridge()
	stop()
	l.requireKept(s, fmt.Sprint(n, " kills"), time.Time{})
	s.bridge.stop(10 * time.Second)
	s.requireSound(n)
}

// requireKept waits until the bridge has reported all. Then each event that it promised to keep is
// at the service once, none is that nobody sent, and each image since a time has the bytes that it
// had.
func (l *load) requireKept(s *site, done string, since time.Time) {
	t := s.t
	t.Helper()
	until(t, 60*time.Second, "the bridge to report all", func() bool {
		_, _, body := get(t, s.local+"/healthz", "")
		var h struct {
			Outbox struct{ Waiting, Parked int }
		}
		require.NoError(t, json.Unmarshal(body, &h))
		require.Zero(t, h.Outbox.Parked, "the service refuses none")
		return h.Outbox.Waiting == 0
	})

	require.Empty(t, l.refused)
	at := map[string]bool{}
	for _, camera := range l.cameras {
		for id, ev := range s.book(s.service, s.token, camera, vms.TypeTamper, l.began) {
			if ev.CreatorID == "e2e.load" {
				at[id] = true
				require.True(t, l.tried[id], "the service has an event that nobody sent: %s", id)
			}
		}
	}
	for id := range l.acked {
		require.True(t, at[id], "%s was promised and is not at the service", id)
	}
	same := 0
	for when, sum := range l.images {
		if when.Before(since) {
			continue
		}
		q := vms.ImageURL("", l.cameras[0], vms.ImagePreview, vms.OpAt, when)
		code, header, body := get(t, s.local+q, lanToken)
		if code == http.StatusNotFound {
			continue // not flushed when the bridge was killed
		}
		require.Equal(t, http.StatusOK, code, "%s", body)
		stamp, err := vms.ParseTime(header.Get("X-Vms-Timestamp"))
		require.NoError(t, err)
		require.True(t, stamp.Equal(when))
		require.Equal(t, sum, sha256.Sum256(body), "the image of %v has other bytes", when)
		same++
	}
	t.Logf("%s: %d events sent, %d promised, %d at the service; %d of %d images are still there", done, len(l.tried),
		len(l.acked), len(at), same, len(l.images))
	require.NotEmpty(t, l.acked)
	require.NotZero(t, same)
}

// TestTortureKills kills the bridge and its service, and cuts the link between them, at any moment
// for TORTURE_ROUNDS rounds, with eight cameras in whose pictures something moves and programs that
// report events of them: scripts/torture kills. Beside what TestKilledAgainAndAgain asks, both
// books hold the same forms of all events, and a motion that a kill cut off has its end in time.
func TestTortureKills(t *testing.T) {
	rounds, seed := tortureRounds(t)
	c := newChaos(t, 8, seed, "")
	var ids []string
	for _, f := range c.cameras {
		ids = append(ids, f.id)
	}
	l := newLoad(c.site, 200*time.Millisecond, ids...)
	stop := l.start(t)
	defer stop()

	var cut []time.Duration // from the end in the book to the kill, in the midst of motion
	for n := range rounds {
		c.bridge.pause(time.Duration(100+c.rng.IntN(5000)) * time.Millisecond)
		switch c.rng.IntN(4) {
		case 0:
			c.counts["the service killed"]++
			c.cloud.kill()
			c.bridge.pause(time.Duration(c.rng.IntN(1000)) * time.Millisecond)
			c.startCloud()
		case 1:
			c.counts["the link cut"]++
			c.link.set([]string{refuses, resets, hole}[c.rng.IntN(3)])
			c.bridge.pause(time.Duration(c.rng.IntN(3000)) * time.Millisecond)
			c.link.set(resets)
			c.link.set(whole)
		default:
			c.counts["the bridge killed"]++
			c.bridge.kill()
			killed := time.Now()
			c.requireSound(n)
			c.startBridge()
			cut = append(cut, c.cutAt(killed)...)
		}
		if n%50 == 49 {
			t.Logf("%d rounds: %v", n+1, c.counts)
		}
	}
	stop()
	c.bridge.pause(25 * time.Second) // motion that is whole, too
	l.requireKept(c.site, fmt.Sprint(c.counts), time.Now().Add(-keeps))

	motions := 0
	for _, id := range ids {
		for _, kind := range []string{vms.TypeMotion, vms.TypeTamper} {
			mine := c.book(c.local, lanToken, id, kind, l.began)
			theirs := c.book(c.service, c.token, id, kind, l.began)
			for id, ev := range mine {
				if ev.Ongoing() {
					continue // it goes on while this is asked
				}
				require.Contains(t, theirs, id, "the service does not have it")
				require.Equal(t, ev.EndTimestamp, theirs[id].EndTimestamp, "the service has another end of %s", id)
				if kind == vms.TypeMotion {
					motions++
					require.True(t, ev.EndTimestamp.After(ev.StartTimestamp.Time), "%s has no length", id)
				}
			}
		}
	}
	require.NotEmpty(t, cut, "motions were cut off")
	slices.Sort(cut)
	t.Logf("%d motions, %d of them cut off by a kill, whose end in the book is before it by %v (median), %v to %v",
		motions, len(cut), cut[len(cut)/2], cut[0], cut[len(cut)-1])
	require.LessOrEqual(t, cut[len(cut)/2], 1300*time.Millisecond,
		"a note a second, a picture, and what the machine takes")
	c.bridge.stop(10 * time.Second)
	c.requireSound(rounds)
}

// cutAt lists, of the motions that the bridge ended as it started, how long before the kill each
// has its end, where the scene was in motion when it was killed and a second before.
func (c *chaos) cutAt(killed time.Time) (all []time.Duration) {
	c.t.Helper()
	for _, m := range cutOff.FindAllStringSubmatch(c.bridge.output(), -1) {
		end, err := vms.ParseTime(m[3])
		require.NoError(c.t, err)
		i := slices.IndexFunc(c.cameras, func(f *filmed) bool { return f.id == m[1] })
		for _, move := range c.cameras[i].moves(c.began.Add(-time.Hour), killed.Add(time.Hour)) {
			if move.from.Before(killed.Add(-time.Second)) && move.to.After(killed) {
				all = append(all, killed.Sub(end.Time))
			}
		}
	}
	return all
}

// requireSound checks the stores of a bridge that does not run.
func (s *site) requireSound(n int) {
	s.t.Helper()
	out, err := exec.Command(filepath.Join(programs(s.t), "vmsbridge"), "fsck", "--data",
		s.path("bridge")).CombinedOutput()
	require.NoError(s.t, err, "after kill %d: %s", n, out)
}

// pause lets the program run for a time, and fails if it ends by itself.
func (p *program) pause(d time.Duration) {
	p.t.Helper()
	select {
	case <-p.done:
		p.t.Fatalf("%s ended by itself", p.name)
	case <-time.After(d):
	}
}
