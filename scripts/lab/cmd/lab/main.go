// Command lab measures the detector on recordings: what vmsbridge replay prints, and masks, plots
// and folders of images beside it.
//
//	lab replay --plot yard.png yard.mp4
//	lab replay --masks out --fps 10 shots/
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// exitUsage is the exit code of a wrong command line.
const exitUsage = 64

// commands is the command line as kong reads it.
type commands struct {
	Replay replayCommand `cmd:"" help:"Run recordings through the detector: spans, masks, a plot, a score against labels."`
}

func main() { os.Exit(program(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

// program is main without the process: it runs one command line and returns the exit code.
func program(ctx context.Context, args []string, out, errs io.Writer) int {
	var cli commands
	code, ended := 0, false
	parser, err := kong.New(&cli, kong.Name("lab"), kong.Description("Measures the detector."), kong.Writers(out, errs),
		kong.Exit(func(c int) { code, ended = c, true }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(streams{out, errs}))
	if err != nil {
		return say(errs, 1, err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	switch {
	case ended: // by --help
		return code
	case err != nil:
		return say(errs, exitUsage, fmt.Errorf("%w; see lab --help", err))
	}
	return exitCode(errs, parsed.Run())
}

// streams are where it prints.
type streams struct{ out, errs io.Writer }

// say prints an error as one line, and returns the exit code.
func say(errs io.Writer, code int, err error) int {
	_, _ = fmt.Fprintln(errs, "lab:", strings.Join(strings.Fields(err.Error()), " "))
	return code
}
