package e2e

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/storage/stills"
	"vmsbridge/storage/vfs/witness"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/vms"
)

// recorded is a program of which every change of its files is noted, and what it acknowledged.
type recorded struct {
	*program
	*witness.Follower
	name, data   string
	base, token  string
	acknowledged []acknowledged
	ops          []witness.Op
	at           []time.Time
}

// acknowledged is an event that a program has promised to keep, and how many changes it had made by
// then.
type acknowledged struct {
	event vms.Event
	ops   int
}

func record(t *testing.T, name, data string, args ...string) *recorded {
	t.Helper()
	p, listener := startWatched(t, toWitness, name, args...)
	f, err := witness.Follow(listener, data)
	if errors.Is(err, witness.ErrUnsupported) {
		t.Skipf("%v: run it on Linux 5.5 or newer, where seccomp may watch a program", err)
	}
	require.NoError(t, err)
	return &recorded{program: p, name: name, data: data, Follower: f}
}

// report reports events until ctx ends: each begins, and ends a moment later.
func (r *recorded) report(ctx context.Context, t *testing.T, account, token string, odd time.Duration) {
	c, err := client.New(client.Options{BaseURL: r.base, Token: client.Token(token)})
	require.NoError(t, err)
	defer c.Close()
	for ctx.Err() == nil {
		// the bridge reports its own to the service, too
		at := vms.At(time.Now().Truncate(2 * time.Millisecond).Add(odd))
		ev := vms.Event{Type: vms.TypeTamper, StartTimestamp: at, Span: true, AccountID: account, ActorID: "one",
			ActorAccountID: account, ActorType: vms.ActorCamera, CreatorID: "e2e.cuts"}
		ev.SetData(vms.CreatorDetails("e2e.cuts", vms.CreatorInfo{ID: "e2e.cuts", Vendor: "e2e"}))
		for range 2 {
			if c.Report(ctx, ev) == nil {
				r.acknowledged = append(r.acknowledged, acknowledged{ev, r.Len()})
			}
			time.Sleep(20 * time.Millisecond)
			ev.EndTimestamp = vms.Ptr(time.Now())
		}
	}
}

// stood are the changes that make what is in a folder.
func stood(t *testing.T, dir string) (ops []witness.Op) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		if !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		ops = append(ops, witness.Op{Kind: witness.Create, Path: path},
			witness.Op{Kind: witness.Write, Path: path, Data: b},
			witness.Op{Kind: witness.Sync, Path: path})
	}
	return append(ops, witness.Op{Kind: witness.SyncDir, Path: dir})
}

// TestPowerCuts cuts the power of a bridge with motion and stills, and of its service, at any
// moment: of what was not synced any part is on the disk. Each opens, fsck finds no damage, and all
// that was acknowledged is there.
func TestPowerCuts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute: run it without -short")
	}
	t.Parallel()
	cuts(t, 4, 1, 18*time.Second) // stills of the first seven are surely flushed
}

// TestTortureCuts is TestPowerCuts with TORTURE_ROUNDS images: scripts/torture cuts.
func TestTortureCuts(t *testing.T) {
	images, seed := tortureRounds(t)
	cuts(t, images, seed, time.Minute)
}

