package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Aborted is the exit code of a program that a second signal ended.
const Aborted = 130

// Same is how long after the first signal others are of the same stop: a terminal and whoever
// started the program both send one, to the process and to its group.
const Same = 2 * time.Second

// OnSignal returns a context that the first SIGINT or SIGTERM cancels. One that comes later than
// Same after it calls exit with Aborted. done ends the watching, and waits for it; after a first
// one the program ends by itself, whatever others come.
func OnSignal(parent context.Context, log *slog.Logger, exit func(code int)) (stopping context.Context, done func()) {
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 2) // one to end in order, one to abort
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	ctx, cancel, watched := watch(parent, log, signals, exit)
	return ctx, func() {
		// Another one of the same stop may still come, and would end a program that ends in order.
		if stopped := ctx.Err() != nil && parent.Err() == nil; !stopped {
			signal.Stop(signals)
		}
		cancel()
		<-watched
	}
}

// watch is OnSignal for signals that come from anywhere. cancel ends it.
func watch(parent context.Context, log *slog.Logger, signals <-chan os.Signal,
	exit func(code int)) (ctx context.Context, cancel func(), watched <-chan struct{}) {
	ctx, stopping := context.WithCancel(parent)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var first time.Time
		for {
			select {
			case sig := <-signals:
				switch {
				case first.IsZero():
					first = time.Now()
					log.Info("stopping; another signal aborts", "signal", sig.String(), "after", Same.String())
					stopping()
				case time.Since(first) > Same:
					log.Error("aborted before everything was written", "signal", sig.String())
					exit(Aborted)
				}
			case <-ended:
				return
			}
		}
	}()
	return ctx, func() { close(ended); stopping() }, done
}
