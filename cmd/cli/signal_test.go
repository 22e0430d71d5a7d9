package cli

import (
	"context"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A terminal sends SIGINT to the group, and whoever started the program sends it SIGTERM for the
// same reason: that is one stop. Who sends another one later means it.
func TestSignalsOfOneStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 2)
		var codes []int
		ctx, cancel, done := watch(t.Context(), slog.New(slog.DiscardHandler), signals,
			func(code int) { codes = append(codes, code) })
		require.NoError(t, ctx.Err())
		for range 5 {
			signals <- syscall.SIGINT
			synctest.Wait()
			require.ErrorIs(t, ctx.Err(), context.Canceled)
			require.Empty(t, codes, "it is the same stop")
			time.Sleep(Same / 4)
		}
		time.Sleep(Same)
		signals <- syscall.SIGTERM
		synctest.Wait()
		require.Equal(t, []int{Aborted}, codes)
		cancel()
		<-done
	})
}

// The second of the two signals ends no program that has ended the watching and is about to exit.
func TestASignalAfterTheStop(t *testing.T) {
	ctx, done := OnSignal(t.Context(), slog.New(slog.DiscardHandler), func(int) { t.Error("aborted") })
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	<-ctx.Done()
	done()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT)) // ends this program, or does not
	require.Eventually(t, func() bool {
		status, err := os.ReadFile("/proc/self/status")
		require.NoError(t, err)
		_, rest, _ := strings.Cut(string(status), "\nShdPnd:\t")
		pending, err := strconv.ParseUint(strings.Fields(rest)[0], 16, 64)
		require.NoError(t, err)
		return pending&(1<<(syscall.SIGINT-1)) == 0
	}, time.Minute, time.Millisecond, "it was delivered")
}
