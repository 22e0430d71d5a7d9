package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"vmsbridge/agent/arming"
	"vmsbridge/agent/control"
	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
)

// armCommand is arm and disarm, which ask the running bridge.
type armCommand struct {
	Cameras []string `arg:"" optional:"" name:"camera" help:"Ids of cameras. Default: all."`
	For     string   `help:"For how long, such as 2h or 3d. Default: until the next change of the camera's schedule, for good without one." placeholder:"TIME"`
	JSON    bool     `name:"json" help:"Print JSON: all cameras as they are now."`
	Data    string   `help:"The bridge's data folder, instead of the configuration's." placeholder:"DIR"`
	configFile
}

func (armCommand) Help() string {
	return `A disarmed camera keeps its stills, and its tampering and state are told; motion, regions, lines and areas make no events. What is
switched by hand holds until the next change of the camera's schedule (arm.schedule in the configuration), or until it is switched
back, over restarts too.`
}

func (c *armCommand) Run(ctx context.Context, called *kong.Context, s streams) error {
	w := arming.Wish{Cameras: c.Cameras, Armed: called.Selected().Name == "arm"}
	if c.For != "" {
		length, err := configs.ParseDuration(c.For)
		if err == nil && length < time.Second {
			err = fmt.Errorf("--for %s: name a second at least, or leave it out", c.For)
		}
		if err != nil {
			return cli.Exit(exitUsage, err)
		}
		w.Seconds = length.Seconds()
	}
	question, err := json.Marshal(w)
	if err != nil {
		return err
	}
	body, err := site{c.configFile, c.Data}.ask(ctx, http.MethodPost, "/arm", question)
	if errors.Is(err, control.ErrNotRunning) {
		return site{c.configFile, c.Data}.down(err)
	}
	if err != nil {
		return err
	}
	var list []arming.State
	if err := json.Unmarshal(body, &list); err != nil {
		return fmt.Errorf("read the bridge's answer: %w", err)
	}
	if c.JSON {
		return cli.JSON(s.out, list)
	}
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, st := range list {
		state, until := "armed", "-"
		if !st.Armed {
			state = "disarmed"
		}
		if !st.Until.IsZero() {
			until = "until " + st.Until.Local().Format("Mon 2006-01-02 15:04 MST")
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\n", st.Camera, state, until)
	}
	return t.Flush()
}
