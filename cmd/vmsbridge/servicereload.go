package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"vmsbridge/agent"
	"vmsbridge/agent/control"
	"vmsbridge/cmd/cli"
)

// serviceReload asks the running bridge itself, which says what became of it; systemctl reload and
// SIGHUP do the same without an answer.
type serviceReload struct {
	Data string `help:"The bridge's data folder, instead of the configuration's." placeholder:"DIR"`
	configFile
}

func (c *serviceReload) Run(ctx context.Context, s streams) error {
	body, err := site{c.configFile, c.Data}.ask(ctx, http.MethodPost, "/reload", nil)
	if errors.Is(err, control.ErrNotRunning) {
		return site{c.configFile, c.Data}.down(err)
	}
	if err != nil {
		return err
	}
	var done agent.Reloaded
	if err := json.Unmarshal(body, &done); err != nil {
		return fmt.Errorf("read the bridge's answer: %w", err)
	}
	if len(done.Problems) > 0 {
		for _, p := range done.Problems {
			_, _ = fmt.Fprintln(s.err, p)
		}
		return cli.Exit(exitConfig, fmt.Errorf("%s; the bridge goes on with the configuration that it has",
			counted(len(done.Problems), "problem")))
	}
	return printReloaded(s.out, done)
}

func printReloaded(w io.Writer, done agent.Reloaded) error {
	var b strings.Builder
	for _, part := range []struct {
		what string
		keys []string
	}{{"cameras added", done.Cameras.Added}, {"cameras restarted", done.Cameras.Restarted},
		{"cameras removed", done.Cameras.Removed}, {"applied", done.Applied},
		{"only after a restart (vmsbridge service restart)", done.Restart}} {
		if len(part.keys) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", part.what, strings.Join(part.keys, ", "))
		}
	}
	for _, warning := range done.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	if b.Len() == 0 {
		b.WriteString("nothing has changed\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
