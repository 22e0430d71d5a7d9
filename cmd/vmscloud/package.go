package main

import (
	"os"
	"time"

	"github.com/alecthomas/kong"

	"vmsbridge/cmd/cli"
)

// packageCmd prints what the package ships beside the program.
type packageCmd struct {
	What    string    `arg:"" enum:"man" help:"man: the manual page."`
	Release string    `help:"Version, for the manual page." default:"devel"`
	Date    time.Time `help:"Day of the release, for the manual page." format:"2006-01-02" default:"1970-01-01"`
}

func (c *packageCmd) Run(app *kong.Kong) error {
	return cli.ManPage(os.Stdout, app.Model.Node,
		cli.ManFacts{Version: c.Release, Date: c.Date, Exit: exits, Files: files,
			Shown: examples, See: []string{"vmsbridge(1)", "systemctl(1)", "journalctl(1)"}})
}

var files = []cli.ManRow{
	{Name: "/var/lib/vmscloud", Use: "Everything that it keeps. Removing the package leaves it, purging it does not."},
	{Name: "/etc/vmscloud/vmscloud.env", Use: "Settings of the system service, as environment variables."},
}

var exits = []cli.ManRow{
	{Name: "0", Use: "Done. fsck: all is in order, or is so after --repair."},
	{Name: "1", Use: "It did not work; standard error says why and what to do."},
	{Name: "3", Use: "fsck: something is wrong and was left."},
	{Name: "64", Use: "The command line is wrong."},
	{Name: "78", Use: "There is no account yet: vmscloud init makes it."},
	{Name: "130", Use: "Aborted by a second signal."},
}

var examples = []cli.ManRow{
	{Name: "sudo -u vmscloud vmscloud init --account \"My site\"", Use: "Make the account and its first user, once:"},
	{Name: "sudo -u vmscloud vmscloud token create --kind bridge --name gate --quiet",
		Use: "Make a token for a bridge:"},
	{Name: "sudo -u vmscloud vmscloud bridge list --json", Use: "List the bridges:"},
	{Name: "sudo -u vmscloud vmscloud backup /var/backups/vmscloud-1.backup",
		Use: "Write everything into one file while it runs:"},
}
