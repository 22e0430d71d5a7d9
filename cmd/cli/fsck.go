package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"vmsbridge/storage/database"
	"vmsbridge/storage/journal/file"
)

// Wrong is the exit code of fsck for a store that is damaged.
const Wrong = 3

// Fsck is what the fsck commands of both programs say of one store of a program that does not run.
//
//	s, err := cli.FsckJournal(held, path, repair, log)
//	s.Print(os.Stdout, "journal", "events", "ongoing")
type Fsck struct {
	Path     string         `json:"path"`
	Clean    bool           `json:"clean"` // now: after the repair, if there was one
	Holds    map[string]int `json:"holds"` // counts of its records, by name
	Bytes    int64          `json:"bytes"`
	Problems []string       `json:"problems"` // as found
	Repaired []string       `json:"repaired"` // what was done
	Left     []string       `json:"left"`     // problems that are still there
	Aside    []string       `json:"setAside"` // damaged files kept for you to look at or delete
	// what a power cut cut off: no problem, and nothing that was promised
	Torn    []string `json:"torn,omitempty"`
	Missing bool     `json:"missing,omitempty"` // there is no such store yet
}

// FsckJournal checks a journal, and repairs it if wanted. The caller holds it.
func FsckJournal(h *file.Held, path string, repair bool, log *slog.Logger) (*Fsck, error) {
	r, err := h.Check()
	if err != nil {
		return nil, err
	}
	found := &Fsck{Path: path, Problems: r.Problems}
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

// FsckRecords checks a file of records, and repairs it if wanted.
func FsckRecords(path string, hold func(string) (*database.Held, error), repair bool) (found *Fsck, err error) {
	found = &Fsck{Path: path}
	if err := database.Exists(path); err != nil {
		found.Missing, found.Clean = true, true
		return found, nil
	}
	h, err := hold(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
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

// Verdict prints the last line over some stores, and says whether all are in order.
func Verdict(w io.Writer, program string, repaired bool, stores ...*Fsck) (clean bool) {
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

// shownProblems bounds the problems printed of one store; --json has all.
const shownProblems = 20

// Print prints a store under its name, with those of what it holds.
func (f *Fsck) Print(w io.Writer, name string, counts ...string) {
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
