package health

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A slow disk is said while a write still takes its time, with its beginning and what to do, and
// that it is over when it is.
func TestASlowDiskIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		d := NewWriteTimer(slog.New(slog.NewTextHandler(&log, nil)))
		said := func() (*Slow, []Problem) {
			r := &Report{Running: true, Disk: Space{Path: "/data", Slow: d.Report(time.Now())}}
			r.Judge()
			return r.Disk.Slow, r.Problems
		}
		for range 10 {
			ended := d.Write()
			time.Sleep(slowWrite / 2)
			ended()
		}
		slow, problems := said()
		require.Nil(t, slow)
		require.Empty(t, problems)

		began := time.Now()
		ended := d.Write()
		time.Sleep(slowWrite)
		slow, problems = said()
		require.Len(t, problems, 1, "while it still writes")
		require.Equal(t, SlowDisk, problems[0].Kind)
		require.Contains(t, problems[0].Hint, "replace the card")
		require.Equal(t, began.UTC(), slow.Since)
		time.Sleep(3 * time.Second)
		ended()
		require.Contains(t, log.String(), "the disk is slow")
		time.Sleep(slowOver / 2)
		d.Write()()
		slow, problems = said()
		require.Len(t, problems, 1, "one fast write is no proof")
		require.Equal(t, (slowWrite + 3*time.Second).Seconds(), slow.Longest)
		time.Sleep(slowOver)
		d.Write()()
		slow, problems = said()
		require.Empty(t, problems)
		require.Equal(t, began.UTC(), slow.Since, "when it was is still to be seen")
		require.Equal(t, began.Add(slowWrite+3*time.Second), slow.Until)
		require.Contains(t, log.String(), "no longer slow")
	})
}
