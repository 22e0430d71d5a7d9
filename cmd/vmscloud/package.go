package main

import (
	"os"
	"time"

	"github.com/alecthomas/kong"

	"vmsbridge/cmd/manual"
)

// packageCmd prints what the package ships beside the program.
type packageCmd struct {
	What    string    `arg:"" enum:"man,bash" help:"man: the manual page; bash: the completion."`
	Release string    `help:"Version, for the manual page." default:"devel"`
	Date    time.Time `help:"Day of the release, for the manual page." format:"2006-01-02" default:"1970-01-01"`
}

func (c *packageCmd) Run(app *kong.Kong) error {
	if c.What == "bash" {
		return manual.Bash(os.Stdout, app.Model.Node)
	}
	return manual.Page(os.Stdout, app.Model.Node, manual.Facts{Version: c.Release, Date: c.Date, Files: []manual.File{
		{Path: "/var/lib/vmscloud", Use: "Everything that it keeps. Removing the package leaves it, purging it does not."},
		{Path: "/etc/vmscloud/vmscloud.env", Use: "Settings of the system service, as environment variables."},
	}, See: []string{"vmsbridge(1)", "systemctl(1)", "journalctl(1)"}})
}
