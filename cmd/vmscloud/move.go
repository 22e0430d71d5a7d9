package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"vmsbridge/cmd/cli"
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/database"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/postgres"
	"vmsbridge/storage/vfs"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// moved is what is noted at both places of a move, before anything is copied: in a folder in
// moved.json, in PostgreSQL in a record.
type moved struct {
	ID     string    `json:"id"`   // of the move
	Away   bool      `json:"away"` // from here; else to here
	Began  time.Time `json:"began"`
	Done   bool      `json:"done"`
	Events string    `json:"events,omitempty"` // how far the events are copied, at the place to which
}

// refusal is why no service may run at a place that has this note, nil if it may.
func (m moved) refusal(at storeFlag) error {
	switch {
	case m.Away && at.Store == "":
		return fmt.Errorf("%s was moved away on %s: run the service where it is now; if that move is not wanted, "+
			"delete moved.json there",
			at.place(), m.Began.Format(time.DateOnly))
	case m.Away:
		return fmt.Errorf("%s was moved away on %s: run the service where it is now; if that move is not wanted: "+
			"delete from vms_records where bucket = 'move/note'", at.place(), m.Began.Format(time.DateOnly))
	case m.ID != "" && !m.Done:
		return fmt.Errorf("a move into %s has not ended: call vmscloud move again", at.place())
	}
	return nil
}

// raw is a place as a move has it: nothing in it is brought up to date.
type raw struct {
	at     storeFlag
	db     *postgres.DB              // nil: a folder
	stores map[string]database.Store // by the name of the part
	events Journal
}

// parts are what has records.
var parts = []string{"identity", "registry"}

// openRaw opens a place.
func (f storeFlag) openRaw() (r *raw, err error) {
	r = &raw{at: f, stores: map[string]database.Store{}}
	if f.Store != "" {
		if r.db, err = f.openDatabase(nil, time.Hour); err != nil {
			return r, err
		}
		for _, part := range parts {
			r.stores[part] = r.db.Records(part)
		}
		r.events, err = r.db.Events()
		return r, err
	}
	for part, file := range map[string]struct {
		name string
		opts database.Options
	}{"identity": {identityFile, store.FileOptions()}, "registry": {registryFile, registry.FileOptions()}} {
		db, err := database.Open(filepath.Join(f.Data, file.name), file.opts)
		if errors.Is(err, database.ErrLocked) {
			err = fmt.Errorf("%s is in use by a vmscloud; stop it first", f.Data)
		}
		if err != nil {
			return r, err
		}
		r.stores[part] = database.InFile(db)
	}
	events, err := journal.Open(filepath.Join(f.Data, eventsFile), journal.Options{})
	if err == nil {
		r.events = events
	}
	return r, err
}

func (r *raw) close() (err error) {
	if r == nil {
		return nil
	}
	if r.events != nil {
		err = r.events.Close()
	}
	for _, s := range r.stores {
		err = errors.Join(err, s.Close())
	}
	if r.db != nil {
		r.db.Close()
	}
	return err
}

// noteFile is the note's name in a folder; noteKey its key in PostgreSQL, in a bucket that is no
// part's.
const noteFile, notePart, noteBucket = "moved.json", "move", "note"

var noteKey = []byte("1")

// note reads the record of a move at a place, empty if there is none.
func (f storeFlag) note(db *postgres.DB) (m moved, err error) {
	var text []byte
	if db != nil {
		err = db.Records(notePart).View(func(tx database.Tx) error {
			text = bytes.Clone(tx.Bucket(noteBucket).Get(noteKey))
			return nil
		})
	} else if text, err = os.ReadFile(filepath.Join(f.Data, noteFile)); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && text != nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, fmt.Errorf("read whether %s was moved: %w", f.place(), err)
	}
	return m, nil
}

