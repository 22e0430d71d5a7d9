package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// side is a program that reads the cameras.
type side interface {
	name() string
	usage(ctx context.Context) (usage, error)
	stop()
}

// program is a side's process.
type program struct {
	title string
	cmd   *exec.Cmd
}

func (p *program) name() string { return p.title }

func (p *program) start(path, dir string, args ...string) error {
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	p.cmd = exec.Command(path, args...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return p.cmd.Start()
}

func (p *program) usage(context.Context) (usage, error) { return usageOf(p.cmd.Process.Pid) }

func (p *program) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(20*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	_ = p.cmd.Wait()
}

// bridge is vmsbridge with the defaults of its YAML: it keeps stills and durable events as well.
type bridge struct {
	program
	api string
}

const token = "no-secret-at-all-but-long-enough"

func startBridge(name, path, dir string, urls []string, _ *stream) (*bridge, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &bridge{program: program{title: name}, api: l.Addr().String()}
	if err := l.Close(); err != nil {
		return nil, err
	}
	var y strings.Builder
	fmt.Fprintf(&y, "bridge: { data: %s }\napi: { listen: %q, tokens: [ { name: bench, token: %s } ] }\n",
		filepath.Join(dir, "data"), b.api, token)
	y.WriteString("stills: { max_size: 1GiB }\nlog: { level: warn }\ncameras:\n")
	for i, u := range urls {
		fmt.Fprintf(&y, "  - { id: c%d, url: %q, transport: tcp }\n", i, u)
	}
	config := filepath.Join(dir, "vmsbridge.yaml")
	if err := os.WriteFile(config, []byte(y.String()), 0o600); err != nil {
		return nil, err
	}
	return b, b.start(path, dir, "run", config)
}

// usage also has what the bridge itself counts.
func (b *bridge) usage(ctx context.Context) (usage, error) {
	u, err := b.program.usage(ctx)
	if err != nil {
		return u, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.api+"/metrics", http.NoBody)
	if err != nil {
		return u, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return u, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return u, errors.New(answer.Status)
	}
	return u, u.count(answer.Body)
}

// count adds up the metrics of all cameras.
func (u *usage) count(metrics io.Reader) error {
	sc := bufio.NewScanner(metrics)
	for sc.Scan() {
		name, value, ok := strings.Cut(sc.Text(), "} ")
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch {
		case strings.HasPrefix(name, "vmsbridge_agent_pictures_total{"),
			strings.HasPrefix(name, "vmsbridge_agent_access_units_undecoded_total{"): // known without a look
			u.pictures += v
		case strings.HasPrefix(name, "vmsbridge_agent_access_units_dropped_total{"),
			strings.HasPrefix(name, "vmsbridge_agent_access_units_skipped_total{"):
			u.dropped += v
		}
	}
	return sc.Err()
}

// startMotion starts Motion with its defaults; it writes no picture and no movie, and the bridge
// keeps its stills all the same.
func startMotion(path, dir string, urls []string, s *stream) (*program, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	all := "daemon off\nlog_level 3\nwebcontrol_port 0\n"
	for i, u := range urls {
		one := fmt.Sprintf("camera_id %d\nnetcam_url %s\nwidth %d\nheight %d\nframerate %d\n", i+1, u, s.movie.Width,
			s.movie.Height, s.movie.Rate)
		one += "picture_output off\nmovie_output off\nstream_port 0\n"
		file := filepath.Join(dir, fmt.Sprintf("%d.conf", i))
		if err := os.WriteFile(file, []byte(one), 0o600); err != nil {
			return nil, err
		}
		all += "camera " + file + "\n"
	}
	file := filepath.Join(dir, "motion.conf")
	if err := os.WriteFile(file, []byte(all), 0o600); err != nil {
		return nil, err
	}
	p := &program{title: "Motion"}
	return p, p.start(path, dir, "-n", "-c", file)
}
