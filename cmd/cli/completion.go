package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completion writes a completion for the shell bash, zsh or fish.
func completion(w io.Writer, shell string, program *kong.Node) error {
	switch shell {
	case "bash":
		return bash(w, program)
	case "zsh":
		return zsh(w, program)
	case "fish":
		return fish(w, program)
	}
	return fmt.Errorf("there is no completion for %q: say bash, zsh or fish", shell)
}

// zsh writes a completion for zsh, which is autoloaded under the name _PROGRAM or sourced: commands
// and flags with their help, the words that a flag may be, and files where one may stand.
func zsh(w io.Writer, program *kong.Node) error {
	name := program.Name
	fn := "_" + strings.ReplaceAll(name, "-", "_")
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %s\n# zsh completion of %[1]s, written by the program itself\n%s() {\n", name, fn)
	b.WriteString("\tlocal at= word\n\tlocal -a words_ flags_\n\tlocal files=\n")
	b.WriteString("\tfor word in ${words[2,CURRENT-1]}; do\n\t\tcase \"$at $word\" in\n")
	places := places(program)
	for _, n := range entered(places) {
		fmt.Fprintf(&b, "\t\t%s) at=%s ;;\n", quoted(path(n.Parent)+" "+n.Name), quoted(path(n)))
	}
	b.WriteString("\t\tesac\n\tdone\n\tcase \"$at ${words[CURRENT-1]}\" in\n")
	for _, n := range places {
		for _, f := range allFlags(n) {
			offer := ""
			switch {
			case f.Tag.Enum != "":
				offer = "compadd -- " + strings.ReplaceAll(f.Tag.Enum, ",", " ") + "; "
			case f.IsBool():
				continue
			case takesFile(f):
				offer = "_files; "
			}
			fmt.Fprintf(&b, "\t%s) %sreturn ;;\n", quoted(path(n)+" --"+f.Name), offer)
		}
	}
	b.WriteString("\tesac\n\tcase \"$at\" in\n")
	for _, n := range places {
		fmt.Fprintf(&b, "\t%s)\n", quoted(path(n)))
		b.WriteString("\t\twords_=(")
		for _, c := range choices(n) {
			b.WriteString(" " + quoted(described(c.word, c.help)))
		}
		b.WriteString(" )\n\t\tflags_=(")
		for _, f := range allFlags(n) {
			b.WriteString(" " + quoted(described("--"+f.Name, f.Help)))
		}
		b.WriteString(" )\n")
		if takesWords(n) {
			b.WriteString("\t\tfiles=yes\n")
		}
		b.WriteString("\t\t;;\n")
	}
	fmt.Fprintf(&b, `	esac
	if [[ ${words[CURRENT]} == -* ]]; then
		_describe -t options option flags_
		return
	fi
	[[ -z $words_ ]] || _describe -t commands command words_
	[[ -z $files ]] || _files
}
if [[ $funcstack[1] == %s ]]; then
	%[1]s "$@"
elif (( $+functions[compdef] )); then
	compdef %[1]s %s
fi
`, fn, name)
	_, err := io.WriteString(w, b.String())
	return err
}

// fish writes a completion for fish.
func fish(w io.Writer, program *kong.Node) error {
	name := program.Name
	fn := "__fish_" + strings.ReplaceAll(name, "-", "_") + "_at"
	var b strings.Builder
	fmt.Fprintf(&b, `# fish completion of %s, written by the program itself
function %s
	set -l at ''
	for word in (commandline -opc)[2..-1]
		switch "$at $word"
`, name, fn)
	places := places(program)
	for _, n := range entered(places) {
		fmt.Fprintf(&b, "\t\tcase %s\n\t\t\tset at %s\n", quoted(path(n.Parent)+" "+n.Name), quoted(path(n)))
	}
	fmt.Fprintf(&b, "\t\tend\n\tend\n\ttest \"$at\" = \"$argv[1]\"\nend\n")
	for _, n := range places {
		here := fmt.Sprintf("complete -c %s -n %s", name, quoted(fn+" "+quoted(path(n))))
		if !takesWords(n) {
			fmt.Fprintf(&b, "%s -f\n", here)
		}
		for _, c := range choices(n) {
			fmt.Fprintf(&b, "%s -a %s -d %s\n", here, quoted(c.word), quoted(first(c.help)))
		}
		for _, f := range allFlags(n) {
			line := here + " -l " + f.Name
			if f.Short != 0 {
				line += " -s " + string(f.Short)
			}
			switch {
			case f.Tag.Enum != "":
				line += " -x -a " + quoted(strings.ReplaceAll(f.Tag.Enum, ",", " "))
			case takesFile(f):
				line += " -r -F"
			case !f.IsBool():
				line += " -x"
			}
			fmt.Fprintf(&b, "%s -d %s\n", line, quoted(first(f.Help)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// choice is a word that may stand at a place.
type choice struct{ word, help string }

// choices are the commands below a command, or the words that its argument may be.
func choices(n *kong.Node) (list []choice) {
	for _, c := range n.Children {
		if !c.Hidden {
			list = append(list, choice{c.Name, c.Help})
		}
	}
	for _, a := range n.Positional {
		if a.Tag.Enum != "" {
			for word := range strings.SplitSeq(a.Tag.Enum, ",") {
				list = append(list, choice{word, a.Help})
			}
		}
	}
	return list
}

// places are the program and its commands that are not hidden.
func places(program *kong.Node) (list []*kong.Node) {
	walk(program, func(n *kong.Node) { list = append(list, n) })
	return list
}

// entered are the places that a command line is at after their names; help leads to no place: the
// commands that it explains follow it as if it were not there.
func entered(places []*kong.Node) (list []*kong.Node) {
	for _, n := range places[1:] {
		if path(n) != " help" {
			list = append(list, n)
		}
	}
	return list
}

// takesWords reports whether an argument of a command may be anything, such as a file.
func takesWords(n *kong.Node) bool {
	return slices.ContainsFunc(n.Positional, func(a *kong.Positional) bool { return a.Tag.Enum == "" })
}

// takesFile reports whether a flag's value names a file or folder.
func takesFile(f *kong.Flag) bool {
	return f.PlaceHolder == "FILE" || f.PlaceHolder == "LABELS" || strings.HasPrefix(f.PlaceHolder, "DIR")
}

// described is a word with its help, as zsh's _describe takes it.
func described(word, help string) string {
	return strings.ReplaceAll(word, ":", `\:`) + ":" + first(help)
}

// first is the first sentence of a help.
func first(help string) string {
	help, _, _ = strings.Cut(help, ". ")
	return strings.TrimSuffix(help, ".")
}

// quoted is a text in single quotes, as all three shells read it.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
