package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// bash writes a completion for bash: commands, their commands, flags, the words that a flag may be,
// and files where one may stand.
func bash(w io.Writer, program *kong.Node) error {
	name := program.Name
	fn := "_" + strings.ReplaceAll(name, "-", "_")
	var b strings.Builder
	fmt.Fprintf(&b, "# bash completion of %s, written by the program itself\n%s() {\n", name, fn)
	b.WriteString(`	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} at= word i
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case "$at $word" in
`)
	places := places(program)
	for _, n := range entered(places) {
		fmt.Fprintf(&b, "		%q) at=%q ;;\n", path(n.Parent)+" "+n.Name, path(n))
	}
	b.WriteString("		esac\n	done\n	case \"$at $prev\" in\n")
	for _, n := range places {
		for _, f := range allFlags(n) {
			offer := ""
			switch {
			case f.Tag.Enum != "":
				offer = fmt.Sprintf("-W %q", strings.ReplaceAll(f.Tag.Enum, ",", " "))
			case f.IsBool():
				continue
			case takesFile(f):
				offer = "-f"
			}
			fmt.Fprintf(&b, "	%q) COMPREPLY=($(compgen %s -- \"$cur\")); return ;;\n", path(n)+" --"+f.Name, offer)
		}
	}
	b.WriteString("	esac\n	local words= files=\n	case \"$at\" in\n")
	for _, n := range places {
		var words []string
		for _, c := range choices(n) {
			words = append(words, c.word)
		}
		for _, f := range allFlags(n) {
			words = append(words, "--"+f.Name)
		}
		files := ""
		if takesWords(n) {
			files = " files=yes"
		}
		fmt.Fprintf(&b, "	%q) words=%q%s ;;\n", path(n), strings.Join(words, " "), files)
	}
	fmt.Fprintf(&b, `	esac
	COMPREPLY=($(compgen -W "$words" -- "$cur"))
	if [[ $files && $cur != -* ]]; then COMPREPLY+=($(compgen -f -- "$cur")); fi
}
complete -o filenames -F %s %s
`, fn, name)
	_, err := io.WriteString(w, b.String())
	return err
}

// path is a command with its parents, each after a space; "" for the program itself.
func path(n *kong.Node) string {
	if n == nil || n.Type == kong.ApplicationNode {
		return ""
	}
	return path(n.Parent) + " " + n.Name
}

// walk visits the program and every command that is not hidden.
func walk(n *kong.Node, visit func(*kong.Node)) {
	visit(n)
	for _, c := range n.Children {
		if !c.Hidden {
			walk(c, visit)
		}
	}
}

// allFlags are a command's own and those of what is above it.
func allFlags(n *kong.Node) []*kong.Flag {
	var all []*kong.Flag
	for ; n != nil; n = n.Parent {
		for _, f := range n.Flags {
			if !f.Hidden {
				all = append(all, f)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *kong.Flag) int { return strings.Compare(a.Name, b.Name) })
	return all
}
