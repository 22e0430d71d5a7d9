package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// bridge is vmsbridge with the defaults of its YAML: it stores stills and durable events beside
// finding motion.
type bridge struct {
	program, config string
	pid             int
}

func (*bridge) name() string { return "vmsbridge, defaults" }

func (b *bridge) start(ctx context.Context, dir string, cameras []*camera) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return err
	}
	var y strings.Builder
	fmt.Fprintf(&y,
		"bridge: { data: %s }\napi: { listen: %q, tokens: [ { name: peers, token: not-a-secret-at-all } ] }\n",
		filepath.Join(dir, "data"), address)
	y.WriteString("stills: { max_size: 256MiB }\nlog: { level: warn }\ncameras:\n")
	for _, c := range cameras {
		fmt.Fprintf(&y, "  - { id: %s, url: %q }\n", c.id, c.url)
	}
	b.config = filepath.Join(dir, "vmsbridge.yaml")
	if err := os.WriteFile(b.config, []byte(y.String()), 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, b.program, "run", b.config)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	b.pid = cmd.Process.Pid
	return nil
}

func (b *bridge) spans(ctx context.Context, _ []*camera) (map[string][]span, cost, error) {
	spent, err := costOf(b.pid)
	if err != nil {
		return nil, spent, err
	}
	cmd := exec.CommandContext(ctx, b.program, "events", "--config", b.config, "--since", "2h", "--type", "motion",
		"--json")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, spent, err
	}
	found := map[string][]span{}
	for line := range bytes.Lines(out) {
		var ev struct {
			ActorID        string `json:"actorId"`
			StartTimestamp time.Time
			EndTimestamp   *time.Time
		}
		if err := json.Unmarshal(line, &ev); err != nil {
			return nil, spent, fmt.Errorf("read %q: %w", line, err)
		}
		s := span{start: ev.StartTimestamp, end: time.Now()}
		if ev.EndTimestamp != nil {
			s.end = *ev.EndTimestamp
		}
		found[ev.ActorID] = append(found[ev.ActorID], s)
	}
	return found, spent, nil
}
