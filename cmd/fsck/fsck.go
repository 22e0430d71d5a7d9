// Package fsck is what the fsck commands of both programs have in common: it checks and repairs the
// files of a program that does not run, and prints what it found.
//
//	s, err := fsck.Journal(path, repair, log)
//	s.Print(os.Stdout, "journal", "events", "ongoing")
package fsck

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"vmsbridge/storage/database"
	"vmsbridge/storage/journal/file"
)

// ExitWrong is fsck's own exit code: a store is damaged.
const ExitWrong = 3

// Store is what fsck says of one store.
type Store struct {
	Path     string         `json:"path"`
	Clean    bool           `json:"clean"` // now: after the repair, if there was one
	Holds    map[string]int `json:"holds"` // what is in it, by its name
	Bytes    int64          `json:"bytes"`
	Problems []string       `json:"problems"` // as found
	Repaired []string       `json:"repaired"` // what was done
	Left     []string       `json:"left"`     // problems that are still there
	Aside    []string       `json:"setAside"` // damaged files kept for you to look at or delete
	// what a power cut cut off: no problem, and nothing that was promised
	Torn    []string `json:"torn,omitempty"`
	Missing bool     `json:"missing,omitempty"` // there is no such store yet
}

// Journal checks a journal, and repairs it if wanted. The caller holds it.
func Journal(h *file.Held, path string, repair bool, log *slog.Logger) (*Store, error) {
	r, err := h.Check()
	if err != nil {
		return nil, err
	}
	found := &Store{Path: path, Problems: r.Problems}
	if repair && !r.Clean() {
		d, err := h.Repair(file.Options{Log: log})
		if err != nil {
			return nil, err
		}
		if d == nil {
			found.Repaired = []string{"a recovery that was cut off was ended"}
		} else {
			found.Repaired = []string{fmt.Sprintf("%d events were recovered into a new file, %d of them waiting (%d "+
				"again, to be sure) and %d parked; %d pages and %d values could not be read",
				d.Events, d.Waiting, d.Requeued, d.Parked, d.LostPages, d.DamagedValues)}
		}
		if r, err = h.Check(); err != nil {
			return nil, err
		}
	}
	found.Left = r.Problems
	found.Clean, found.Bytes = r.Clean(), r.Bytes
	found.Holds = map[string]int{"events": r.Events, "ongoing": r.Ongoing, "waiting": r.Waiting, "parked": r.Parked}
	found.Aside = h.Aside()
	return found, nil
}

// Records checks a file of records, and repairs it if wanted.
func Records(path string, hold func(string) (*database.Held, error), repair bool) (found *Store, err error) {
	found = &Store{Path: path}
	if err := database.Exists(path); err != nil {
		found.Missing, found.Clean = true, true
		return found, nil
	}
	h, err := hold(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = closed(h, err) }()
	r, err := h.Check()
	if err != nil {
		return nil, err
	}
	found.Problems = r.Problems
	if repair && !r.Clean() {
		d, err := h.Repair()
		switch {
		case err != nil:
			return nil, err
		case d == nil:
			found.Repaired = []string{"a recovery that was cut off was ended"}
		default:
			found.Repaired = []string{fmt.Sprintf("%d records were recovered into a new file, %d of them from the "+
				"copy; %d pages and %d records could not be read",
				d.Records, d.Restored, d.LostPages, d.BadRecords)}
		}
		if r, err = h.Check(); err != nil {
			return nil, err
		}
	}
	found.Left, found.Clean, found.Bytes = r.Problems, r.Clean(), r.Bytes
	found.Holds = map[string]int{"records": r.Records}
	found.Aside = h.Aside()
	return found, nil
}

func closed(c io.Closer, err error) error {
	if other := c.Close(); err == nil {
		return other
	}
	return err
}

// Hold holds a journal that must exist.
func Hold(path string) (*file.Held, error) { return file.Hold(path, time.Second) }

// Verdict prints the last line over some stores; name is the program's.
func Verdict(w io.Writer, program string, repaired bool, stores ...*Store) (clean bool) {
	clean = true
	problems, torn := 0, 0
	for _, s := range stores {
		clean = clean && s.Clean
		problems += len(s.Problems)
		torn += len(s.Torn)
	}
	say := func(text string) { _, _ = fmt.Fprintln(w, text) }
	switch {
	case clean && problems == 0 && torn > 0:
		say("all is in order; what a power cut cut off is put right by the next start, and nothing that was promised " +
			"is missing")
	case clean && problems == 0:
		say("all is in order")
	case clean:
		say("all is in order now; the files set aside can be deleted when nobody wants to look into them")
	case repaired:
		say("not everything could be repaired: see what is left above")
	default:
		say("something is wrong: " + program + " fsck --repair puts it in order and keeps what can be read")
	}
	return clean
}

// shownProblems bounds what is printed of one store; --json has all.
const shownProblems = 20

// Print prints a store under its name, with those of what it holds.
func (f *Store) Print(w io.Writer, name string, counts ...string) {
	if f.Missing {
		_, _ = fmt.Fprintf(w, "%s: %s is not there yet\n", name, f.Path)
		return
	}
	_, _ = fmt.Fprintf(w, "%s: %s, %.1f MB", name, f.Path, float64(f.Bytes)/1e6)
	for _, c := range counts {
		_, _ = fmt.Fprintf(w, ", %d %s", f.Holds[c], c)
	}
	_, _ = fmt.Fprintln(w)
	for _, part := range []struct {
		word string
		list []string
	}{{"wrong", f.Problems}, {"torn", f.Torn}, {"repaired", f.Repaired}, {"set aside", f.Aside}} {
		for i, text := range part.list {
			if i == shownProblems {
				_, _ = fmt.Fprintf(w, "  and %d more\n", len(part.list)-i)
				break
			}
			_, _ = fmt.Fprintf(w, "  %s: %s\n", part.word, text)
		}
	}
	if len(f.Repaired) > 0 {
		for _, text := range f.Left {
			_, _ = fmt.Fprintf(w, "  left: %s\n", text)
		}
	}
}
