package archive

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/clock"
	"vmsbridge/scripts/harness"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
)

// hand is a machine's clock that is set by hand, and that the kernel vouches for.
type hand struct {
	mu   sync.Mutex
	wall time.Time
	up   time.Duration
}

func (h *hand) BootID() string { return "boot" }

func (h *hand) Boot() time.Duration { return h.Read().Boot }

func (h *hand) Read() clock.Reading {
	h.mu.Lock()
	defer h.mu.Unlock()
	return clock.Reading{Wall: h.wall, Boot: h.up, Synced: true}
}

// pass lets time pass, in which the clock steps.
func (h *hand) pass(gone, step time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wall, h.up = h.wall.Add(gone+step), h.up+gone
}

// TestAgeCountsOnlyByASteadyClock steps the clock by seconds to decades, both ways; an event's age
// counts only when the last hour had no step in it.
func TestAgeCountsOnlyByASteadyClock(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	j, err := journal.Open(filepath.Join(dir, "j"), journal.Options{})
	require.NoError(t, err)
	defer j.Close()
	ring, err := stills.Open(filepath.Join(dir, "s"), stills.Options{MaxBytes: 1 << 20, MinFree: -1})
	require.NoError(t, err)
	defer ring.Close()
	h := &hand{wall: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), up: time.Minute}
	c := clock.New(clock.Options{Machine: h, Every: time.Millisecond, Log: log})
	s := &Archive{Journal: j, Ring: ring, clock: c}
	require.NoError(t, c.Open(j, eras{s}))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = c.Run(ctx) }()
	defer func() { stop(); <-ended }()

	steady := func() {
		t.Helper()
		require.Zero(t, s.aged(time.Hour))
		h.pass(59*time.Minute, 0)
		require.Zero(t, s.aged(time.Hour))
		h.pass(2*time.Minute, 0)
		require.WithinDuration(t, h.Read().Wall.Add(-time.Hour), s.aged(time.Hour), time.Second)
		require.Zero(t, s.aged(0), "no limit")
	}
	steady()
	for _, step := range []time.Duration{90 * time.Second, -3 * time.Hour, 20 * 365 * 24 * time.Hour,
		-20 * 365 * 24 * time.Hour} {
		steps := c.State().Steps
		h.pass(0, step)
		harness.Until(t, "the clock follows a step", func() bool { return c.State().Steps > steps })
		steady()
	}
}
