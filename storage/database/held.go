package database

import (
	"fmt"
	"io"
	"os"

	"vmsbridge/storage/guard"
)

// Held is the file of a program that does not run, held so that none can start on it. One
// goroutine.
type Held struct {
	path string
	opts Options
	lock io.Closer
}

// Hold takes the lock of the file at path, or gives ErrLocked.
func Hold(path string, o Options) (*Held, error) {
	o = o.withDefaults()
	l, err := guard.Lock(path, o.Patience)
	if err != nil {
		return nil, fmt.Errorf("hold %s %s: %w", o.Name, path, err)
	}
	return &Held{path, o, l}, nil
}

// Exists is nil if Open would find a file at path, whatever its state, or its copy, and else says
// why not.
func Exists(path string) error {
	err := guard.Exists(path)
	if _, other := os.Lstat(path + CopySuffix); err != nil && other == nil {
		return nil
	}
	return err
}

// Check reads all of the file and compares it with its copy. It changes nothing.
func (h *Held) Check() (Report, error) {
	if err := guard.Exists(h.path); err == nil {
		if r, err := inspect(h.path, h.opts); err != nil || !r.Missing {
			return r, err
		}
		r := Report{}
		r.Addf("a recovery was cut off: its new file is there, and has not got its name yet")
		return r, nil
	}
	return inspect(h.path, h.opts)
}

// Repair replaces a damaged file, as Open does, and tells what it did; nil if there was nothing to
// do.
func (h *Held) Repair() (*Damage, error) {
	if err := guard.FinishRecovery(h.path); err != nil {
		return nil, fmt.Errorf("repair %s: %w", h.path, err)
	}
	r, err := h.Check()
	if err != nil || r.Clean() {
		return nil, err
	}
	d := &DB{path: h.path, opts: h.opts}
	if err := d.replace(r.Problems[0]); err != nil {
		return nil, fmt.Errorf("repair %s: %w", h.path, err)
	}
	o := d.at.Load()
	d.copyLocked(o, true)
	if err := o.db.Close(); err != nil {
		return nil, fmt.Errorf("repair %s: %w", h.path, err)
	}
	return &d.damage[0], nil
}

// Aside names the files that recoveries have set aside, oldest first.
func (h *Held) Aside() []string { return guard.Asides(h.path) }

// Close lets go.
func (h *Held) Close() error { return h.lock.Close() }
