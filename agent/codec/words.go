package codec

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// words reads what a process says on its standard error: libjpeg writes a line there for each
// damaged picture, and the Go runtime its reason for a crash. It is read at once, for a full pipe
// would stop the process, and logged seldom.
type words struct {
	log     *slog.Logger
	metrics *metrics
	pid     int

	mu   sync.Mutex // guards last
	last []string
}

const (
	lastLines    = 4
	maxLineBytes = 512
	wordsEvery   = time.Minute // at most one line in the log per process
)

func newWords(log *slog.Logger, m *metrics, pid int) *words {
	return &words{log: log, metrics: m, pid: pid}
}

// drain reads until the process closes its end, and closes ours.
func (w *words) drain(f *os.File) {
	defer f.Close()
	var (
		r      = bufio.NewReaderSize(f, maxLineBytes)
		logged time.Time
		silent int
	)
	for {
		line, err := r.ReadSlice('\n') // a longer line comes in pieces
		if text := strings.TrimSpace(string(line)); text != "" {
			w.metrics.lines.Inc()
			w.keep(text)
			if now := time.Now(); now.Sub(logged) >= wordsEvery {
				w.log.Info("decoder process says", "pid", w.pid, "line", text, "lines_not_shown", silent)
				logged, silent = now, 0
			} else {
				silent++
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (w *words) keep(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last = append(w.last, line); len(w.last) > lastLines {
		w.last = w.last[1:]
	}
}

// lastWords is the end of what the process said.
func (p *process) lastWords() string {
	p.words.mu.Lock()
	defer p.words.mu.Unlock()
	return strings.Join(p.words.last, " | ")
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
