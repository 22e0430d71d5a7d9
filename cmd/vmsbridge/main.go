// Program vmsbridge is the bridge and its commands: run keeps the cameras, the motion, the stills and the reporting going;
// check, probe and demo help before that; events, image and queue look into it afterwards. Each command is a file here.
//
// The program itself decides little: it reads the configuration (configs), starts the agent (agent), asks a running bridge
// or the service over the interface (uplink/client), or opens a stopped bridge's journal (storage/journal).
//
//	vmsbridge check /etc/vmsbridge/vmsbridge.yaml && vmsbridge run /etc/vmsbridge/vmsbridge.yaml
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"vmsbridge/agent/codec"
	"vmsbridge/cmd/stop"
	"vmsbridge/configs"
)

func main() {
	codec.RunWorker() // when the bridge started this process as a decoder, it never returns
	os.Exit(program(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are what a command reads and prints.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// commands is the command line as kong reads it.
type commands struct {
	Run      runCommand      `cmd:"" help:"Run the bridge until SIGINT or SIGTERM; a second one, two seconds later, aborts."`
	Demo     demoCommand     `cmd:"" help:"Show everything on this machine: a service, three cameras, a bridge, and each event as it arrives."`
	Login    loginCommand    `cmd:"" help:"Sign the bridge in at the service; what it gets is kept in service.session_file."`
	Check    checkCommand    `cmd:"" help:"Print every problem of a configuration file as file:line:col: path: message."`
	Probe    probeCommand    `cmd:"" help:"Say what a camera offers, and save a still."`
	Discover discoverCommand `cmd:"" help:"Find the cameras of the network by ONVIF, and print their sections of the configuration."`
	Replay   replayCommand   `cmd:"" help:"Run clips through the detector: spans, and a score against labels."`
	Events   eventsCommand   `cmd:"" help:"List the events of a running bridge or of the service."`
	Image    imageCommand    `cmd:"" help:"Fetch a still of a camera from a running bridge or from the service."`
	Queue    queueCommand    `cmd:"" help:"Look at the events that still wait to be reported, and at those that the service refused. Stop the bridge first."`
	Fsck     fsckCommand     `cmd:"" help:"Check the events and stills of a stopped bridge; --repair puts them in order."`
	Status   statusCommand   `cmd:"" help:"Say how the bridge is, what is wrong first."`
	Support  supportCommand  `cmd:"" name:"support-bundle" help:"Pack what whoever helps you needs into one file, without secrets and pictures."`
	Service  serviceCommand  `cmd:"" help:"Install and control the bridge as a system service."`
	Version  versionCommand  `cmd:"" help:"Print the version, and which decoders this machine has."`
	Package  packageCommand  `cmd:"" hidden:"" help:"Print what packages ship beside the program."`
}

const description = `The bridge: pulls RTSP cameras, finds motion, keeps stills, reports events.

Exit codes: 0 done, 1 it did not work (standard error says why and what to do), 3 fsck or status found something wrong,
64 wrong command line, 78 wrong configuration, 130 aborted by a second signal.

Configuration: --config, else $VMSBRIDGE_CONFIG, else /etc/vmsbridge/vmsbridge.yaml.`

// Exit codes, as sysexits.h has them where it does.
const (
	exitFailed  = 1
	exitUsage   = 64
	exitConfig  = 78
	exitAborted = stop.Aborted
)

// exitError ends the program with a code of its own; a nil err means that everything was said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// program is main without the process: it runs one command line and returns the exit code.
func program(ctx context.Context, args []string, s streams) int {
	var cli commands
	code, ended := 0, false
	parser, err := kong.New(&cli, kong.Name("vmsbridge"), kong.Description(description), kong.Writers(s.out, s.err),
		kong.Exit(func(c int) { code, ended = c, true }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Vars{"default_config": defaultConfig, "version": version()}, kong.Bind(s), kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		say(s.err, fmt.Errorf("read the command line's description: %w", err))
		return exitFailed
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	kctx, err := parser.Parse(args)
	switch {
	case ended: // by --help
		return code
	case err != nil:
		say(s.err, fmt.Errorf("%w; see vmsbridge --help", err))
		return exitUsage
	}
	err = kctx.Run()
	if exit, ok := errors.AsType[*exitError](err); ok {
		if exit.err != nil {
			say(s.err, exit.err)
		}
		return exit.code
	}
	if err != nil {
		say(s.err, err)
		return exitFailed
	}
	return 0
}

// say prints an error as one line.
func say(w io.Writer, err error) {
	_, _ = fmt.Fprintln(w, "vmsbridge:", strings.Join(strings.Fields(err.Error()), " "))
}

const defaultConfig = "/etc/vmsbridge/vmsbridge.yaml"

// configFile is how commands are told which configuration to use.
type configFile struct {
	Config string `short:"c" help:"Configuration file." env:"VMSBRIDGE_CONFIG" default:"${default_config}" placeholder:"FILE"`
}

// load reads the configuration. All problems of a bad one are printed, and the error carries exit code 78.
func (c configFile) load(s streams) (*configs.Config, error) {
	cfg, err := configs.Load(c.Config)
	if problems, ok := errors.AsType[configs.Problems](err); ok {
		for _, p := range problems {
			_, _ = fmt.Fprintln(s.err, p)
		}
		return nil, &exitError{exitConfig, fmt.Errorf("%s", counted(len(problems), "problem")+" in "+c.Config)}
	}
	if err != nil {
		return nil, &exitError{exitConfig, fmt.Errorf("%w; name the file with --config", err)}
	}
	return cfg, nil
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
