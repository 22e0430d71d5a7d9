package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"vmsbridge/uplink/vms"
)

// demoSite is what the demo has set up.
type demoSite struct {
	account      string
	service      string // base address
	bridge       string // base address
	userToken    string // file
	lanToken     string // file
	bridgeToken  string // file
	pageToken    string // opens the bridge's page
	password     string // of the cameras
	passwordFile string
	yaml         string
	cameras      []demoCamera
}

type demoCamera struct {
	id, name, codec, listen string
}

func (c demoCamera) address() string { return "rtsp://" + c.listen + "/cam" }

// demoUser signs in at the cameras.
const demoUser = "viewer"

// patience is how long a part of the demo may take to start.
const patience = time.Minute

// start sets up a site in d.dir and starts its programs in the order in which they need each other.
func (d *demo) start(ctx context.Context) error {
	if err := d.setUp(ctx); err != nil {
		return err
	}
	s := &d.site
	cloud := filepath.Join(d.bin, "vmscloud")
	if err := d.launch("vmscloud", d.event, cloud, "run", "--data", d.path("cloud"), "--listen",
		strings.TrimPrefix(s.service, "http://"), "--print-events"); err != nil {
		return err
	}
	var ready []chan struct{}
	for i, cam := range s.cameras {
		listening := make(chan struct{})
		tell := sync.OnceFunc(func() { close(listening) })
		if err := d.launch("camsim "+cam.id, func(line string) {
			if strings.HasPrefix(line, "camsim ready") {
				tell()
			}
		}, filepath.Join(d.bin, "camsim"), "--listen", cam.listen, "--path", "/cam", "--codec", cam.codec, "--seed",
			fmt.Sprint(i+1),
			"--size", "640x360", "--fps", "10", "--user", demoUser, "--password", s.password, "--auth",
			"digest"); err != nil {
			return err
		}
		ready = append(ready, listening)
	}
	if err := d.until(ctx, "the service to answer",
		func() bool { return answers(ctx, s.service+"/healthz") }); err != nil {
		return err
	}
	for i, cam := range s.cameras {
		if err := d.until(ctx, cam.name+" to listen", func() bool { return isClosed(ready[i]) }); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if err := d.launch("vmsbridge", nil, self, "run", "--config", s.yaml); err != nil {
		return err
	}
	return d.until(ctx, "the bridge to answer", func() bool { return answers(ctx, s.bridge+"/healthz") })
}

// setUp makes the account, the tokens and the configuration.
func (d *demo) setUp(ctx context.Context) error {
	s := &d.site
	cloud := filepath.Join(d.bin, "vmscloud")
	var err error
	if s.account, err = output(ctx, cloud, "init", "--data", d.path("cloud"), "--account", "demo",
		"--quiet"); err != nil {
		return err
	}
	for _, t := range []struct {
		kind string
		file *string
	}{{"user", &s.userToken}, {"bridge", &s.bridgeToken}} {
		token, err := output(ctx, cloud, "token", "create", "--data", d.path("cloud"), "--kind", t.kind, "--account",
			s.account, "--quiet")
		if err != nil {
			return err
		}
		if *t.file, err = d.write(t.kind+".token", token); err != nil {
			return err
		}
	}
	s.password = rand.Text()
	s.pageToken = rand.Text() // it ends with the demo
	if s.lanToken, err = d.write("lan.token", s.pageToken); err != nil {
		return err
	}
	if s.passwordFile, err = d.write("camera.password", s.password); err != nil {
		return err
	}
	ports, err := freePorts(5)
	if err != nil {
		return err
	}
	s.service, s.bridge = "http://"+ports[0], "http://"+ports[1]
	for i, codec := range []string{"h264", "h265", "mjpeg"} {
		s.cameras = append(s.cameras, demoCamera{id: "cam-" + codec, name: "Camera " + strings.ToUpper(codec),
			codec: codec, listen: ports[2+i]})
	}
	s.yaml, err = d.write("vmsbridge.yaml", d.configuration())
	return err
}

// configuration is the YAML that a person would write for this site.
func (d *demo) configuration() string {
	s := &d.site
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, `# Written by vmsbridge demo.
bridge: {id: demo-bridge, name: Demo, account: %q, data: bridge}
service: {url: %q, token_file: bridge.token}
clock: {wait: 0s}
api: {listen: %q, tokens: [{name: lan, token_file: lan.token}]}
stills: {max_size: 256MiB}
cameras:
`, s.account, s.service, strings.TrimPrefix(s.bridge, "http://"))
	for _, cam := range s.cameras {
		_, _ = fmt.Fprintf(&b, "  - {id: %s, name: %s, url: %q, username: %s, password_file: camera.password}\n",
			cam.id, cam.name, cam.address(), demoUser)
	}
	return b.String()
}

