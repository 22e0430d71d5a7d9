package home

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// feed is a backlog of places 1, 2, 3 …, one a minute.
type feed struct {
	mu      sync.Mutex
	from    int // the first that waits
	to      int
	began   time.Time
	skipped int
	fail    error
}

func (f *feed) Read(uint64, int) ([]Change, error) { return nil, nil }
func (f *feed) Advance(uint64) error               { return nil }
func (f *feed) Changed() <-chan struct{}           { return nil }
func (f *feed) Now() time.Time                     { return time.Now() }

func (f *feed) Trim(most int, before time.Time) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for f.from <= f.to && (most > 0 && f.to-f.from+1 > most || f.at(f.from).Before(before)) {
		f.from++
		n++
	}
	f.skipped += n
	return n, f.fail
}

func (f *feed) at(i int) time.Time { return f.began.Add(time.Duration(i) * time.Minute) }

func (f *feed) Lag(after uint64) (Lag, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := max(f.from, int(after)+1)
	l := Lag{Waiting: f.to - from + 1, Skipped: uint64(f.skipped)}
	if l.Waiting > 0 {
		l.Oldest = f.at(from)
	}
	return l, nil
}

func TestCapsAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &feed{from: 1, to: 300, began: time.Now().Add(-300 * time.Minute)}
		var log bytes.Buffer
		l := NewLedger("webhook", "x", f, Caps{Events: 250, Age: 2 * time.Hour}, nil, slog.New(slog.NewTextHandler(&log, nil)))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.Keep(ctx) }()
		synctest.Wait()
		require.Equal(t, 250, l.Status().Waiting, "the number counts at once")
		require.EqualValues(t, 50, l.Trimmed())
		time.Sleep(59 * time.Minute)
		require.Equal(t, 250, l.Status().Waiting, "the age only once the clock has gone on for long")
		time.Sleep(3 * time.Minute)
		s := l.Status()
		require.InDelta(t, 58, s.Waiting, 2)
		require.EqualValues(t, 300-s.Waiting, s.Skipped)
		l.Passed(298)
		require.Equal(t, 2, l.Status().Waiting)
		cancel()
		require.NoError(t, <-done)
		require.Contains(t, log.String(), "too far behind")
	})
}

// A clock that is set begins anew; one that is slewed does not.
func TestSteady(t *testing.T) {
	now := time.Now()
	s := steady{since: now}
	require.Equal(t, time.Hour, s.lasts(now.Add(time.Hour)))
	require.True(t, stepped(time.Hour, time.Hour+2*clockSlack))
	require.True(t, stepped(time.Hour, time.Hour-2*clockSlack))
	require.False(t, stepped(time.Hour, time.Hour+clockSlack/2))
}

func TestLedger(t *testing.T) {
	f := &feed{from: 1, to: 3, began: time.Now().Add(-time.Hour)}
	reg := prometheus.NewRegistry()
	var log bytes.Buffer
	l := NewLedger("mqtt", "broker", f, Caps{}, reg, slog.New(slog.NewTextHandler(&log, nil)))
	NewLedger("webhook", "a", f, Caps{}, reg, slog.New(slog.DiscardHandler)) // several share a registry
	require.Equal(t, Status{Kind: "mqtt", Name: "broker", Waiting: 3, Oldest: f.at(1)}, l.Status())
	for range 100 {
		l.Down(errors.New("refused"), "start the broker")
		l.Refused("id", "too large")
	}
	s := l.Status()
	require.Equal(t, []any{false, "start the broker", "refused", "id: too large", uint64(100)}, []any{s.Up, s.Problem, s.LastError, s.LastRefused, s.Refused})
	require.Equal(t, 2, bytes.Count(log.Bytes(), []byte("\n")), "one line for each trouble, not one for each event:\n%s", &log)
	l.Down(errors.New("refused"), "sign in")
	require.Equal(t, 3, bytes.Count(log.Bytes(), []byte("\n")), "another trouble is said at once")
	l.Up()
	l.Sent(2)
	l.Up()
	s = l.Status()
	require.Equal(t, []any{true, "", "refused", uint64(2)}, []any{s.Up, s.Problem, s.LastError, s.Sent})
	require.Contains(t, log.String(), "home=mqtt/broker")
	require.Equal(t, 4, bytes.Count(log.Bytes(), []byte("\n")))
	found, err := reg.Gather()
	require.NoError(t, err)
	got := map[string]float64{}
	for _, fam := range found {
		require.Len(t, fam.GetMetric(), 2)
		for _, m := range fam.GetMetric() {
			if m.GetLabel()[0].GetValue() == "mqtt/broker" {
				got[fam.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	require.Greater(t, got["vmsbridge_home_oldest_age_seconds"], 3000.0)
	delete(got, "vmsbridge_home_oldest_age_seconds")
	require.Equal(t, map[string]float64{"vmsbridge_home_sent_total": 2, "vmsbridge_home_refused_total": 100, "vmsbridge_home_failures_total": 101,
		"vmsbridge_home_up": 1, "vmsbridge_home_waiting_events": 3, "vmsbridge_home_skipped_events": 0}, got)
}
