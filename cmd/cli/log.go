package cli

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	logLines = 1024        // that wait for the reader of the log
	logEnd   = time.Second // how long a program that ends waits for the last of them
)

// Lines passes lines on to a writer that may hang, as one does whose disk or container does,
// without ever waiting for it: lines that find no room are left out, and counted. Safe for
// concurrent use.
type Lines struct {
	waiting chan []byte
	done    chan struct{}

	mu     sync.Mutex // guards what follows
	missed int
	closed bool
}

// NewLines begins to pass lines on to w. Where some had to be left out, missing gives the line that
// says so. Close ends it.
func NewLines(w io.Writer, missing func(lines int) []byte) *Lines {
	l := &Lines{waiting: make(chan []byte, logLines), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for line := range l.waiting {
			_, _ = w.Write(line) // an error is the reader's going
			l.mu.Lock()
			n := l.missed
			if len(l.waiting) > 0 {
				n = 0 // those before the gap come first
			}
			l.missed -= n
			l.mu.Unlock()
			if n > 0 {
				_, _ = w.Write(missing(n))
			}
		}
	}()
	return l
}

// Write takes one line, or leaves it out. It never fails.
func (l *Lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return len(line), nil
	}
	select {
	case l.waiting <- bytes.Clone(line):
	default:
		l.missed++
	}
	return len(line), nil
}

// Close passes on what waits, for at most a second. Lines that come later are left out.
func (l *Lines) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.waiting)
	}
	l.mu.Unlock()
	select {
	case <-l.done:
	case <-time.After(logEnd):
	}
	return nil
}

// NewLog is the log of a program that runs for long: text, or JSON where format is "json", from
// level on. Writing to it never waits for the reader of w. The caller closes
// lines.
func NewLog(w io.Writer, format string, level slog.Leveler) (log *slog.Logger, lines *Lines) {
	made := func(w io.Writer) *slog.Logger {
		options := &slog.HandlerOptions{Level: level}
		if format == "json" {
			return slog.New(slog.NewJSONHandler(w, options))
		}
		return slog.New(slog.NewTextHandler(w, options))
	}
	lines = NewLines(w, func(n int) []byte {
		var b bytes.Buffer
		made(&b).Error("lines of the log are missing here: nobody took them in time", "lines", n)
		return b.Bytes()
	})
	return made(lines), lines
}
