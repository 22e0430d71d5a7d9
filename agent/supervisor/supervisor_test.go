package supervisor

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// worker blocks until it is told to end, or does what its task says.
type worker struct {
	name string
	run  func(context.Context) error
}

func (w *worker) Run(ctx context.Context) error {
	if w.run != nil {
		return w.run(ctx)
	}
	<-ctx.Done()
	return ctx.Err()
}

// set is a supervisor of plain workers, which counts what it is asked to make and to forget.
type set struct {
	*Supervisor[*worker]
	restarts *prometheus.CounterVec
	running  atomic.Int32

	mu     sync.Mutex // guards the rest
	made   map[string]int
	forgot []string
}

func newSet() *set {
	s := &set{made: map[string]int{}, restarts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "restarts"},
		[]string{"name"})}
	s.Supervisor = New[*worker](Options{Label: "name", Failed: "it failed", Log: slog.New(slog.DiscardHandler),
		Restarts: s.restarts,
		Backoff:  Backoff{Min: time.Millisecond, Max: time.Millisecond, Calm: time.Minute},
		Forget:   func(name string) { s.mu.Lock(); s.forgot = append(s.forgot, name); s.mu.Unlock() }})
	return s
}

// task is one of a name and a setting; lives are what its workers do, one after the other, before
// those that block.
func (s *set) task(name, setting string, lives ...func(context.Context) error) Task[*worker] {
	return Task[*worker]{Name: name, Config: setting, New: func() (*worker, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if setting == "bad" {
			return nil, errors.New(name + ": it cannot be made")
		}
		w := &worker{name: name}
		if n := s.made[name]; n < len(lives) {
			w.run = lives[n]
		}
		s.made[name]++
		return w, nil
	}}
}

func (s *set) count(name string) int { s.mu.Lock(); defer s.mu.Unlock(); return s.made[name] }

// start runs it until the test calls stop.
func (s *set) start(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	require.NoError(t, s.Ping(t.Context()))
	return func() { cancel(); require.ErrorIs(t, <-done, context.Canceled) }
}

func TestApplyTouchesOnlyWhatChanged(t *testing.T) {
	s := newSet()
	require.NoError(t, s.Set([]Task[*worker]{s.task("a", "1"), s.task("c", "1")}))
	stop := s.start(t)
	defer stop()
	first := s.Workers()
	require.Len(t, first, 2)

	change, err := s.Apply(t.Context(), []Task[*worker]{s.task("c", "1"), s.task("a", "1")})
	require.NoError(t, err)
	require.True(t, change.Empty())
	now := s.Workers()
	require.Same(t, first[1].Worker, now[0].Worker, "in the new order, and the same")
	require.Same(t, first[0].Worker, now[1].Worker)

	change, err = s.Apply(t.Context(), []Task[*worker]{s.task("a", "2"), s.task("new", "1")})
	require.NoError(t, err)
	require.Equal(t, Change{Added: []string{"new"}, Removed: []string{"c"}, Restarted: []string{"a"}}, change)
	require.Equal(t, []string{"c"}, s.forgot)
	now = s.Workers()

	_, err = s.Apply(t.Context(), []Task[*worker]{s.task("a", "3"), s.task("x", "bad")})
	require.ErrorContains(t, err, "x: it cannot be made")
	require.Equal(t, now, s.Workers(), "one that cannot be made changes nothing")

	change, err = s.Apply(t.Context(), nil)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"a", "new"}, change.Removed)
	require.Empty(t, s.Workers())
	require.NoError(t, s.Ping(t.Context()))
}

// The old worker of a task has ended before the new one begins: a camera is never asked for two
// sessions.
func TestAWorkerIsReplacedByOneAtATime(t *testing.T) {
	s := newSet()
	run := func(ctx context.Context) error {
		if s.running.Add(1) != 1 {
			return errors.New("another one runs")
		}
		<-ctx.Done()
		s.running.Add(-1)
		return ctx.Err()
	}
	lives := []func(context.Context) error{run, run, run, run, run, run}
	require.NoError(t, s.Set([]Task[*worker]{s.task("a", "0", lives...)}))
	stop := s.start(t)
	for _, setting := range []string{"1", "2", "3", "4", "5"} {
		_, err := s.Apply(t.Context(), []Task[*worker]{s.task("a", setting, lives...)})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return s.running.Load() == 1 }, time.Minute, time.Millisecond)
	stop()
	require.Zero(t, testutil.ToFloat64(s.restarts.WithLabelValues("a")))
	require.Zero(t, s.running.Load())
}

func TestAFailureCostsTheOthersNothing(t *testing.T) {
	for name, fails := range map[string]func(context.Context) error{
		"a panic":  func(context.Context) error { panic("a bug") },
		"an error": func(context.Context) error { return errors.New("it broke") },
		"its end":  func(context.Context) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSet()
			require.NoError(t, s.Set([]Task[*worker]{s.task("a", "", fails, fails), s.task("c", "")}))
			stop := s.start(t)
			require.Eventually(t, func() bool { return s.count("a") == 3 }, time.Minute, time.Millisecond,
				"it starts again")
			require.Equal(t, 1, s.count("c"))
			require.Equal(t, 2.0, testutil.ToFloat64(s.restarts.WithLabelValues("a")))
			require.Equal(t, 0.0, testutil.ToFloat64(s.restarts.WithLabelValues("c")))
			stop()
		})
	}
}

func TestWithoutRunASupervisorDoesNotAnswer(t *testing.T) {
	s := newSet()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Ping(ctx), context.DeadlineExceeded)
	_, err := s.Apply(ctx, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestBackoff(t *testing.T) {
	b := Backoff{Free: 2, Min: time.Second, Max: 5 * time.Second, Calm: time.Minute}
	for i, want := range []time.Duration{0, 0, 1, 2, 4, 5, 5} {
		require.Equal(t, want*time.Second, b.Failed(time.Second), "failure %d", i+1)
	}
	require.Zero(t, b.Failed(time.Minute), "a long life begins anew")
	b.Failures = 1000
	require.Equal(t, 5*time.Second, b.Pause())
}

func ExampleSupervisor() {
	s := New[*worker](Options{Label: "sink", Failed: "a sink failed; it starts again",
		Log: slog.New(slog.DiscardHandler)})
	task := Task[*worker]{Name: "mqtt", Config: "tcp://broker", New: func() (*worker, error) {
		return &worker{name: "mqtt"}, nil
	}}
	_ = s.Set([]Task[*worker]{task})
	ctx, stop := context.WithCancel(context.Background())
	go func() { defer stop(); _, _ = s.Apply(ctx, nil) }() // a changed configuration, without sinks
	_ = s.Run(ctx)
	// Output:
}
