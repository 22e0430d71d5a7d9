package fuzz

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// inputPatience is how long an input is tried before the fuzzer goes on without its verdict.
	// Go's fuzzer ends a worker whose input takes ten seconds, and says "hung or terminated" of it,
	// whoever hangs.
	inputPatience = 6 * time.Second
	// trialPatience is how long a trial may take in all, on a machine at work. Then somebody hangs.
	trialPatience = 3 * time.Minute
	// answerPatience is how long a program may take for something small, on a machine at work.
	answerPatience = 45 * time.Second
	// hangPatience is how long it may take with one request while it answers others at once. It is
	// longer than the service waits for a bridge.
	hangPatience = 20 * time.Second
	// formerTrials is how many trials are told of beside the one that failed. A program may stumble
	// over an input a moment after the next one has begun.
	formerTrials = 3
)

// trials tries one input after the other. One that takes longer than inputPatience goes on by
// itself, and the next inputs wait for it.
type trials struct {
	last   *trial
	former []*trial // that went well, the newest last
}

// trial is an input that is tried, for the functions that want a testing.TB. What fails in it is
// told by the input that waits for it then.
type trial struct {
	testing.TB // nil: what is not below is not for a trial
	ctx        context.Context
	input      []byte
	began      time.Time
	done       chan struct{}

	mu     sync.Mutex
	did    []string
	failed []string
	undo   []func()
}

// try runs body for an input, or goes on waiting for the one before. The tape is the input's.
func (s *trials) try(t *testing.T, input []byte, body func(t *trial, in *tape)) {
	t.Helper()
	if s.last == nil {
		ctx, cancel := context.WithCancel(context.Background())
		next := &trial{ctx: ctx, input: bytes.Clone(input), began: time.Now(), done: make(chan struct{})}
		s.last = next
		go func() {
			defer close(next.done)
			defer cancel()
			defer next.clean() // also where FailNow ends this goroutine
			defer func() {
				if p := recover(); p != nil {
					next.Errorf("the target itself PANICS: %v\n%s", p, debug.Stack())
				}
			}()
			debug.SetPanicOnFault(true) // a file that bbolt maps may be damaged
			body(next, newTape(next.input))
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
		t.Fatalf("%s\n%s", s.last.says(), whoHangs())
	}
	was := s.last
	s.last = nil
	if len(was.failed) == 0 {
		s.former = append(s.former[max(0, len(s.former)-formerTrials+1):], was)
		return
	}
	var all strings.Builder
	for _, f := range s.former {
		fmt.Fprintf(&all, "A trial shortly before: %s", f.says())
	}
	t.Fatalf("%s\nThe trial that failed: %s", strings.Join(was.failed, "\n"),
		strings.TrimSpace(was.says()+all.String()))
}

// Did notes what the trial does, for people.
func (t *trial) Did(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.did = append(t.did, fmt.Sprintf(format, args...))
}

// says is what was done, and with which input.
func (t *trial) says() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Sprintf("input %q\n  %s\n", t.input, strings.Join(t.did, "\n  "))
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
		fmt.Fprintf(&out, "%s HANGS; %s\n", p.cmd.Path, p.stands())
	}
	if hung == 0 {
		stack := make([]byte, 1<<20)
		fmt.Fprintf(&out, "the target itself HANGS, not a program; it stands at:\n%s",
			stack[:runtime.Stack(stack, true)])
	}
	return out.String()
}

// stands ends a program, which prints where it stands.
func (p *process) stands() string {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
	}
	return "it stands at:\n" + last(p.output(), 30_000)
}

// last is the end of a text.
func last(text string, most int) string { return text[max(0, len(text)-most):] }

// livesWell reports whether a program answers several times running.
func (p *process) livesWell() bool {
	for range 3 {
		if !p.lives() {
			return false
		}
	}
	return true
}

// lives reports whether a program answers, if it answers at all, and has not to end by itself.
func (p *process) lives() bool {
	if p.base == "" {
		return !p.ends
	}
	res, err := (&http.Client{Timeout: time.Second}).Get(p.base + "/healthz")
	return err == nil && res.Body.Close() == nil
}
