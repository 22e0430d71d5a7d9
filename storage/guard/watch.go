package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"vmsbridge/storage/vfs"
)

const (
	watchEvery = 2 * time.Second
	// watchGrace is how long what is gone may come back, as when a card is mounted again, before
	// the program ends.
	watchGrace = 30 * time.Second
)

// Watch sees to it that the files of a program stay where they are. Make it with NewWatch.
type Watch struct {
	log     *slog.Logger
	folders []string
	checks  []func() error
	gone    atomic.Pointer[error]
	grace   time.Duration
	every   time.Duration
}

// NewWatch watches folders, which must be there now, and what else can tell that it is in its
// place.
func NewWatch(log *slog.Logger, folders []string, more ...func() error) (*Watch, error) {
	w := &Watch{log: log, folders: folders, checks: more, grace: watchGrace, every: watchEvery}
	for _, path := range folders {
		was, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("watch the folder %s: %w", path, err)
		}
		w.checks = append(w.checks, func() error {
			is, err := os.Stat(path)
			if errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(was, is) {
				return fmt.Errorf("%s: %w", path, ErrGone)
			}
			return nil // what cannot be asked now is for those who read and write there to tell
		})
	}
	return w, nil
}

// Gone looks now, and wraps ErrGone if something is not in its place. It is safe for concurrent
// use.
func (w *Watch) Gone() error {
	for _, check := range w.checks {
		if err := check(); errors.Is(err, ErrGone) {
			w.gone.Store(&err)
			return err
		}
	}
	w.gone.Store(nil)
	return nil
}

// writable is an error if one of the folders takes no changes: a disk that was unmounted beside the
// program and is mounted again may be as read-only as before.
func (w *Watch) writable() error {
	const write = 2 // W_OK of access(2), which knows read-only file systems too
	for _, path := range w.folders {
		if err := syscall.Access(path, write); err != nil {
			return fmt.Errorf("write in %s: %w", path, err)
		}
	}
	return nil
}

// Run looks every two seconds until ctx is done. What is gone for half a minute is an error:
// whoever manages the program starts it anew.
func (w *Watch) Run(ctx context.Context) error {
	var since time.Time // when something was first seen to be gone
	refuses := false    // it is back, and cannot be written
	for {
		err := w.Gone()
		switch {
		case err != nil && since.IsZero():
			since, refuses = time.Now(), false
			w.log.Error("files are gone; nothing is stored or acknowledged", "error", err, "ends_after", w.grace)
		case err != nil && time.Since(since) >= w.grace:
			return err
		case err == nil && (refuses || !since.IsZero()):
			since = time.Time{}
			switch err := w.writable(); {
			case err == nil:
				refuses = false
				w.log.Info("the files are in their place again")
			case !refuses:
				refuses = true
				w.log.Error("the files are in their place again, but nothing can be written there", "error", err,
					"hint", vfs.Remedy(err, "the data folder"))
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(min(w.every, w.grace)):
		}
	}
}
