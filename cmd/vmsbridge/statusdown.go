package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"vmsbridge/agent/codec"
	"vmsbridge/agent/status"
	"vmsbridge/configs"
)

// seen is what can be said of a bridge that does not run: why, and what would keep it from starting.
func (b site) seen(ctx context.Context) (status.Report, error) {
	r := status.Report{Time: time.Now().UTC(), Version: version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Config: status.Config{File: b.Config, Problems: []string{}},
		Cameras: []status.Camera{}}
	why := unitState(ctx)
	hint := "vmsbridge service start; journalctl -u " + serviceName + " -n 50 says why it stopped"
	cfg, err := configs.Load(b.Config)
	var decode configs.Decode
	if problems, ok := errors.AsType[configs.Problems](err); ok {
		for _, p := range problems {
			r.Config.Problems = append(r.Config.Problems, p.String())
		}
		why, hint = why+": its configuration has problems", "correct them (vmsbridge check "+b.Config+" prints all), then vmsbridge service start"
	} else if err != nil {
		r.Config.Problems = append(r.Config.Problems, err.Error())
		why, hint = why+": its configuration cannot be read", "write "+b.Config+", or name another with --config"
	} else {
		r.Bridge, r.Name, decode = cfg.Bridge.ID, cfg.Bridge.Name, cfg.Decode
	}
	r.Problems = append(r.Problems, status.Problem{Kind: status.NotRunning, Text: "the bridge does not run" + why, Hint: hint})
	r.Disk = diskOf(b.data())
	if r.Disk.Total > 0 && r.Disk.Free < 32<<20 {
		r.Problems = append(r.Problems, status.Problem{Kind: status.Disk, Text: fmt.Sprintf("the disk that holds %s is almost full: %d MB are free", r.Disk.Path, r.Disk.Free/1e6),
			Hint: "free space, or make stills.max_size smaller"})
	}
	pool := codec.NewPool(codec.Options{LibraryDirs: decode.Libraries})
	defer func() { _ = pool.Close() }()
	within, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if r.Decoders, err = pool.Capabilities(within); err == nil {
		for _, d := range []struct {
			name string
			c    codec.Capability
		}{{"H.264", r.Decoders.H264}, {"H.265", r.Decoders.H265}} {
			if !d.c.OK {
				r.Problems = append(r.Problems, status.Problem{Kind: status.Decoder, Text: d.name + " cannot be decoded: " + d.c.Problem, Hint: d.c.Hint})
			}
		}
	}
	return r, nil
}

// diskOf is how full the file system of a folder is; zero where that cannot be asked.
func diskOf(dir string) status.Space {
	s := status.Space{Path: dir}
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) == nil {
		s.Free, s.Total = int64(fs.Bavail)*int64(fs.Bsize), int64(fs.Blocks)*int64(fs.Bsize)
	}
	return s
}

// unitState is what systemd says of the bridge's unit, as the end of a sentence; "" where it says nothing.
func unitState(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", "show", serviceName, "--property=LoadState,ActiveState,Result,ExecMainStatus").Output()
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
