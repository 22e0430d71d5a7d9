package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/vms"
)

// TestDamagedFiles starts both programs on files of theirs that were damaged in any way.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	rounds := 40
	if testing.Short() {
		rounds = 6
	}
	damageAgain(t, rounds, 1)
}

// TestTortureFiles is TestDamagedFiles for TORTURE_ROUNDS: scripts/torture files.
func TestTortureFiles(t *testing.T) {
	rounds, seed := tortureRounds(t)
	damageAgain(t, rounds, seed)
}

// victim is a program with a folder of files, and how it is started on a copy of them.
type victim struct {
	name  string
	data  string
	start func(data string) (p *program, base string)
	token string // opens the list of events
}

func damageAgain(t *testing.T, rounds int, seed uint64) {
	victims := []victim{damagedBridge(t), damagedService(t)}
	clean, left, repaired := 0, 0, 0
	for round := range rounds {
		rng := rand.New(rand.NewPCG(seed, uint64(round)))
		v := victims[round%len(victims)]
		data := filepath.Join(t.TempDir(), "data")
		require.NoError(t, os.CopyFS(data, os.DirFS(v.data)))
		require.NoError(t, os.Chmod(data, 0o700))
		hits := damage(t, rng, data)
		what := fmt.Sprintf("seed %d, round %d, %s: %s", seed, round, v.name, strings.Join(hits, "; "))

		p, base := v.start(data)
		for ready, began := false, time.Now(); !ready; time.Sleep(20 * time.Millisecond) {
			require.True(t, p.running(), "it ended: %s\n%s", what, tail(p.output(), 4000))
			require.Less(t, time.Since(began), 2*stretched(30*time.Second), "it does not answer: %s\n%s", what,
				tail(p.output(), 4000))
			res, err := http.Get(base + "/readyz")
			if err == nil {
				ready = res.StatusCode == http.StatusOK
				_ = res.Body.Close()
			}
		}
		l := load{local: base}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.local+"/api/v3.0/cameras", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+v.token)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		_ = res.Body.Close()
		if !bothCopies(hits) {
			require.Equal(t, http.StatusOK, res.StatusCode, "its token is good: %s", what)
		}
		p.stop(20 * time.Second)

		out, errs, code := try(t, v.name, "fsck", "--data", data)
		switch code {
		case 0:
			clean++
		case 3:
			left++
			require.Contains(t, out, "wrong: ", what)
		default:
			require.Fail(t, "fsck could not check", "%s\n%s%s", what, out, errs)
		}
		if code == 3 {
			out, errs, code = try(t, v.name, "fsck", "--repair", "--data", data)
			require.Zero(t, code, "%s\n%s%s", what, out, errs)
			repaired++
		}
		require.NoError(t, os.RemoveAll(data))
		if rounds > 50 && round%50 == 49 {
			t.Logf("%d rounds", round+1)
		}
	}
	t.Logf("%d rounds, %d starts; fsck behind the start: in order %d, something left %d, of which put in order by "+
		"fsck --repair %d",
		rounds, rounds, clean, left, repaired)
}

// bothCopies says whether a record may be lost in both of its places.
func bothCopies(hits []string) bool {
	text := strings.Join(hits, "; ")
	return strings.Contains(text, "identity.db ") && strings.Contains(text, "identity.db.copy ") ||
		strings.Contains(text, "registry.db ") && strings.Contains(text, "registry.db.copy ")
}

// damage hits up to three files, each in its own way, and says which.
func damage(t *testing.T, rng *rand.Rand, dir string) (hits []string) {
	var names []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if info, ierr := d.Info(); err == nil && ierr == nil && info.Mode().IsRegular() && info.Size() > 0 {
			names = append(names, path)
		}
		return err
	}))
	for range 1 + rng.IntN(3) {
		path := names[rng.IntN(len(names))]
		b, err := os.ReadFile(path)
		if err != nil || len(b) == 0 {
			continue
		}
		const page = 4096
		at := func() int { return rng.IntN((len(b)+page-1)/page) * page }
		upTo := func(from int) int { return min(from+page, len(b)) }
		var how string
		switch rng.IntN(7) {
		case 0:
			n := 1 + rng.IntN(50)
			how = fmt.Sprint(n, " bits flipped")
			for range n {
				b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
			}
		case 1:
			from := at()
			how = fmt.Sprint("page ", from/page, " zeroed")
			clear(b[from:upTo(from)])
		case 2:
			from := at()
			how = fmt.Sprint("page ", from/page, " is noise")
			for i := from; i < upTo(from); i++ {
				b[i] = byte(rng.Uint32())
			}
		case 3:
			one, other := at(), at()
			how = fmt.Sprint("pages ", one/page, " and ", other/page, " change places")
			n := min(upTo(one)-one, upTo(other)-other)
			kept := bytes.Clone(b[one : one+n])
			copy(b[one:one+n], b[other:other+n])
			copy(b[other:other+n], kept)
		case 4:
			n := rng.IntN(len(b))
			how = fmt.Sprint("cut to ", n)
			b = b[:n]
		case 5:
			how = "all zero"
			clear(b)
		case 6:
			from := at()
			how = fmt.Sprint("zero from page ", from/page, " on")
			clear(b[from:])
		}
		require.NoError(t, os.WriteFile(path, b, 0o600))
		name, _ := filepath.Rel(dir, path)
		hits = append(hits, name+" "+how)
	}
	return hits
}

