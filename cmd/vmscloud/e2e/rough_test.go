package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

const patience = 300 * time.Millisecond

// ordeal reports events through a link that fails every other request, until so many faults have
// happened. Then all must be at the service, each once and as it ended, known in the order in which
// it happened at each camera.
func ordeal(t *testing.T, seed uint64, faults int) {
	const cameras = 6
	s := startCloud(t, "--print-events")
	server, trust, err := serverTLS()
	require.NoError(t, err)
	link, err := listenLink(s.url, linkOptions{Seed: seed, Every: 2, Patience: patience, TLS: server})
	require.NoError(t, err)
	defer link.Close()
	b := newBridge(t, cameras, client.Options{BaseURL: "https://service.test", Token: client.Token(s.token),
		HTTP: link.Client(trust), Timeout: patience},
		delivery.Options{FirstPause: time.Millisecond, MaxPause: 5 * time.Millisecond, AuthPause: 5 * time.Millisecond,
			StuckAfter: time.Hour, Overtake: time.Hour})
	require.Eventually(t, func() bool { return b.register(t.Context()) == nil }, 20*time.Second, time.Millisecond)
	stop := b.run(t)

	rng := rand.New(rand.NewPCG(seed, 2))
	var most, first uint64
	// on a busy machine, with the race detector
	deadline := time.Now().Add(time.Minute + time.Duration(faults)*400*time.Millisecond)
	n := 0
	for ; ; n++ {
		_, happened := link.Counts()
		if happened >= faults {
			break
		}
		require.True(t, time.Now().Before(deadline), "seed %d: only %d faults", seed, happened)
		for cam := range cameras {
			ev := motion(cam, n)
			if rng.IntN(2) == 0 { // some are reported as they begin, too
				ongoing := ev
				ongoing.EndTimestamp = nil
				require.NoError(t, b.journal.Put(ongoing, true))
			}
			require.NoError(t, b.journal.Put(ev, true))
		}
		if n%200 == 199 {
			most = max(most, heap())
			if first == 0 {
				first = most
			}
		}
		for b.waiting(t) > 400 {
			time.Sleep(time.Millisecond)
		}
	}
	link.Every(0)
	drained := func() {
		require.Eventually(t, func() bool { return b.waiting(t) == 0 }, time.Minute, 5*time.Millisecond,
			"seed %d: %d wait", seed, b.waiting(t))
	}
	drained()
	// Nothing is wrong any more, so each goes once; a machine at work may take too long for one.
	once := false
	for tries := 0; !once && tries < 20; tries++ {
		before := link.Sent()
		for cam := range cameras {
			require.NoError(t, b.journal.Put(motion(cam, n), true))
			drained()
		}
		n, once = n+1, link.Sent() == before+cameras
	}
	require.True(t, once, "seed %d: nothing is wrong any more, and there is not one report for each event", seed)
	stop()
	stats, err := b.journal.OutboxStats()
	require.NoError(t, err)
	parked, err := b.journal.Parked()
	require.NoError(t, err)
	require.Zero(t, stats.Parked, "seed %d: refused: %+v", seed, parked)
	counts, total := link.Counts()
	t.Logf("seed %d: %d events, %d faults, heap %d KiB after the first rounds, at most %d KiB", seed, n*cameras, total,
		first>>10, most>>10)
	t.Log(counts)
	if first != 0 {
		require.Less(t, most, first+8<<20, "memory stays flat")
	}
	s.holds(t, seed, cameras, n)
}

// holds checks that the service has so many events of each camera, as they were made, and that each
// became known once, in order.
func (s *cloud) holds(t *testing.T, seed uint64, cameras, each int) {
	t.Helper()
	direct, err := client.New(client.Options{BaseURL: s.url, Token: client.Token(s.token)})
	require.NoError(t, err)
	defer direct.Close()
	for cam := range cameras {
		n := 0
		q := vms.Query{Actors: []vms.Actor{{Type: vms.ActorCamera, ID: camera(cam)}}, PageSize: 500, Ascending: true,
			Types: []string{vms.TypeMotion}, Include: []string{vms.SchemaObject, vms.SchemaCreatorDetails}}
		for ev, err := range direct.AllEvents(t.Context(), q) {
			require.NoError(t, err)
			got, err := json.Marshal(ev)
			require.NoError(t, err)
			want, err := json.Marshal(motion(cam, n))
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "seed %d", seed) //nolint:testifylint // byte for byte
			n++
		}
		require.Equal(t, each, n, "seed %d: events of %s", seed, camera(cam))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Empty(t, s.trouble, "seed %d", seed)
	for cam := range cameras {
		require.Len(t, s.known[cam], each, "seed %d: lines of %s", seed, camera(cam))
		for n, k := range s.known[cam] {
			require.Equal(t, ended, k, "seed %d: %s %d", seed, camera(cam), n)
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestRoughLink(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { t.Parallel(); ordeal(t, seed, 120) })
	}
}

// TestTorture is TestRoughLink with TORTURE_FAULTS faults: scripts/torture uplink.
func TestTorture(t *testing.T) {
	faults, err := strconv.Atoi(os.Getenv("TORTURE_FAULTS"))
	if err != nil {
		t.Skip("TORTURE_FAULTS is not set")
	}
	seed, err := strconv.ParseUint(os.Getenv("TORTURE_SEED"), 10, 64)
	require.NoError(t, err)
	ordeal(t, seed, faults)
}
