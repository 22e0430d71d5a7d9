package fuzz

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// inputPatience is how long an input is tried before the fuzzer goes on without its verdict. Go's
	// fuzzer ends a worker whose input takes ten seconds, and says "hung or terminated" of it,
	// whoever hangs.
	inputPatience = 6 * time.Second
	// trialPatience is how long a trial may take in all, on a machine at work. Then somebody hangs.
	trialPatience = 3 * time.Minute
)

// trials tries one input after the other. One that takes longer than inputPatience goes on by
// itself, and the next inputs wait for it.
type trials struct{ last *trial }

// trial is an input that is tried, for the functions that want a testing.TB. What fails in it is
// told by the input that waits for it then.
type trial struct {
	testing.TB // nil: what is not below is not for a trial
	ctx        context.Context
	input      string
	began      time.Time
	done       chan struct{}

	mu     sync.Mutex
	failed []string
	undo   []func()
}

// try runs body for an input, or goes on waiting for the one before.
func (s *trials) try(t *testing.T, input any, body func(t *trial)) {
	t.Helper()
	if s.last == nil {
		ctx, cancel := context.WithCancel(context.Background())
		next := &trial{ctx: ctx, input: fmt.Sprintf("%q", input), began: time.Now(), done: make(chan struct{})}
		s.last = next
		go func() {
			defer close(next.done)
			defer cancel()
			defer next.clean() // also where FailNow ends this goroutine
			body(next)
		}()
	}
	patience := trialPatience
	if fuzzing() {
		patience = inputPatience
	}
	select {
	case <-s.last.done:
	case <-time.After(patience):
		if time.Since(s.last.began) < trialPatience {
			return
		}
		t.Fatalf("input %s\n%s", s.last.input, whoHangs())
	}
	was := s.last
	s.last = nil
	if len(was.failed) > 0 {
		t.Fatalf("input %s\n%s", was.input, strings.Join(was.failed, "\n"))
	}
}

func (t *trial) clean() {
	for _, f := range slices.Backward(t.undo) {
		f()
	}
}

func (t *trial) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = append(t.failed, fmt.Sprintf(format, args...))
}

// Name is what testify asks for when something fails.
func (t *trial) Name() string { return "input" }

func (t *trial) FailNow() { runtime.Goexit() }

func (t *trial) Fatal(args ...any) { t.Errorf("%s", fmt.Sprint(args...)); t.FailNow() }

func (t *trial) Fatalf(format string, args ...any) { t.Errorf(format, args...); t.FailNow() }

func (t *trial) Helper() {}

func (t *trial) Context() context.Context { return t.ctx }

func (t *trial) Cleanup(f func()) { t.undo = append(t.undo, f) }

func (t *trial) TempDir() string {
	dir, err := os.MkdirTemp("", "trial-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// running are the programs that were started, and not ended.
var running programs

type programs struct {
	mu   sync.Mutex
	list []*process
}

func (r *programs) add(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, p)
}

func (r *programs) remove(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(other *process) bool { return other == p })
}

// whoHangs asks each program whether it lives, and says whose fault it is that an input takes so
// long: a program's that does not answer, or that was to end by itself; else the target's own.
func whoHangs() string {
	running.mu.Lock()
	list := slices.Clone(running.list)
	running.mu.Unlock()
	var out strings.Builder
	hung := 0
	for _, p := range list {
		if p.lives() {
			fmt.Fprintf(&out, "%s lives\n", p.cmd.Path)
			continue
		}
		hung++
		_ = p.cmd.Process.Signal(syscall.SIGQUIT) // it prints where it stands, and ends
		select {
		case <-p.done:
		case <-time.After(time.Second):
		}
		said := p.output()
		fmt.Fprintf(&out, "%s HANGS; it stands at:\n%s\n", p.cmd.Path, said[max(0, len(said)-20_000):])
	}
	if hung == 0 {
		stack := make([]byte, 1<<20)
		fmt.Fprintf(&out, "the target itself HANGS, not a program; it stands at:\n%s", stack[:runtime.Stack(stack, true)])
	}
	return out.String()
}

// lives reports whether a program answers, if it answers at all, and has not to end by itself.
func (p *process) lives() bool {
	if p.base == "" {
		return !p.ends
	}
	res, err := (&http.Client{Timeout: time.Second}).Get(p.base + "/healthz")
	return err == nil && res.Body.Close() == nil
}
