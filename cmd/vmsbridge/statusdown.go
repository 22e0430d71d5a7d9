package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"vmsbridge/agent/codec"
	"vmsbridge/agent/health"
	"vmsbridge/configs"
)

// seen is what can be said of a bridge that does not run: why, and what would keep it from
// starting.
func (b site) seen(ctx context.Context) (health.Report, error) {
	r := health.Report{Time: time.Now().UTC(), Version: version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Config:  health.Config{File: b.Config, Problems: []string{}},
		Cameras: []health.Camera{}}
	why := unitState(ctx)
	hint := "vmsbridge service start; journalctl -u " + serviceName + " -n 50 says why it stopped"
	cfg, err := configs.Load(b.Config)
	var decode configs.Decode
	if problems, ok := errors.AsType[configs.Problems](err); ok {
		for _, p := range problems {
			r.Config.Problems = append(r.Config.Problems, p.String())
		}
		why, hint = why+": its configuration has problems",
			"correct them (vmsbridge check "+b.Config+" prints all), then vmsbridge service start"
	} else if err != nil {
		r.Config.Problems = append(r.Config.Problems, err.Error())
		why, hint = why+": its configuration cannot be read", "write "+b.Config+", or name another with --config"
	} else {
		r.Bridge, r.Name, decode = cfg.Bridge.ID, cfg.Bridge.Name, cfg.Decode
	}
	if _, err := os.Stat(b.data()); errors.Is(err, fs.ErrNotExist) && len(r.Config.Problems) == 0 {
		why += "; if it does, it ends within a minute: its data folder " + b.data() + " is not there"
		hint = "if the folder was moved away, or its disk is not mounted, put it back first; then " + hint
	}
	r.DownWhy, r.DownHint = why, hint
	r.Disk = health.DiskOf(b.data(), tightDisk)
	pool := codec.NewPool(codec.Options{LibraryDirs: decode.Libraries, Decoders: decode.Decoders})
	defer func() { _ = pool.Close() }()
	within, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	r.Decoders, err = pool.Capabilities(within)
	r.DecodersKnown = err == nil
	r.Judge()
	return r, nil
}

// tightDisk is the reserve of which half must be free for a bridge to start.
const tightDisk = 64 << 20

// unitState is what systemd says of the bridge's unit, as the end of a sentence; "" where it says
// nothing.
func unitState(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", "show", serviceName,
		"--property=LoadState,ActiveState,Result,ExecMainStatus").Output()
	if err != nil {
		return ""
	}
	v := map[string]string{}
	for line := range strings.Lines(string(out)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		v[key] = value
	}
	switch {
	case v["LoadState"] == "not-found":
		return "; it is not installed as a service"
	case v["ActiveState"] == "failed" || v["ActiveState"] == "inactive":
		return fmt.Sprintf("; systemd says %s (%s, exit code %s)", v["ActiveState"], v["Result"], v["ExecMainStatus"])
	case v["ActiveState"] != "":
		return "; systemd says " + v["ActiveState"]
	}
	return ""
}