// setNote notes something at a place, durably.
func (r *raw) setNote(m moved) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if r.db != nil {
		return r.db.Records(notePart).Update(func(tx database.Tx) error {
			return tx.Bucket(noteBucket).Put(noteKey, text)
		})
	}
	return vfs.Replace(filepath.Join(r.at.Data, noteFile), text, 0o600, -1, -1)
}

// move is a move that is under way.
type move struct {
	from, to        *raw
	progress        *cli.Progress
	records, events int
}

func (m *move) close() error { return errors.Join(m.to.close(), m.from.close()) }

// run does all that is left to do: both notes, the copies, the comparison, and again the notes.
func (m *move) run() error {
	source, err := m.from.at.note(m.from.db)
	if err != nil {
		return err
	}
	target, err := m.to.at.note(m.to.db)
	if err != nil {
		return err
	}
	switch {
	case target.ID != "" && !target.Away && target.ID == source.ID && source.Away: // it goes on
	case source.Away:
		return source.refusal(m.from.at)
	case source.ID != "" && !source.Done:
		return source.refusal(m.from.at)
	default:
		if err := m.mayBegin(); err != nil {
			return err
		}
		target = moved{ID: rand.Text(), Began: time.Now().UTC()}
		source = moved{ID: target.ID, Away: true, Began: target.Began}
		if err := m.to.setNote(target); err != nil {
			return err
		}
		if err := m.from.setNote(source); err != nil {
			return err
		}
	}
	if !target.Done {
		if err := m.copy(&target); err != nil {
			return fmt.Errorf("%w; nothing is lost: call the same command again", err)
		}
	}
	target.Done, source.Done = true, true
	return errors.Join(m.to.setNote(target), m.from.setNote(source))
}

// mayBegin is nil if there is something to move, and the place to which is empty.
func (m *move) mayBegin() error {
	there, err := m.to.events.Empty()
	if err != nil {
		return err
	}
	sum, err := sumOf(m.to.stores["identity"])
	if err != nil {
		return err
	}
	if !there || sum.n > 0 {
		return fmt.Errorf("%s holds something already, and nothing was changed: name an empty place", m.to.at.place())
	}
	if sum, err = sumOf(m.from.stores["identity"]); err == nil && sum.n == 0 {
		err = m.from.at.noAccount()
	}
	return err
}

// copy copies the rest, and compares.
func (m *move) copy(target *moved) error {
	for _, part := range parts {
		if err := copyRecords(m.from.stores[part], m.to.stores[part]); err != nil {
			return fmt.Errorf("copy %s: %w", part, err)
		}
	}
	notes, err := m.from.notes()
	if err != nil {
		return err
	}
	for _, key := range notes {
		value, err := m.from.events.Meta(key)
		if err == nil && key != streamsName { // whose places are those of its own file
			err = m.to.events.SetMeta(key, value)
		}
		if err != nil {
			return err
		}
	}
	if err := m.copyEvents(target); err != nil {
		return err
	}
	return m.compare()
}

// copyEvents copies events in the order of the place that they are at, and notes now and then how
// far.
func (m *move) copyEvents(target *moved) error {
	n := 0
	for {
		list, next, err := m.from.walk(target.Events)
		if err == nil && len(list) > 0 {
			err = m.to.events.PutAll(list, false)
		}
		if err != nil {
			return fmt.Errorf("copy events: %w", err)
		}
		n += len(list)
		m.progress.Now("%d events copied", n)
		if next == "" {
			return nil
		}
		target.Events = next
		if err := m.to.setNote(*target); err != nil {
			return err
		}
	}
}

// walkAtOnce is how many events are read and stored together.
const walkAtOnce = 1000