func cuts(t *testing.T, images int, seed uint64, span time.Duration) {
	s := newSite(t, cameraYAML("one", sceneCamera(t, "mjpeg"), "", "tcp", "", ""))
	s.set("max_size: 256MiB", "max_size: 256MiB, segment_size: 1MiB")
	s.cloud.stop(10 * time.Second)
	made := stood(t, s.path("cloud"))
	service := record(t, "vmscloud", s.path("cloud"), "run", "--data", s.path("cloud"), "--listen",
		fmt.Sprint("127.0.0.1:", s.cloudPort))
	service.base, service.token = s.service, s.token
	service.line("vmscloud serves", 60*time.Second)
	bridge := record(t, "vmsbridge", s.path("bridge"), "run", "--config", s.yaml)
	bridge.base, bridge.token = s.local, lanToken
	bridge.line("registered with the service", 60*time.Second)
	ctx, stop := context.WithTimeout(t.Context(), span)
	defer stop()
	var reporting sync.WaitGroup
	reporting.Go(func() { bridge.report(ctx, t, s.account, lanToken, 0) })
	reporting.Go(func() { service.report(ctx, t, s.account, s.read(s.path("bridge.token")), time.Millisecond) })
	reporting.Wait()
	for _, r := range []*recorded{bridge, service} {
		r.kill()
		r.ops, r.at = r.Close()
		require.Greater(t, len(r.acknowledged), 20)
		t.Logf("%s: %d changes, %d acknowledged", r.name, len(r.ops), len(r.acknowledged))
	}
	taken := keptStills(t, s.path("bridge"))

	rng := rand.New(rand.NewPCG(seed, 21))
	torn, found, there := 0, 0, 0
	for n := range images {
		r, from := bridge, []witness.Op(nil)
		if n%2 == 1 {
			r, from = service, made
		}
		k := 1 + rng.IntN(len(r.ops))
		if n == 0 {
			k = len(r.ops) // by then stills have been flushed, however busy the machine is
		}
		what := fmt.Sprintf("seed %d, image %d: %s without power after change %d of %d", seed, n, r.name, k, len(r.ops))
		data := filepath.Join(t.TempDir(), "data")
		require.NoError(t, os.Mkdir(data, 0o700))
		require.NoError(t, witness.Crash(slices.Concat(from, r.ops[:k]), r.data, data, rng), what)
		out, errs, code := try(t, r.name, "fsck", "--data", data)
		require.Zero(t, code, "%s\n%s%s", what, out, errs)
		if r == bridge {
			rep, err := stills.Check(filepath.Join(data, stillsFolder))
			if !errors.Is(err, os.ErrNotExist) {
				require.NoError(t, err, what)
				torn += len(rep.Torn)
				held := keptStills(t, data)
				for at, sum := range taken {
					if at.Before(r.at[k-1].Add(-11 * time.Second)) {
						require.Equal(t, sum, held[at], "%s: the still of %v", what, at)
						there++
					}
				}
			}
		}
		found += r.holds(t, data, k, what)
		require.NoError(t, os.RemoveAll(data))
	}
	t.Logf("%d images: %d acknowledged events and %d flushed stills were there, %d torn tails", images, found, there,
		torn)
	require.NotZero(t, found)
	require.NotZero(t, there)
}

const stillsFolder = "stills"

// keptStills are the sums of a ring's stills of the camera, by their times.
func keptStills(t *testing.T, data string) map[time.Time][sha256.Size]byte {
	t.Helper()
	ring, err := stills.Open(filepath.Join(data, stillsFolder),
		stills.Options{MaxBytes: 256 << 20, SegmentBytes: 1 << 20, MinFree: -1})
	require.NoError(t, err)
	defer func() { require.NoError(t, ring.Close()) }()
	all := map[time.Time][sha256.Size]byte{}
	for before := time.Now().Add(time.Hour); ; {
		still, err := ring.Find("one", stills.Preview, stills.Before, before)
		if err != nil {
			return all
		}
		all[still.Time.UTC()] = sha256.Sum256(still.JPEG)
		before = still.Time
	}
}

// holds starts a program on what a power cut after k changes left of its files, and requires that
// it has what it had acknowledged by then, in the newest form; it returns how many events that
// were.
func (r *recorded) holds(t *testing.T, data string, k int, what string) (n int) {
	t.Helper()
	base := fmt.Sprint("http://127.0.0.1:", harness.Port(t))
	address := strings.TrimPrefix(base, "http://")
	var p *program
	if r.name == "vmscloud" {
		p = start(t, r.name, "run", "--data", data, "--listen", address)
		p.line("vmscloud serves", 60*time.Second)
	} else {
		config := filepath.Join(filepath.Dir(data), "b.yaml")
		require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `
bridge: {id: bridge-1, account: %q, data: %q}
clock: {wait: 0s}
api: {listen: %q, tokens: [{name: lan, token: %s}]}
stills: {max_size: 256MiB, segment_size: 1MiB}
cameras:
  - {id: one, url: "rtsp://127.0.0.1:1/none", enabled: false}
`, r.acknowledged[0].event.AccountID, data, address, lanToken), 0o600))
		p = start(t, r.name, "run", "--config", config)
		p.line("the bridge runs", 60*time.Second)
	}
	defer p.kill()
	c, err := client.New(client.Options{BaseURL: base, Token: client.Token(r.token)})
	require.NoError(t, err)
	defer c.Close()
	have := map[string]vms.Event{}
	wanted := slices.DeleteFunc(slices.Clone(r.acknowledged), func(a acknowledged) bool { return a.ops > k })
	if len(wanted) == 0 {
		return 0
	}
	for ev, err := range c.AllEvents(t.Context(), vms.Query{Actors: []vms.Actor{{Type: vms.ActorCamera, ID: "one"}},
		Types: []string{vms.TypeTamper}, PageSize: 500}) {
		require.NoError(t, err, what)
		have[ev.ID] = ev
	}
	for _, a := range wanted {
		ev, there := have[a.event.NaturalID()]
		require.True(t, there, "%s: %s was acknowledged and is lost", what, a.event.NaturalID())
		if !a.event.Ongoing() {
			require.False(t, ev.Ongoing(), "%s: %s had ended", what, ev.ID)
			require.Equal(t, a.event.EndTimestamp.String(), ev.EndTimestamp.String(), "%s: the end of %s", what, ev.ID)
		}
	}
	return len(wanted)
}
