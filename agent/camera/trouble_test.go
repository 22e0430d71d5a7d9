package camera

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A camera whose times are all wrong does not fill the log: a day of it has some thirty lines, of
// which each counts from the one before. Trouble that was over is told at once when it comes again.
func TestTroubleThatLastsIsToldSeldom(t *testing.T) {
	var b bytes.Buffer
	l := troubleLog{log: slog.New(slog.NewTextHandler(&b, nil))}
	lines := func() (list []string) {
		for line := range strings.Lines(b.String()) {
			list = append(list, line)
		}
		b.Reset()
		return list
	}
	now, is := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), Stats{}
	seconds := func(n int, wrong uint64) {
		for range n {
			now, is.ClampedTimes = now.Add(time.Second), is.ClampedTimes+wrong
			l.look(is, now)
		}
	}
	seconds(60, 0)
	require.Empty(t, lines())
	seconds(1, 10)
	first := lines()
	require.Len(t, first, 1, "at once")
	require.Contains(t, first[0], "clamped_times=10 ")
	require.NotContains(t, first[0], "since_last_line")
	seconds(10, 10)
	second := lines()
	require.Len(t, second, 1)
	require.Contains(t, second[0], "clamped_times=100 ")
	require.Contains(t, second[0], "since_last_line=10s")
	seconds(24*3600, 10)
	day := lines()
	require.Less(t, len(day), 35)
	require.Greater(t, len(day), 20)
	require.Contains(t, day[len(day)-1], "since_last_line=1h0m0s")

	seconds(3600, 0)
	require.Len(t, lines(), 1, "what came after the last line")
	seconds(1, 10)
	require.Len(t, lines(), 1, "it had been over")
	seconds(9, 1)
	require.Empty(t, lines())
	seconds(1, 1)
	require.Len(t, lines(), 1)
}