// walk is some events behind a place that an earlier call gave as next, "" for the first ones; next
// is "" at the end.
func (r *raw) walk(after string) (list []vms.Event, next string, err error) {
	if e, ok := r.events.(*postgres.Events); ok {
		return e.Walk(after, walkAtOnce)
	}
	var at *vms.Cursor
	if after != "" {
		if err := json.Unmarshal([]byte(after), &at); err != nil {
			return nil, "", err
		}
	}
	page, err := r.events.List(vms.Query{Ascending: true, PageSize: walkAtOnce, Counted: new(int)}, at)
	if err != nil || page.Next == nil {
		return page.Events, "", err
	}
	text, err := json.Marshal(page.Next)
	return page.Events, string(text), err
}

// notes are the keys of the small values beside the events.
func (r *raw) notes() ([]string, error) {
	if e, ok := r.events.(*postgres.Events); ok {
		return e.MetaKeys()
	}
	return r.events.(*journal.Journal).MetaKeys()
}

// sum is how many of something there are, and what tells them from others, in whatever order they
// come.
type sum struct {
	n    int
	hash [sha256.Size]byte
}

func (s *sum) add(parts ...[]byte) {
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write(p)
	}
	for i, b := range h.Sum(nil) {
		s.hash[i] ^= b
	}
	s.n++
}

// compare reads both places whole.
func (m *move) compare() error {
	m.records, m.events = 0, 0
	for _, part := range parts {
		a, err := sumOf(m.from.stores[part])
		if err != nil {
			return err
		}
		b, err := sumOf(m.to.stores[part])
		if err != nil {
			return err
		}
		if a != b {
			return fmt.Errorf("the copy of %s differs: %d records are %d there", part, a.n, b.n)
		}
		m.records += a.n
	}
	var sums [2]sum
	for i, r := range []*raw{m.from, m.to} {
		for after := ""; ; {
			list, next, err := r.walk(after)
			if err != nil {
				return err
			}
			for _, ev := range list {
				text, err := json.Marshal(ev)
				if err != nil {
					return err
				}
				sums[i].add(text, []byte(ev.Owner))
			}
			m.progress.Now("%d events compared", sums[0].n+sums[1].n)
			if after = next; after == "" {
				break
			}
		}
	}
	if sums[0] != sums[1] {
		return fmt.Errorf("the copy of the events differs: %d are %d there", sums[0].n, sums[1].n)
	}
	m.events = sums[0].n
	return nil
}

// sumOf is that of all records, with the numbers that their buckets gave.
func sumOf(s database.Store) (all sum, err error) {
	err = s.View(func(tx database.Tx) error {
		all = sum{}
		for _, name := range tx.Buckets() {
			b := tx.Bucket(name)
			if n := b.Sequence(); n > 0 {
				all.add([]byte("sequence"), []byte(name), binary.BigEndian.AppendUint64(nil, n))
			}
			for k, v := range b.Range(nil, nil) {
				all.add([]byte("record"), []byte(name), k, v)
			}
		}
		return nil
	})
	return all, err
}

// copyRecords copies all records, some in each transaction.
func copyRecords(from, to database.Store) error {
	var names []string
	if err := from.View(func(tx database.Tx) error { names = tx.Buckets(); return nil }); err != nil {
		return err
	}
	type pair struct{ key, value []byte }
	for _, name := range names {
		for after := []byte(nil); ; {
			var list []pair
			var sequence uint64
			err := from.View(func(tx database.Tx) error {
				list, sequence = nil, tx.Bucket(name).Sequence()
				for k, v := range tx.Bucket(name).Range(after, nil) {
					if list = append(list, pair{bytes.Clone(k), bytes.Clone(v)}); len(list) == walkAtOnce {
						break
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			err = to.Update(func(tx database.Tx) error {
				b := tx.Bucket(name)
				for _, p := range list {
					if err := b.Put(p.key, p.value); err != nil {
						return err
					}
				}
				return b.SetSequence(sequence)
			})
			if err != nil {
				return err
			}
			if len(list) < walkAtOnce {
				break
			}
			after = append(slices.Clone(list[len(list)-1].key), 0) // the very next key
		}
	}
	return nil
}
