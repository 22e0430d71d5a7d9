// Command vmscloud is the service side of the interface as one self-hosted program: it takes the
// events of bridges, lists them, and hands out recorded images, which it asks of the bridge that
// has them. Everything it keeps lies in one folder.
//
//	vmscloud init --data DIR --account NAME            make the account, once
//	vmscloud token create --data DIR --kind bridge     make a token for a bridge
//	vmscloud user link --data DIR ADDRESS              a token with which a user sets a password
//	vmscloud run --data DIR                            serve
//
// Events come from vmsbridge's reporter or any other client of the interface. The handlers are
// those of uplink/server, the same that the bridge serves on its LAN, and those of
// uplink/identity/web for signing in; this program puts stores of its own behind them:
//
//	DIR/identity.db   accounts, users, sessions, tokens, the trail of changes (uplink/identity/store)
//	DIR/registry.db   bridges, cameras and other actors, and who owns them
//	DIR/events.db     events (storage/journal)
//	DIR/admin.sock    while it runs: how the token commands reach it
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"vmsbridge/cmd/cli"
)

type commands struct {
	Init  initCmd `cmd:"" help:"Make the data folder with an account and its first user."`
	Token struct {
		Create tokenCreateCmd `cmd:"" help:"Make a token and print it. It cannot be shown again."`
		List   tokenListCmd   `cmd:"" help:"List tokens, without the tokens themselves."`
		Revoke tokenRevokeCmd `cmd:"" help:"End a token at once."`
	} `cmd:"" help:"Make, list and revoke tokens."`
	Client struct {
		Create clientCreateCmd `cmd:"" help:"Make a client and print its id and secret. The secret cannot be shown again."`
		List   clientListCmd   `cmd:"" help:"List clients, without their secrets."`
		Delete clientDeleteCmd `cmd:"" help:"End a client, with all tokens that it got."`
	} `cmd:"" help:"Make, list and delete the programs that people may sign in to (OAuth 2.0)."`
	User   userCmd `cmd:"" help:"What support does with users: links, locks."`
	Bridge struct {
		List    bridgeListCmd `cmd:"" help:"List the bridges, and with which credential each is registered."`
		Release releaseCmd    `cmd:"" help:"Let the next credential of its account that registers a bridge have it."`
	} `cmd:"" help:"List bridges, and free one whose credential was lost."`
	Camera struct {
		Release releaseCmd `cmd:"" help:"Let the next other bridge of its account that registers a camera have it, as when a box is swapped."`
	} `cmd:"" help:"Free a camera of the bridge that has it."`
	Run     runCmd     `cmd:"" help:"Serve until told to stop."`
	Fsck    fsckCmd    `cmd:"" help:"Check the files of a stopped service, and repair them."`
	Backup  backupCmd  `cmd:"" help:"Write everything into one file, while the service runs."`
	Restore restoreCmd `cmd:"" help:"Bring back what backup has written."`
	Move    moveCmd    `cmd:"" help:"Move everything of a stopped service into PostgreSQL, or back into a folder."`
	Version versionCmd `cmd:"" help:"Print the version."`
	cli.Commands

	Package packageCmd `cmd:"" hidden:"" help:"Print what packages ship beside the program."`
}

// AfterApply tells the commands that differ in what they are about only which they are.
func (c *commands) AfterApply() error {
	c.Bridge.Release.what, c.Bridge.Release.next = "bridge", "credential of its account that registers it"
	c.Camera.Release.what, c.Camera.Release.next = "camera", "other bridge of its account that registers it"
	return nil
}

const description = `The service side: takes events of bridges, lists them, hands out recorded images.

Exit codes: 0 done, 1 it did not work (standard error says why and what to do), 3 fsck found something wrong,
64 wrong command line, 78 there is no account yet, 130 aborted by a second signal.`

// dataFlag is the folder that every command but version needs.
type dataFlag struct {
	Data string `help:"Folder that holds everything." default:"/var/lib/vmscloud" env:"VMSCLOUD_DATA" type:"path" placeholder:"DIR"`
}

// jsonFlag is what every command has but run.
type jsonFlag struct {
	JSON bool `name:"json" help:"One JSON object a line."`
}

// object is what a command prints with --json.
type object map[string]any

// said prints what a command has done, in words or with --json as an object.
func (f jsonFlag) said(w io.Writer, o object, words string, args ...any) error {
	if f.JSON {
		return json.NewEncoder(w).Encode(o)
	}
	_, err := fmt.Fprintf(w, words, args...)
	return err
}

type versionCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

func (c versionCmd) Run() error {
	if c.JSON {
		return cli.JSON(os.Stdout, map[string]string{"version": version(), "go": runtime.Version(), "os": runtime.GOOS,
			"arch": runtime.GOARCH})
	}
	fmt.Println("vmscloud", version())
	return nil
}

// release is set by scripts/build --release.
var release string

// version is the release's, else the module's, or the commit that the program was built from.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}

func main() {
	var c commands
	os.Exit(cli.Program{Name: "vmscloud", Description: description, Version: version(), Out: os.Stdout,
		Err: os.Stderr}.Run(&c, os.Args[1:]))
}