// header says what runs where, and how to look at it by hand.
func (d *demo) header(c *demoCommand) {
	s := &d.site
	cams := make([]string, len(s.cameras))
	for i, cam := range s.cameras {
		cams[i] = cam.id + " " + cam.address()
	}
	_, _ = fmt.Fprintf(d.out, `Open in a browser:  %s/#token=%s

service  %s
bridge   %s, the same interface on the LAN; %s/readyz
cameras  %s
files    %s

The last hour's events, also while it runs:
  %s events \
   --url %s \
   --token-file %s

Each line is an event that the service has accepted.
A motion comes when it has begun and again when it has ended.
%s
`, s.bridge, s.pageToken, s.service, s.bridge, s.bridge, strings.Join(cams, "\n         "), d.dir,
		shellQuote(filepath.Join(d.bin, "vmsbridge")), s.service, shellQuote(s.userToken), ending(c))
}

func ending(c *demoCommand) string {
	var when []string
	if c.Events > 0 {
		when = append(when, fmt.Sprintf("after %s", counted(c.Events, "motion event")))
	}
	if c.For > 0 {
		when = append(when, fmt.Sprintf("after %v", c.For))
	}
	return "It ends " + strings.Join(append(when, "with Ctrl-C"), ", or ") + ".\n"
}

// event takes a line that vmscloud prints for an event (start, camera, type, length, image, two
// spaces between) and shows it, if it is of a camera or the bridge. Below the first one with an
// image it shows how to fetch that.
func (d *demo) event(line string) {
	if strings.Contains(line, "  vms.account") || strings.Contains(line, "  vms.user") {
		return
	}
	i := strings.Index(line, d.site.service+vms.PathImage)
	if i < 0 {
		_, _ = fmt.Fprintln(d.out, line)
	} else {
		_, _ = fmt.Fprintln(d.out, strings.TrimRight(line[:i], " ")) // without the address, it fits a window
	}
	if i >= 0 && !d.fetched {
		d.fetched = true
		_, _ = fmt.Fprintf(d.out, "    to see it:\n  curl -s -o image.jpg \\\n"+
			"   -H \"Authorization: Bearer $(cat %s)\" \\\n   %q\n",
			shellQuote(d.site.userToken), line[i:])
	}
	start, _, motion := strings.Cut(line, vms.TypeMotion)
	if !motion {
		return
	}
	d.mu.Lock()
	d.motion[start] = true // time and camera: the line of its end is the same event
	d.mu.Unlock()
	select {
	case d.news <- struct{}{}:
	default: // a value waits already; one wakes for all
	}
}

func (d *demo) launch(name string, stdout func(string), path string, args ...string) error {
	ch, err := startChild(name, stdout, path, args...)
	if err != nil {
		return err
	}
	d.children = append(d.children, ch)
	return nil
}

// until polls cond; the death of a child ends the wait.
func (d *demo) until(ctx context.Context, what string, cond func() bool) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		for _, ch := range d.children {
			select {
			case <-ch.done:
				return ch.died()
			default:
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return fmt.Errorf("waited %v for %s; is this machine very busy?", patience, what)
		case <-tick.C:
		}
	}
	return nil
}

func (d *demo) path(name string) string { return filepath.Join(d.dir, name) }

func (d *demo) write(name, text string) (string, error) {
	path := d.path(name)
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write the demo's files: %w", err)
	}
	return path, nil
}

// freePorts finds loopback addresses that were free a moment ago; all are held until the last is
// found, so that they differ.
func freePorts(n int) ([]string, error) {
	var found []string
	var held []net.Listener
	var err error
	for range n {
		l, e := net.Listen("tcp", "127.0.0.1:0")
		if e != nil {
			err = fmt.Errorf("find a free port: %w", e)
			break
		}
		held, found = append(held, l), append(found, l.Addr().String())
	}
	for _, l := range held {
		err = errors.Join(err, l.Close())
	}
	return found, err
}

func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return res.Body.Close() == nil && res.StatusCode == http.StatusOK
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// shellQuote makes a path one word of a shell.
func shellQuote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./", r)
	}) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}
