package outbound

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/clock"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// A bridge that loses its tunnel registers at once, so that the service knows that it is there; one
// that stops says goodbye, also to a service that knows no such word.
func TestABridgeSaysThatItIsThereAndThatItGoes(t *testing.T) {
	for name, code := range map[string]int{"knows it": http.StatusNoContent, "an older service": http.StatusNotFound} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex // guards asked
			asked := map[string]int{}
			hub := tunnel.NewHub(0, nil)
			defer func() { require.NoError(t, hub.Close()) }()
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked[r.URL.Path]++
				mu.Unlock()
				switch r.URL.Path {
				case tunnel.Path:
					hub.Serve(w, r, "b", tunnel.Told{})
				case vms.PathLeave:
					require.Equal(t, "bridgeId=b", r.URL.RawQuery)
					w.WriteHeader(code)
				default:
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte("{}"))
				}
			}))
			defer service.Close()
			times := func(path string) int { mu.Lock(); defer mu.Unlock(); return asked[path] }
			j, err := journal.Open(filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
			require.NoError(t, err)
			defer func() { require.NoError(t, j.Close()) }()
			log := slog.New(slog.DiscardHandler)
			l, err := newService(configs.Service{URL: service.URL, Token: configs.NewSecret("0123456789abcdef")},
				Options{Journal: j, Clock: clock.New(clock.Options{Machine: clock.System(), Log: log}),
					Profile: func() vms.Registration {
						return vms.Registration{ID: "b"}
					}, Version: "1", Log: log}, prometheus.NewRegistry())
			require.NoError(t, err)
			require.NoError(t, l.keepTunnel(service.URL, "b", http.NotFoundHandler()))
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- l.Run(ctx) }()
			require.Eventually(t, func() bool { return hub.Stands("b") }, time.Minute, time.Millisecond)
			require.Equal(t, 1, times(vms.PathRegister))
			hub.Drop("b")
			require.Eventually(t, func() bool { return times(vms.PathRegister) > 1 }, 20*time.Second, time.Millisecond)
			require.Zero(t, times(vms.PathLeave))
			cancel()
			require.ErrorIs(t, <-done, context.Canceled)
			require.Equal(t, 1, times(vms.PathLeave))
		})
	}
}
