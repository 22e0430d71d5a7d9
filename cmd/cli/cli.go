// Package cli is what the command lines of the programs have in common: help for a program, a group
// of commands or a command; --version; exit codes; durations in days; tables and JSON; progress on
// a terminal; how signals stop what runs for long; how fsck checks and repairs a file and prints
// what it found. The programs describe their commands as kong reads them, and the manual pages and
// completions that packages ship are made of the same description, so that neither can say anything
// that the program does not.
//
//	p := cli.Program{Name: "tool", Version: "1.2.0", Out: os.Stdout, Err: os.Stderr}
//	os.Exit(p.Run(&commands, os.Args[1:]))
package cli

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"vmsbridge/configs"
)

// Exit codes, as sysexits.h has them where it does.
const (
	Failed = 1
	Usage  = 64
	Config = 78 // the configuration is bad or missing; the service manager does not try again
)

// ExitError ends a program with a code of its own. A nil Err means that all was said already.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Exit returns an *ExitError.
func Exit(code int, err error) error { return &ExitError{Code: code, Err: err} }

// Program is a program as its command line presents it.
type Program struct {
	Name, Description, Version string
	Out, Err                   io.Writer
	Options                    []kong.Option // more of them
}

// Commands are the ones that every program has. A program embeds them in its description.
type Commands struct {
	Help        helpCommand       `cmd:"" help:"Print help, of a command if one is named."`
	Completion  completionCommand `cmd:"" help:"Print a completion for bash, zsh or fish."`
	ShowVersion versionFlag       `name:"version" short:"V" help:"Print the version."`
}

// versionFlag prints name and version, and ends the program.
type versionFlag bool

// BeforeReset is called by kong when the flag is there, before anything is checked.
func (versionFlag) BeforeReset(app *kong.Kong, vars kong.Vars) error {
	_, err := fmt.Fprintln(app.Stdout, app.Model.Name, vars["version"])
	app.Exit(0)
	return err
}

// helpCommand is for the list of commands; Run rewrites it to --help.
type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command."`
}

// Run is never called.
func (helpCommand) Run() error { return nil }

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCommand) Help() string {
	return `Packages install all three. Without one: in ~/.bashrc, eval "$(PROGRAM completion bash)"; for zsh, PROGRAM completion zsh
>"${fpath[1]}/_PROGRAM"; for fish, PROGRAM completion fish >~/.config/fish/completions/PROGRAM.fish.`
}

// Run prints the completion.
func (c completionCommand) Run(app *kong.Kong) error {
	return completion(app.Stdout, c.Shell, app.Model.Node)
}

// Run runs one command line against its description and returns the exit code.
func (p Program) Run(grammar any, args []string) int {
	code, ended := 0, false
	options := append([]kong.Option{kong.Name(p.Name), kong.Description(p.Description), kong.Writers(p.Out, p.Err),
		kong.Exit(func(c int) { code, ended = c, true }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"version": p.Version},
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(duration))}, p.Options...)
	parser, err := kong.New(grammar, options...)
	if err != nil {
		p.Say(fmt.Errorf("read the command line's description: %w", err))
		return Failed
	}
	kctx, err := parser.Parse(askedFor(parser.Model.Node, args))
	switch {
	case ended: // by --help or --version
		return code
	case err != nil:
		p.Say(misused(err, p.Name))
		return Usage
	}
	err = kctx.Run()
	if exit, ok := errors.AsType[*ExitError](err); ok {
		if exit.Err != nil {
			p.Say(exit.Err)
		}
		return exit.Code
	}
	if err != nil {
		p.Say(err)
		return Failed
	}
	return 0
}

// misused says what is wrong with a command line, and where the help of the command is.
func misused(err error, program string) error {
	message := err.Error()
	if name, ok := strings.CutPrefix(message, `expected "`); ok && strings.HasPrefix(name, "<") {
		message = "missing argument: " + strings.TrimSuffix(name, `"`)
	}
	help := program
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context.Selected() != nil {
		help = parse.Context.Selected().FullPath()
	}
	return fmt.Errorf("%s; see %s --help", message, help)
}

// askedFor gives the program and groups of commands without a command, "completion" without a
// shell, and "help", the help that they ask for; and -v, which many programs have, the version.
func askedFor(program *kong.Node, args []string) []string {
	if slices.Equal(args, []string{"-v"}) {
		return []string{"--version"}
	}
	help := len(args) > 0 && args[0] == "help"
	if help {
		args = args[1:]
	}
	at := program
	for _, word := range args {
		i := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == word })
		if i < 0 {
			return args // kong says what is wrong with it
		}
		at = at.Children[i]
	}
	if help || len(at.Children) > 0 || path(at) == " completion" {
		return append(args[:len(args):len(args)], "--help")
	}
	return args
}

// Say prints an error as one line.
func (p Program) Say(err error) {
	_, _ = fmt.Fprintln(p.Err, p.Name+":", strings.Join(strings.Fields(err.Error()), " "))
}

// Unknown is the error for an id that is not among those that there are; where says where it was
// looked for, "" where that is plain.
func Unknown(kind, id, where string, known []string) error {
	const most = 20
	list := "there is none"
	if n := len(known); n > most {
		list = fmt.Sprintf("there are %s and %d more", strings.Join(known[:most], ", "), n-most)
	} else if n > 1 {
		list = "there are " + strings.Join(known, ", ")
	} else if n == 1 {
		list = "there is " + known[0]
	}
	if where == "" {
		return fmt.Errorf("no %s %q: %s", kind, id, list)
	}
	return fmt.Errorf("%s has no %s %q: %s", where, kind, id, list)
}

// duration reads a flag's duration, in days and weeks too.
func duration(ctx *kong.DecodeContext, target reflect.Value) error {
	t, err := ctx.Scan.PopValue("duration")
	if err != nil {
		return err
	}
	d, err := configs.ParseDuration(fmt.Sprint(t.Value))
	if err != nil {
		return err
	}
	target.SetInt(int64(d))
	return nil
}
