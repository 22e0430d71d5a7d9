package supervisor

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
)

// Worker is a component that is kept running. Run blocks until ctx is done; returning
// before is a failure.
type Worker interface {
	Run(ctx context.Context) error
}

// Task is a worker that is wanted.
type Task[W Worker] struct {
	Name string // one of a kind
	// Config is what the worker is made of. A task of the same name and an equal Config
	// (reflect.DeepEqual) is the same one, whose worker goes on.
	Config any
	// New makes a worker and starts nothing. It is called again after each failure.
	New func() (W, error)
}

// Options of New. Label, Failed and Log must be set.
type Options struct {
	Label   string  // log key of a task's name
	Failed  string  // message of the log when a worker ends before it is told to
	Backoff Backoff // of each task; the zero value is 1 s, doubled up to 30 s
	// Restarts counts restarts by task; its one label is the name. Nil: nobody counts.
	Restarts *prometheus.CounterVec
	// Forget is told of a task that was taken out, when nothing of it runs any more. Nil: nobody
	// is.
	Forget func(name string)
	Log    *slog.Logger
}
