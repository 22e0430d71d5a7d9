package main

import (
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kong"

	"vmsbridge/cmd/manual"
	"vmsbridge/configs"
)

// packageCommand prints what packages ship beside the program, made by the program, so that it cannot say anything else.
type packageCommand struct {
	What    string    `arg:"" enum:"man,bash,unit" help:"man: the manual page; bash: the completion; unit: the systemd unit."`
	Release string    `help:"Version, for the manual page." default:"${version}"`
	Date    time.Time `help:"Day of the release, for the manual page." format:"2006-01-02" default:"1970-01-01"`
}

func (c *packageCommand) Run(app *kong.Kong, s streams) error {
	switch c.What {
	case "man":
		return manual.Page(s.out, app.Model.Node, manual.Facts{Version: c.Release, Date: c.Date, Files: files, See: []string{"systemctl(1)", "journalctl(1)"}})
	case "bash":
		return manual.Bash(s.out, app.Model.Node)
	default:
		unit, err := configs.Unit("/usr/bin/vmsbridge", defaultConfig, "vmsbridge")
		if err != nil {
			return fmt.Errorf("print unit: %w", err)
		}
		_, err = io.WriteString(s.out, unit)
		return err
	}
}

// files are where a package puts what the bridge reads and writes.
var files = []manual.File{
	{Path: defaultConfig, Use: "The configuration. Without it the service waits."},
	{Path: "/etc/vmsbridge/vmsbridge.example.yaml", Use: "Every key of the configuration, explained."},
	{Path: "/var/lib/vmsbridge", Use: "Events and stills. Removing the package leaves them, purging it does not."},
	{Path: "/usr/lib/vmsbridge", Use: "The libavcodec that comes with the bridge and is preferred to the system's."},
}
