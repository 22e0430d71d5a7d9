package main

import (
	"fmt"
	"io"
)

func (f verdict) print(w io.Writer, repaired bool) {
	f.Journal.print(w, "journal", "events", "ongoing", "waiting", "parked")
	f.Stills.print(w, "stills", "stills", "segments")
	switch {
	case f.Clean && len(f.Journal.Problems)+len(f.Stills.Problems) == 0:
		_, _ = fmt.Fprintln(w, "both are in order")
	case f.Clean:
		_, _ = fmt.Fprintln(w, "both are in order now; the files set aside can be deleted when nobody wants to look into them")
	case repaired:
		_, _ = fmt.Fprintln(w, "not everything could be repaired: see what is left above")
	default:
		_, _ = fmt.Fprintln(w, "something is wrong: vmsbridge fsck --repair puts it in order and keeps what can be read")
	}
}

// shownProblems bounds what is printed of one store; --json has all.
const shownProblems = 20

func (f *store) print(w io.Writer, name string, counts ...string) {
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
	}{{"wrong", f.Problems}, {"repaired", f.Repaired}, {"set aside", f.Aside}} {
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
