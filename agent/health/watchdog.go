package health

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"vmsbridge/agent/supervisor"
)

// Sign is one thing whose progress shows that the bridge lives. Do returns nil only after it has
// seen that progress, and an error that says what stands still. It must return soon after ctx is
// done.
type Sign struct {
	Name string
	Do   func(ctx context.Context) error
}

// Watchdog feeds the service manager's watchdog as long as all checks pass. There is no other
// feeding: where one part stands still, the manager ends the process after its time and starts it
// anew.
type Watchdog struct {
	Every time.Duration // the manager's patience
	Alive func()        // feeds
	Signs []Sign
	Log   *slog.Logger
}

// Run looks three times within the manager's patience, until ctx is done. Without patience it
// returns at once.
func (w *Watchdog) Run(ctx context.Context) error {
	if w.Every <= 0 {
		return nil
	}
	tick := time.NewTicker(w.Every / 3)
	defer tick.Stop()
	stuck := false
	for {
		switch err := w.look(ctx); {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			w.Log.Error("the bridge stands still; the service manager restarts it if this lasts", "error", err,
				"patience", w.Every.String())
			stuck = true
		default:
			w.Alive()
			if stuck {
				w.Log.Info("the bridge goes on")
				stuck = false
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// look makes all checks at once. One that does not even return is left behind: the process ends
// soon.
func (w *Watchdog) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.Every/3)
	defer cancel()
	results := make(chan error, len(w.Signs)) // each sends once
	waiting := sync.Map{}
	for _, c := range w.Signs {
		waiting.Store(c.Name, true)
		go func() {
			err := supervisor.Caught(func() error { return c.Do(ctx) })()
			if err != nil {
				err = fmt.Errorf("%s: %w", c.Name, err)
			}
			waiting.Delete(c.Name)
			results <- err
		}()
	}
	var errs []error
	for range w.Signs {
		select {
		case err := <-results:
			errs = append(errs, err)
		case <-ctx.Done():
			waiting.Range(func(name, _ any) bool {
				errs = append(errs, fmt.Errorf("%v: no answer", name))
				return true
			})
			return errors.Join(append(errs, ctx.Err())...)
		}
	}
	return errors.Join(errs...)
}
