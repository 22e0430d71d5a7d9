package cli

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Whoever logs never waits for a reader that hangs; once it reads again the log says how many lines
// it lacks, and where.
func TestLogThatNobodyTakes(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			log, lines := NewLog(w, format, slog.LevelInfo)
			for n := range 3 * logLines {
				log.Info("line", "n", n)
				if n == 0 {
					synctest.Wait() // it hangs in this line
				}
			}
			began := time.Now()
			require.NoError(t, lines.Close())
			require.Equal(t, logEnd, time.Since(began), "it hangs still")
			log.Info("after the end")
			read := make(chan string)
			go func() { all, _ := io.ReadAll(r); read <- string(all) }()
			<-lines.done
			require.NoError(t, w.Close())
			got := strings.Split(strings.TrimSpace(<-read), "\n")
			require.Len(t, got, 1+logLines+1)
			require.Contains(t, got[logLines], "1024")
			require.Contains(t, got[logLines+1], "missing here")
			require.Contains(t, got[logLines+1], "2047")
			require.Equal(t, format == "json", strings.HasPrefix(got[logLines+1], "{"))
		})
	}
}

// What was logged before the end is written before the end.
func TestLogIsWrittenAtTheEnd(t *testing.T) {
	var b strings.Builder
	log, lines := NewLog(&b, "text", slog.LevelWarn)
	log.Info("no")
	log.Warn("one")
	log.Warn("two")
	require.NoError(t, lines.Close())
	require.Equal(t, 2, strings.Count(b.String(), "\n"))
	require.NotContains(t, b.String(), "missing")
	require.NoError(t, lines.Close(), "twice")
}