// damagedBridge is a bridge with events, users and stills.
func damagedBridge(t *testing.T) victim {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	v := victim{name: "vmsbridge", data: data, token: lanToken}
	n := 0
	v.start = func(data string) (*program, string) {
		n++
		port := harness.Port(t)
		config := filepath.Join(dir, fmt.Sprint("b", n, ".yaml"))
		require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `
bridge: {id: b, account: acc, data: %q}
api: {listen: "127.0.0.1:%d", tokens: [{name: lan, token: %s, scopes: [read, report]}]}
stills: {max_size: 64MiB, segment_size: 4MiB}
cameras:
  - {id: cam, url: "rtsp://127.0.0.1:1/none", enabled: false}
`, data, port, lanToken), 0o600))
		return start(t, "vmsbridge", "run", "--config", config), fmt.Sprintf("http://127.0.0.1:%d", port)
	}
	p, base := v.start(data)
	p.line("the bridge runs", 20*time.Second)
	l := &load{local: base, account: "acc", cameras: []string{"cam"}, began: time.Now().UTC(), tried: map[string]bool{},
		acked: map[string]bool{}}
	ctx, cancel := context.WithCancel(t.Context())
	go l.report(ctx, 1)
	until(t, 30*time.Second, "events to be taken", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		require.Empty(t, l.refused)
		return len(l.acked) >= 100
	})
	cancel()
	p.stop(10 * time.Second)
	ring, err := stills.Open(filepath.Join(data, "stills"),
		stills.Options{MaxBytes: 64 << 20, SegmentBytes: 4 << 20, MinFree: -1})
	require.NoError(t, err)
	for i := range 300 {
		at := time.Now().Add(time.Duration(i-300) * time.Second)
		require.NoError(t,
			ring.Append(stills.Still{Camera: "cam", Kind: stills.Preview, Time: at,
				JPEG: bytes.Repeat([]byte{byte(i)}, 30_000)}))
	}
	require.NoError(t, ring.Close())
	return v
}

// damagedService is a service with an account, users, tokens, a bridge, cameras and events.
func damagedService(t *testing.T) victim {
	data := filepath.Join(t.TempDir(), "data")
	account := command(t, "vmscloud", "init", "--data", data, "--account", "A", "--quiet")
	bridge := command(t, "vmscloud", "token", "create", "--data", data, "--kind", "bridge", "--quiet")
	v := victim{name: "vmscloud", data: data, token: command(t, "vmscloud", "token", "create", "--data", data, "--kind",
		"user", "--quiet")}
	v.start = func(data string) (*program, string) {
		port := harness.Port(t)
		return start(t, "vmscloud", "run", "--data", data, "--listen", fmt.Sprint("127.0.0.1:", port)),
			fmt.Sprint("http://127.0.0.1:", port)
	}
	p, base := v.start(data)
	p.line("vmscloud serves", 20*time.Second)
	c, err := client.New(client.Options{BaseURL: base, Token: client.Token(bridge)})
	require.NoError(t, err)
	defer c.Close()
	reg := vms.Registration{ID: "b", Name: "Bridge"}
	for i := range 20 {
		reg.Cameras = append(reg.Cameras, vms.RegisteredCamera{ID: fmt.Sprint("cam", i), Name: "Camera"})
	}
	require.NoError(t, c.Register(t.Context(), reg))
	for i := range 150 {
		at := time.Unix(1.7e9+int64(i), 0).UTC()
		ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(at), EndTimestamp: vms.Ptr(at.Add(time.Second)),
			Span: true, AccountID: account,
			ActorID: fmt.Sprint("cam", i%20), ActorAccountID: account, ActorType: vms.ActorCamera,
			CreatorID: vms.CreatorMotion}
		ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "b", Vendor: "v"}))
		ev.ID = ev.NaturalID()
		require.NoError(t, c.Report(t.Context(), ev))
	}
	p.stop(10 * time.Second)
	return v
}
