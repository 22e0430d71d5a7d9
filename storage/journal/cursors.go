package journal

import (
	"fmt"
	"slices"
	"strings"

	"vmsbridge/storage/journal/schema"
)

// Cursors opens the cursors of these names, in their order, and forgets all others, durably. A new
// one stands behind everything that was put so far; one that is open already is the same again.
// Without names, no sequence of changes is kept. What only the others had still to read goes with
// Prune, so that a long backlog delays no start. Call it once after Open; what is put before that
// is kept for the cursors of last time.
func (j *Journal) Cursors(names ...string) ([]*Cursor, error) {
	list, open := make([]*Cursor, len(names)), j.openCursors()
	for i, name := range names {
		if name == "" || len(name) > 256 || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("open cursor %q: it needs a name of its own, of at most 256 bytes", name)
		}
		if at := slices.IndexFunc(open, func(c *Cursor) bool { return c.name == name }); at >= 0 {
			list[i] = open[at]
			continue
		}
		list[i] = &Cursor{of: j, name: name, key: schema.CursorKey(name), changed: make(chan struct{}, 1)}
	}
	err := j.file.Do(func(t *schema.Tx) error {
		known, err := schema.Cursors(t.Tx)
		if err != nil {
			return err
		}
		end := schema.LastChange(t.Tx)
		for _, v := range known {
			end = max(end, v.Place)
		}
		for key := range known {
			if !slices.Contains(names, strings.TrimPrefix(key, schema.CursorPrefix)) {
				if err := t.Bucket(schema.Meta).Delete([]byte(key)); err != nil {
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
		return t.Consume()
	})
	if err != nil {
		return nil, fmt.Errorf("open the cursors: %w", err)
	}
	j.stateMu.Lock()
	j.cursors = list
	j.stateMu.Unlock()
	for _, c := range list {
		c.signal()
	}
	return list, nil
}

// openCursors are those that the latest call of Cursors asked for.
func (j *Journal) openCursors() []*Cursor {
	j.stateMu.Lock()
	defer j.stateMu.Unlock()
	return j.cursors
}
