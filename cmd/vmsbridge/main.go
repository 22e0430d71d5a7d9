// Program vmsbridge is the bridge and its commands: run keeps the cameras, the motion, the stills
// and the reporting going; check, probe and demo help before that; events, image and queue look
// into it afterwards. Each command is a file here.
//
// The program itself decides little: it reads the configuration (configs), starts the agent
// (agent), asks a running bridge or the service over the interface (uplink/client), or opens a
// stopped bridge's journal (storage/journal).
//
//	vmsbridge check /etc/vmsbridge/vmsbridge.yaml && vmsbridge run /etc/vmsbridge/vmsbridge.yaml
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/alecthomas/kong"

	"vmsbridge/agent/codec"
	"vmsbridge/cmd/cli"
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
	Arm      armCommand      `cmd:"" help:"Have motion before cameras make events again."`
	Disarm   armCommand      `cmd:"" help:"Have motion before cameras make no events, until their schedule's next change."`
	Queue    queueCommand    `cmd:"" help:"Look at the events that still wait to be reported, and at those that the service refused."`
	Fsck     fsckCommand     `cmd:"" help:"Check the events and stills of a stopped bridge; --repair puts them in order."`
	Status   statusCommand   `cmd:"" help:"Say how the bridge is, what is wrong first."`
	Support  supportCommand  `cmd:"" name:"support-bundle" help:"Pack what whoever helps you needs into one file, without secrets and pictures."`
	Service  serviceCommand  `cmd:"" help:"Install and control the bridge as a system service."`
	Version  versionCommand  `cmd:"" help:"Print the version, and which decoders this machine has."`

	cli.Commands

	Package packageCommand `cmd:"" hidden:"" help:"Print what packages ship beside the program."`
}

const description = `The bridge: pulls RTSP cameras, finds motion, keeps stills, reports events.

Exit codes: 0 done, 1 it did not work (standard error says why and what to do), 2 replay --strict: the score is not perfect,
3 fsck or status found something wrong, 64 wrong command line, 78 the configuration is wrong or missing,
130 aborted by a second signal.

Configuration: --config, else $VMSBRIDGE_CONFIG, else /etc/vmsbridge/vmsbridge.yaml, else your own vmsbridge.yaml in this folder.`

// The exit codes of cli under their names here, and that of a second signal.
const (
	exitFailed  = cli.Failed
	exitUsage   = cli.Usage
	exitConfig  = cli.Config
	exitAborted = cli.Aborted
)

// program is main without the process: it runs one command line and returns the exit code.
func program(ctx context.Context, args []string, s streams) int {
	var grammar commands
	return cli.Program{Name: "vmsbridge", Description: description, Version: version(), Out: s.out, Err: s.err,
		Options: []kong.Option{kong.Vars{"default_config": usualConfig()}, kong.Bind(s),
			kong.BindTo(ctx, (*context.Context)(nil))}}.Run(&grammar, args)
}

const defaultConfig = "/etc/vmsbridge/vmsbridge.yaml"

// configFile is how commands are told which configuration to use.
type configFile struct {
	Config string `short:"c" help:"Configuration file." env:"VMSBRIDGE_CONFIG" default:"${default_config}" placeholder:"FILE"`
}

// load reads the configuration. All problems of a bad one are printed, and the error carries exit
// code 78.
func (c configFile) load(s streams) (*configs.Config, error) {
	cfg, err := configs.Load(c.Config)
	if problems, ok := errors.AsType[configs.Problems](err); ok {
		for _, p := range problems {
			_, _ = fmt.Fprintln(s.err, p)
		}
		return nil, cli.Exit(exitConfig, errors.New(counted(len(problems), "problem")+" in "+c.Config))
	}
	if err != nil {
		return nil, noConfig(err)
	}
	return cfg, nil
}

// noConfig is the error for a configuration that is not there or cannot be read, and says what to
// do. Every command that needs one ends so, with exit code 78.
func noConfig(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return cli.Exit(exitConfig, notAllowed(err))
	case errors.Is(err, fs.ErrNotExist):
		return cli.Exit(exitConfig,
			fmt.Errorf("%w; there is no configuration yet: vmsbridge run in an empty folder makes one "+
				"and says where its page is, vmsbridge discover -u USER --add writes one "+
				"with the cameras that it finds, or name another file with --config", err))
	}
	return cli.Exit(exitConfig, fmt.Errorf("%w; name another file with --config", err))
}

// notAllowed says who may read what the caller may not.
func notAllowed(err error) error {
	return fmt.Errorf("%w; run this as root or as the bridge's own user: sudo vmsbridge …", err)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
