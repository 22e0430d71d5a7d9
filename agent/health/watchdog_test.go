package health

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The watchdog is fed three times within the manager's patience, as long as all checks pass, and
// never otherwise.
func TestWatchdogIsFedByProgressOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fed atomic.Int64
		var trouble atomic.Pointer[string]
		w := Watchdog{Every: 90 * time.Second, Alive: func() { fed.Add(1) }, Log: slog.New(slog.DiscardHandler),
			Signs: []Sign{
				{"good", func(context.Context) error { return nil }},
				{"other", func(ctx context.Context) error {
					switch p := trouble.Load(); {
					case p == nil:
						return nil
					case *p == "panic":
						panic("a bug")
					case *p == "hangs":
						<-ctx.Done()
						return ctx.Err()
					}
					return errors.New(*trouble.Load())
				}}}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(90*time.Second + time.Second)
		require.EqualValues(t, 4, fed.Load(), "at once, and three times in the manager's patience")
		for _, word := range []string{"it stands still", "panic", "hangs"} {
			trouble.Store(&word)
			time.Sleep(30 * time.Second)
			before := fed.Load()
			time.Sleep(10 * time.Minute)
			require.Equal(t, before, fed.Load(), word)
			trouble.Store(nil)
			time.Sleep(61 * time.Second)
			require.Greater(t, fed.Load(), before)
		}
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})
}

func TestWithoutAManagerNothingIsDone(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	m := NewManager(slog.New(slog.DiscardHandler))
	require.Zero(t, m.WatchdogEvery())
	m.Ready("x")
	m.Reloading()
	m.Stopping()
	w := Watchdog{Every: m.WatchdogEvery(), Alive: func() { t.Error("fed") }, Log: slog.New(slog.DiscardHandler)}
	require.NoError(t, w.Run(t.Context()))
}
