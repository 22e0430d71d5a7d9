package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// ManFacts are what the command line does not know of itself.
type ManFacts struct {
	Version string
	Date    time.Time // of the release; UTC
	Exit    []ManRow  // exit status and its meaning
	Env     []ManRow  // variables beside those that stand for flags
	Files   []ManRow  // what the program reads and writes
	Shown   []ManRow  // examples: a command line, and what it does
	See     []string  // other pages, such as "systemctl(1)"
}

// ManRow is a row of a list: a file, an exit status, and what it is for.
type ManRow struct{ Name, Use string }

// ManPage writes a manual page of section 1 in man(7)'s language.
func ManPage(w io.Writer, program *kong.Node, f ManFacts) error {
	p := &page{w: w}
	summary, _, _ := strings.Cut(program.Help, "\n")
	if at := strings.Index(summary, ": "); at >= 0 {
		summary = summary[at+2:]
	}
	p.put(".TH %s 1 %q %q\n", strings.ToUpper(program.Name), f.Date.UTC().Format("2006-01-02"),
		program.Name+" "+f.Version)
	p.put(".SH NAME\n%s \\- %s\n", roff(program.Name), roff(strings.TrimSuffix(strings.TrimSpace(summary), ".")))
	p.put(".SH SYNOPSIS\n.B %s\n.I command\n[\\fIoption\\fR ...]\n", roff(program.Name))
	p.put(".SH DESCRIPTION\n%s\n", paragraphs(strings.TrimSpace(program.Help)))
	p.put(".SH COMMANDS\n")
	for _, c := range program.Leaves(true) { // without hidden ones
		p.command(c)
	}
	p.options("OPTIONS OF EVERY COMMAND", program.Flags)
	p.rows("EXIT STATUS", "B", f.Exit)
	p.rows("ENVIRONMENT", "B", append(variables(program), f.Env...))
	p.rows("FILES", "I", f.Files)
	if len(f.Shown) > 0 {
		p.put(".SH EXAMPLES\n")
		for _, e := range f.Shown {
			p.put(".PP\n%s\n.PP\n.RS 4\n.EX\n%s\n.EE\n.RE\n", roff(e.Use), roff(e.Name))
		}
	}
	if len(f.See) > 0 {
		p.put(".SH SEE ALSO\n%s\n", roff(strings.Join(f.See, ", ")))
	}
	return p.err
}

// rows writes a list under a title, with the names in a font: B is bold, I italic.
func (p *page) rows(title, font string, rows []ManRow) {
	if len(rows) == 0 {
		return
	}
	p.put(".SH %s\n", title)
	for _, r := range rows {
		p.put(".TP\n.%s %s\n%s\n", font, roff(r.Name), roff(r.Use))
	}
}

// variables are those of the environment that stand for flags, by name.
func variables(program *kong.Node) (rows []ManRow) {
	flags := map[string][]string{}
	walk(program, func(n *kong.Node) {
		for _, f := range n.Flags {
			for _, env := range f.Envs {
				if name := "--" + f.Name; !f.Hidden && !slices.Contains(flags[env], name) {
					flags[env] = append(flags[env], name)
				}
			}
		}
	})
	for _, env := range slices.Sorted(maps.Keys(flags)) {
		rows = append(rows, ManRow{env, "Stands for " + strings.Join(flags[env], ", ") + "."})
	}
	return rows
}

// page keeps the first error of writing.
type page struct {
	w   io.Writer
	err error
}

func (p *page) put(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *page) command(c *kong.Node) {
	usage := words(c)
	for _, a := range c.Positional {
		usage += " " + a.Summary()
	}
	p.put(".SS %s\n%s\n", roff(usage), roff(c.Help))
	if c.Detail != "" {
		p.put(".PP\n%s\n", paragraphs(c.Detail))
	}
	for _, a := range c.Positional {
		p.put(".TP\n.I %s\n%s\n", roff(a.Name), roff(a.Help))
	}
	p.flags(c.Flags)
}

func (p *page) options(title string, flags []*kong.Flag) {
	if shown(flags) > 0 {
		p.put(".SH %s\n", title)
		p.flags(flags)
	}
}

func (p *page) flags(flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := "\\fB\\-\\-" + roff(f.Name) + "\\fR"
		if f.Short != 0 {
			name = "\\fB\\-" + roff(string(f.Short)) + "\\fR, " + name
		}
		if f.IsBool() {
			if f.Tag.Negatable != "" {
				name = strings.Replace(name, "\\-\\-", "\\-\\-[no\\-]", 1)
			}
		} else {
			name += "=\\fI" + roff(placeholder(f)) + "\\fR"
		}
		help := f.Help
		if len(f.Envs) > 0 {
			help += " Environment: $" + strings.Join(f.Envs, ", $") + "."
		}
		if f.HasDefault && f.Default != "" && !f.IsBool() {
			help += " Default: " + f.Default + "."
		}
		p.put(".TP\n%s\n%s\n", name, roff(help))
	}
}

// placeholder stands for a flag's value.
func placeholder(f *kong.Flag) string {
	if f.PlaceHolder != "" {
		return f.PlaceHolder
	}
	return strings.ToUpper(f.Name)
}

func shown(flags []*kong.Flag) (n int) {
	for _, f := range flags {
		if !f.Hidden {
			n++
		}
	}
	return n
}

// words is a command as it is typed, without the program.
func words(n *kong.Node) string {
	text := n.Name
	for up := n.Parent; up != nil && up.Type == kong.CommandNode; up = up.Parent {
		text = up.Name + " " + text
	}
	return text
}

// paragraphs keeps a text's paragraphs; within one, lines are filled anew.
func paragraphs(text string) string {
	var out []string
	for part := range strings.SplitSeq(text, "\n\n") {
		out = append(out, roff(strings.Join(strings.Fields(part), " ")))
	}
	return strings.Join(out, "\n.PP\n")
}

// roff escapes what man(7) would take for its own: backslashes, hyphens that must stay hyphens, and
// dots and quotes at the beginning of a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
