package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// shelf is a ring of stills as the bridge's interface asks for it.
type shelf struct{ *stills.Ring }

func (s shelf) Image(_ context.Context, q server.ImageQuery) (server.Image, error) {
	kind, err := stills.ParseKind(q.Kind)
	if err != nil {
		return server.Image{}, err
	}
	f, err := s.Find(q.Camera, kind, stills.Before, q.Time)
	if err != nil {
		return server.Image{}, err
	}
	return server.Image{Time: f.Time, Length: int64(len(f.JPEG)), Body: io.NopCloser(bytes.NewReader(f.JPEG))}, nil
}

// one is the account of a bridge with one camera.
type one struct{}

func (one) CameraIDs(string, string) []string { return []string{"cam-1"} }

func (one) CameraOf(_, id string) (vms.Camera, bool) {
	return vms.Camera{ID: id, AccountID: "acc-1", Status: &vms.ConnectionStatus{ConnectionStatus: vms.StatusOnline}},
		id == "cam-1"
}

func (one) HasActor(_ context.Context, _ string, a vms.Actor) (bool, error) {
	return a.ID == "cam-1", nil
}

// BenchmarkRecordedImage asks vmscloud, a process of its own, for stills of a bridge's ring:
// through the bridge's tunnel, and at its registered address for comparison. Each answer is read to
// its end.
func BenchmarkRecordedImage(b *testing.B) {
	for _, way := range []string{"tunnel", "address"} {
		for _, size := range []int{30_000, 500_000} {
			for _, clients := range []int{1, 8} {
				b.Run(fmt.Sprintf("%s/bytes=%d/clients=%d", way, size, clients), func(b *testing.B) {
					askImages(b, way, size, clients)
				})
			}
		}
	}
}

func askImages(b *testing.B, way string, size, clients int) {
	const number = 200
	s := startCloud(b, "--direct", "127.0.0.1")
	ring, err := stills.Open(b.TempDir(), stills.Options{MaxBytes: 256 << 20})
	require.NoError(b, err)
	defer func() { require.NoError(b, ring.Close()) }()
	j, err := journal.Open(filepath.Join(b.TempDir(), "journal.db"), journal.Options{})
	require.NoError(b, err)
	defer func() { require.NoError(b, j.Close()) }()
	began := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	random := rand.New(rand.NewPCG(1, 2))
	for n := range number {
		jpeg := make([]byte, size)
		for i := range jpeg {
			jpeg[i] = byte(random.Uint32())
		}
		copy(jpeg, "\xff\xd8\xff")
		copy(jpeg[size-2:], "\xff\xd9")
		require.NoError(b,
			ring.Append(stills.Still{Camera: "cam-1", Kind: stills.Main,
				Time: began.Add(time.Duration(n) * time.Second), JPEG: jpeg}))
	}
	auth := identity.NewFixed()
	require.NoError(b, auth.Add("im4ge", identity.Principal{AccountID: "acc-1", Scopes: []string{identity.ScopeRead}}))
	api, err := server.New(server.Options{Events: server.Own{OwnStore: j}, Cameras: one{}, Images: shelf{ring},
		Auth: auth})
	require.NoError(b, err)
	local := httptest.NewServer(api)
	defer local.Close()
	c, err := client.New(client.Options{BaseURL: s.url, Token: client.Token(s.token)})
	require.NoError(b, err)
	defer c.Close()
	reg := vms.Registration{ID: "bridge-1", ImageToken: "im4ge", Cameras: []vms.RegisteredCamera{{ID: "cam-1"}}}
	if way == "address" {
		reg.Address = local.URL
	}
	require.NoError(b, c.Register(b.Context(), reg))
	if way == "tunnel" {
		d, err := tunnel.New(tunnel.Options{URL: s.url, Bridge: "bridge-1",
			Token: func(ctx context.Context) (string, error) { return c.Bearer(ctx, "") }, Handler: api,
			HTTP: c.HTTP()})
		require.NoError(b, err)
		ctx, cancel := context.WithCancel(b.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = d.Run(ctx) })
		defer func() { cancel(); wg.Wait() }()
		require.Eventually(b, d.Up, 10*time.Second, time.Millisecond)
	}
	ask := func(at time.Time) error {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodGet,
			vms.ImageURL(s.url, "cam-1", vms.ImageMain, vms.OpBefore, at), nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+s.token)
		res, err := c.HTTP().Do(req)
		if err != nil {
			return err
		}
		n, err := io.Copy(io.Discard, res.Body)
		if res.StatusCode != http.StatusOK || n != int64(size) {
			err = errors.Join(err, fmt.Errorf("%d with %d bytes", res.StatusCode, n))
		}
		return errors.Join(err, res.Body.Close())
	}
	require.Eventually(b, func() bool { return ask(began.Add(time.Second)) == nil }, 10*time.Second,
		10*time.Millisecond)
	var mu sync.Mutex
	var took []time.Duration
	at := make(chan time.Time)
	b.ResetTimer()
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for t := range at {
				start := time.Now()
				err := ask(t)
				d := time.Since(start)
				mu.Lock()
				if err != nil {
					b.Error(err)
				}
				took = append(took, d)
				mu.Unlock()
			}
		})
	}
	for n := 0; b.Loop(); n++ {
		at <- began.Add(time.Duration(n*37%number)*time.Second + 500*time.Millisecond)
	}
	close(at)
	wg.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
