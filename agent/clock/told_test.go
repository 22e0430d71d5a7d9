package clock

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// telling is a machine that tells of steps, as Linux does.
type telling struct {
	began time.Time
	off   atomic.Int64
	reads atomic.Int32
	steps chan struct{}
}

func (*telling) BootID() string                          { return "a" }
func (m *telling) Boot() time.Duration                   { return time.Since(m.began) }
func (m *telling) Steps(context.Context) <-chan struct{} { return m.steps }
func (m *telling) Read() Reading {
	m.reads.Add(1)
	return Reading{Wall: time.Now().Add(time.Duration(m.off.Load())), Boot: m.Boot(), Synced: true}
}

// A true clock is looked at once a second, and a step is noticed as soon as the machine tells of
// it.
func TestStepsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &telling{began: time.Now(), steps: make(chan struct{}, 1)}
		c := New(Options{Machine: m, Log: slog.New(slog.DiscardHandler)})
		b := newBench(t, &hand{synced: true, id: "a"}) // for what the clock keeps
		require.NoError(t, c.Open(b, b))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Run(ctx) }()
		time.Sleep(5500 * time.Millisecond)
		before := m.reads.Load()
		time.Sleep(10 * time.Second)
		require.LessOrEqual(t, m.reads.Load()-before, int32(11))
		m.off.Store(int64(time.Hour))
		synctest.Wait()
		require.Zero(t, c.State().Steps)
		m.steps <- struct{}{}
		synctest.Wait()
		require.Equal(t, 1, c.State().Steps)
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	})
}

// The kernel's timer ends with its context.
func TestStepsEnd(t *testing.T) {
	m, ok := System().(interface {
		Steps(context.Context) <-chan struct{}
	})
	if !ok {
		t.Skip("only Linux tells of steps of the clock (timerfd): run it there")
	}
	ctx, cancel := context.WithCancel(t.Context())
	steps := m.Steps(ctx)
	require.NotNil(t, steps)
	cancel() // TestMain looks for goroutines that are left
	require.Empty(t, steps)
}
