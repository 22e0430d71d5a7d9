package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"
)

// List prints items as a table under a heading, or with --json as one JSON object a line. row is an
// item's cells, as many as the heading has.
func List[T any](w io.Writer, asJSON bool, heading string, items []T, row func(T) []string) error {
	if asJSON {
		e := json.NewEncoder(w)
		for _, item := range items {
			if err := e.Encode(item); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, strings.ReplaceAll(heading, ", ", "\t"))
	for _, item := range items {
		_, _ = fmt.Fprintln(t, strings.Join(row(item), "\t"))
	}
	return t.Flush()
}

// JSON prints one value as JSON with indents: what a person may read too.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Terminal reports whether a stream is a terminal.
func Terminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// Progress is one line on a terminal that says how far a long command is; elsewhere nothing is
// written. The zero value writes nothing. It is for one goroutine.
type Progress struct {
	w     io.Writer
	shown time.Time // when the line was drawn; zero: there is none
}

// NewProgress shows progress on w, if that is a terminal.
func NewProgress(w io.Writer) *Progress {
	if !Terminal(w) {
		return &Progress{}
	}
	return &Progress{w: w}
}

// progressEvery bounds how often the line changes.
const progressEvery = 200 * time.Millisecond

// Say replaces the line, some times a second at most.
func (p *Progress) Say(format string, args ...any) {
	if p.w == nil || time.Since(p.shown) < progressEvery {
		return
	}
	p.Now(format, args...)
}

// Now replaces the line at once.
func (p *Progress) Now(format string, args ...any) {
	if p.w == nil {
		return
	}
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K"+format, args...)
	p.shown = time.Now()
}

// End takes the line away, so that other text can be printed.
func (p *Progress) End() {
	if p.w == nil || p.shown.IsZero() {
		return
	}
	_, _ = io.WriteString(p.w, "\r\x1b[K")
	p.shown = time.Time{}
}

// Writer counts the bytes written and shows them: verb, then the megabytes.
func (p *Progress) Writer(w io.Writer, verb string) io.Writer {
	return &counting{w: w, p: p, verb: verb}
}

type counting struct {
	w    io.Writer
	p    *Progress
	verb string
	n    int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.p.Say("%s %.1f MB", c.verb, float64(c.n)/1e6)
	return n, err
}
