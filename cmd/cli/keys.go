package cli

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// ManKeys writes a manual page of section 5 for a configuration file, of its reference in Markdown:
// paragraphs, a heading for each group, and a table of four columns, key, kind, default, meaning.
func ManKeys(w io.Writer, reference io.Reader, file string, f ManFacts) error {
	p := &page{w: w}
	p.put(".TH %s 5 %q %q\n", strings.ToUpper(file), f.Date.UTC().Format("2006-01-02"), f.Version)
	p.put(".SH NAME\n%s \\- every key of the configuration\n.SH DESCRIPTION\n", roff(file))
	lines := bufio.NewScanner(reference)
	lines.Buffer(nil, 1<<20)
	keys := 0
	for lines.Scan() {
		line := lines.Text()
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		switch {
		case strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "|---"), strings.HasPrefix(line, "| key |"):
		case strings.HasPrefix(line, "## "):
			p.put(".SH %s\n", roff(strings.ToUpper(plain(line[3:]))))
		case strings.HasPrefix(line, "|") && len(cells) == 6:
			keys++
			def := plain(cells[3])
			if def != "" {
				def = ", default " + def
			}
			p.put(".TP\n\\fB%s\\fR (%s%s)\n%s\n", roff(plain(cells[1])), roff(plain(cells[2])), roff(def),
				roff(plain(cells[4])))
		case line == "":
			p.put(".PP\n")
		case strings.HasPrefix(line, "Made from the code"): // how is of no interest here
			_, line, _ = strings.Cut(line, ". ")
			fallthrough
		default:
			p.put("%s\n", roff(plain(line)))
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the reference: %w", err)
	}
	if keys == 0 {
		return fmt.Errorf("read the reference: it has no table of keys; give configs/REFERENCE.md on standard input")
	}
	p.rows("FILES", "I", f.Files)
	p.put(".SH SEE ALSO\n%s\n", roff(strings.Join(f.See, ", ")))
	return p.err
}

// link is one of Markdown: its text stays.
var link = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// plain takes Markdown's marks away.
func plain(text string) string {
	text = link.ReplaceAllString(strings.ReplaceAll(text, "\x00", "|"), "$1")
	return strings.TrimSpace(strings.ReplaceAll(text, "`", ""))
}
