package main

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

func TestLedger(t *testing.T) {
	j, err := journal.Open(filepath.Join(t.TempDir(), eventsFile), journal.Options{})
	require.NoError(t, err)
	defer j.Close()
	r := newRegistry(t)
	require.NoError(t,
		r.Register(t.Context(), principal("acc-1"),
			vms.Registration{ID: "b1", Cameras: []vms.RegisteredCamera{{ID: "c1", Name: "Gate"}}}))
	l := &ledger{Journal: j, registry: r, announce: newAnnouncer(r, "http://h", slog.New(slog.DiscardHandler))}

	point := motion("acc-1", "c1", 0)
	point.Span, point.EndTimestamp = false, &point.StartTimestamp
	require.NoError(t, l.Put(point, true))
	require.NoError(t, l.Put(point, true))
	require.Len(t, l.announce.lines, 1)
	require.Contains(t, <-l.announce.lines, "  instant   http://h/api")
	stats, err := j.OutboxStats()
	require.NoError(t, err)
	require.Zero(t, stats.Waiting, "the service reports to nobody")

	whole := motion("acc-1", "c1", 10)
	whole.EndTimestamp = vms.Ptr(whole.StartTimestamp.Add(time.Second))
	require.NoError(t, l.Put(whole, false))
	require.Len(t, l.announce.lines, 1, "one that comes whole is told once")
	<-l.announce.lines
	late := whole
	late.EndTimestamp = nil
	require.NoError(t, l.Put(late, false))
	stored, err := l.Get("acc-1", whole.ID)
	require.NoError(t, err)
	require.False(t, stored.Ongoing(), "a beginning that comes late opens nothing again")

	var twice sync.WaitGroup // the bridge got no answer in time and sends it again
	again := motion("acc-1", "c1", 15)
	again.EndTimestamp = vms.Ptr(again.StartTimestamp.Add(time.Second))
	for range 16 {
		twice.Go(func() { assert.NoError(t, l.Put(again, false)) })
	}
	twice.Wait()
	require.Len(t, l.announce.lines, 1, "one that comes twice at a time is told once")

	var e *vms.Error
	for _, ev := range []vms.Event{motion("acc-2", "c1", 20), motion("acc-1", "c7", 20)} {
		require.ErrorAs(t, l.Put(ev, false), &e)
		require.Equal(t, 404, e.Code)
		_, err = l.Get(ev.AccountID, ev.ID)
		require.ErrorIs(t, err, journal.ErrNotFound)
	}
}

// A line has the address of a picture only where there is one: a camera is there before its first.
func TestLinesOfDevices(t *testing.T) {
	a := newAnnouncer(newRegistry(t), "http://h", slog.New(slog.DiscardHandler))
	ev := motion("acc-1", "c1", 1)
	a.event(ev, nil)
	require.Contains(t, <-a.lines, "http://h")
	ev.Type = "vms.deviceCreationEvent.v1"
	a.event(ev, nil)
	require.NotContains(t, <-a.lines, "http://h")
}

// A reader that is stuck costs lines, never an event, and does not keep the program from stopping.
func TestStuckReader(t *testing.T) {
	r := newRegistry(t)
	a := newAnnouncer(r, "http://h", slog.New(slog.DiscardHandler))
	pr, pw := io.Pipe()
	defer pr.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); a.Run(ctx, pw) }()
	for n := range announceRoom + 100 {
		a.event(motion("acc-1", "c1", n), nil)
	}
	cancel()
	<-done
}
