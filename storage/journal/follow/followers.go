package follow

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/table"
	"vmsbridge/storage/journal/vault"
)

// Followers are the cursors of a file, which their owner has to Tell of changes. It is safe for
// concurrent use.
type Followers struct {
	file    *vault.File
	now     func() time.Time
	damaged prometheus.Counter

	mu      sync.Mutex // guards cursors
	cursors []*Cursor
}

// New makes the Followers of a file; nobody follows yet. now is the clock of Change.Since; damaged
// counts the values that could not be read.
func New(file *vault.File, now func() time.Time, damaged prometheus.Counter) *Followers {
	return &Followers{file: file, now: now, damaged: damaged}
}

// Open opens the cursors of these names, in their order, and forgets all others, durably. A new one
// stands behind everything that was put so far; one that is open already is the same again. Without
// names, no sequence of changes is kept. Call it after the journal was opened; what is put before
// that is kept for the cursors of last time.
func (l *Followers) Open(names ...string) ([]*Cursor, error) {
	l.mu.Lock()
	list, open := make([]*Cursor, len(names)), l.cursors
	l.mu.Unlock()
	for i, name := range names {
		if name == "" || len(name) > 256 || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("open cursor %q: it needs a name of its own, of at most 256 bytes", name)
		}
		if at := slices.IndexFunc(open, func(c *Cursor) bool { return c.name == name }); at >= 0 {
			list[i] = open[at]
			continue
		}
		list[i] = &Cursor{of: l, name: name, key: form.CursorKey(name), changed: make(chan struct{}, 1)}
	}
	left := true
	for left {
		err := l.file.Do(func(t *table.Tx) error {
			known, err := table.Cursors(t.Tx)
			if err != nil {
				return err
			}
			end := table.LastChange(t.Tx)
			for _, v := range known {
				end = max(end, v.Place)
			}
			for key := range known {
				if !slices.Contains(names, strings.TrimPrefix(key, form.CursorPrefix)) {
					if err := t.Bucket(form.Meta).Delete([]byte(key)); err != nil {
						return err
					}
				}
			}
			for _, c := range list {
				v, ok := known[string(c.key)]
				if !ok {
					v.Place = end
					if err := t.SetCursor(c.key, v); err != nil {
						return err
					}
				}
				c.skipped.Store(v.Skipped)
			}
			if err := t.Consume(); err != nil {
				return err
			}
			first, _ := t.Bucket(form.Changes).Cursor().First()
			left = first != nil && len(names) == 0
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("open the cursors: %w", err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cursors = list
	for _, c := range list {
		c.signal()
	}
	return list, nil
}

// has says whether the latest call of Open asked for c.
func (l *Followers) has(c *Cursor) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.cursors, c)
}

// Tell tells the cursors that the sequence of changes has a new entry, which is durable.
func (l *Followers) Tell() {
	l.mu.Lock()
	cursors := l.cursors
	l.mu.Unlock()
	for _, c := range cursors {
		c.signal()
	}
}
