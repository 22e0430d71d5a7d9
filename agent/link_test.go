package agent

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/clock"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

func TestABridgeThatTheServiceDoesNotKnowSaysSo(t *testing.T) {
	var status atomic.Int64
	status.Store(http.StatusUnauthorized)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(status.Load()))
		_, _ = w.Write([]byte(`{"code":401,"message":"no"}`))
	}))
	defer service.Close()
	j, err := journal.Open(filepath.Join(t.TempDir(), JournalFile), journal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	lines := &counting{}
	l, err := newLink(configs.Service{URL: service.URL, Token: configs.NewSecret("0123456789abcdef")}, j, clock.New(clock.Options{Machine: clock.System(), Log: slog.New(lines)}),
		func() vms.Registration { return vms.Registration{ID: "b"} }, "1", prometheus.NewRegistry(), slog.New(lines))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	require.Eventually(t, func() bool { return l.Problem() == refusesToken }, 10*time.Second, time.Millisecond)
	status.Store(http.StatusServiceUnavailable)
	require.Eventually(t, func() bool { return l.Problem() != refusesToken && l.Problem() != "" }, 10*time.Second, time.Millisecond)
	status.Store(http.StatusOK)
	require.Eventually(t, func() bool { return l.Problem() == "" }, 20*time.Second, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Less(t, lines.n.Load(), int64(6), "a line for each new reason")
}

// counting is a slog.Handler that counts.
type counting struct {
	slog.Handler
	n atomic.Int64
}

func (c *counting) Enabled(context.Context, slog.Level) bool  { return true }
func (c *counting) Handle(context.Context, slog.Record) error { c.n.Add(1); return nil }
func (c *counting) WithAttrs([]slog.Attr) slog.Handler        { return c }
func (c *counting) WithGroup(string) slog.Handler             { return c }
