package file

import (
	"fmt"
	"io"
	"time"

	"vmsbridge/storage/guard"
)

// Held is the journal of a program that does not run, held so that none can start on it. One
// goroutine.
//
//	h, err := file.Hold(path, time.Second)
//	if err != nil { return err }
//	defer h.Close()
//	report, err := h.Check()
//	if err == nil && !report.Clean() { damage, err = h.Repair(file.Options{}) }
type Held struct {
	path string
	lock io.Closer
}

// Hold takes the lock of the journal at path, which must exist, waiting for another holder for a
// bounded time; then it gives ErrLocked.
func Hold(path string, patience time.Duration) (*Held, error) {
	if err := guard.Exists(path); err != nil {
		return nil, fmt.Errorf("hold journal: %w", err)
	}
	l, err := guard.Lock(path, patience)
	if err != nil {
		return nil, fmt.Errorf("hold journal %s: %w", path, err)
	}
	return &Held{path, l}, nil
}

// Close lets go.
func (h *Held) Close() error { return h.lock.Close() }

// Aside names the files that recoveries have set aside, oldest first.
func (h *Held) Aside() []string { return guard.Asides(h.path) }

// Check is File.Check for a file that is not open. It changes nothing, not even what Open would see
// to. A newer form gives ErrNewer.
func (h *Held) Check() (Report, error) {
	r, err := checkClosed(h.path)
	if err != nil {
		return r, fmt.Errorf("check journal %s: %w", h.path, err)
	}
	return r, nil
}

// Repair sets a damaged journal aside and puts a new one with what can be read in its place, as
// Open does, and tells what it did; nil if there was nothing to do. Of opts, Log and Now matter.
func (h *Held) Repair(opts Options) (*Damage, error) {
	if err := guard.FinishRecovery(h.path); err != nil {
		return nil, fmt.Errorf("repair journal %s: %w", h.path, err)
	}
	r, err := h.Check()
	if err != nil || r.Clean() {
		return nil, err
	}
	f := newFile(h.path, opts)
	if err := f.replaceDamaged(guard.Damaged(r.Problems[0])); err != nil {
		return nil, fmt.Errorf("repair journal %s: %w", h.path, explain(err))
	}
	d := f.Damage()
	return d, f.Close()
}
