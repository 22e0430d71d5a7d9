package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"vmsbridge/agent/camera"
	"vmsbridge/agent/setup"
	"vmsbridge/cmd/cli"
)

// find turns the address of a camera into that of its stream, and says on standard error what it
// does.
func (c *probeCommand) find(ctx context.Context, cfg camera.Config, s streams) (camera.Config, error) {
	progress := cli.NewProgress(s.err)
	defer progress.End()
	found, err := setup.Find(ctx, cfg, setup.Progress{
		Say: func(line string) { progress.End(); _, _ = fmt.Fprintln(s.err, line) },
		Now: func(path string) { progress.Now("trying %s", path) }})
	if err == nil {
		cfg.URL = found.URL
		return cfg, nil
	}
	none, ok := errors.AsType[*setup.NoStreamError](err)
	switch {
	case !ok:
	case none.Why == setup.TooSlow:
		err = fmt.Errorf("no path has answered in time: give it longer with --timeout 60s, or name the whole rtsp:// " +
			"address")
	case none.Why == setup.Unreachable:
		if _, ok := errors.AsType[*net.DNSError](err); !ok {
			err = fmt.Errorf("%s; is the port right? HOST:PORT names another one", strings.TrimSuffix(err.Error(), "."))
		}
	case none.Why == setup.SignIn && cfg.Username == "":
		err = errors.New("it asks who you are: say so with --user NAME")
	case none.Why == setup.NoPath:
		err = fmt.Errorf("%w; then vmsbridge probe rtsp://%s/PATH", err, net.JoinHostPort(none.Host, none.Port))
	}
	return cfg, fmt.Errorf("probe %s: %w", c.URL, err)
}
