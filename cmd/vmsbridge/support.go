package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"vmsbridge/agent/api"
	"vmsbridge/agent/control"
	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
)

type supportCommand struct {
	Output string `short:"o" help:"The file to write. Default: vmsbridge-support-ID-TIME.tar.gz in this folder." placeholder:"FILE"`
	Lines  int    `help:"How many of the log's last lines to take." default:"5000" placeholder:"N"`
	Data   string `help:"The bridge's data folder, instead of the configuration's." placeholder:"DIR"`
	configFile
}

func (supportCommand) Help() string {
	return `Packs the status, the metrics, the log, the configuration without its secrets, the state of the stores and of the machine into one
tar.gz of text. It holds no picture, no password, no token. Works with a running bridge and with one that does not start.`
}

// Run collects what can be had; a part that cannot be had says why in its place.
func (c *supportCommand) Run(ctx context.Context, s streams) (err error) {
	b := site{c.configFile, c.Data}
	now := time.Now().UTC()
	report, err := b.report(ctx)
	if err != nil && !errors.Is(err, control.ErrNotRunning) {
		return err
	}
	name := "vmsbridge-support-" + orElse(report.Bridge, "bridge") + "-" + now.Format("20060102T150405Z")
	path := orElse(c.Output, name+".tar.gz")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the bundle: %w; name another file with --output", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	progress := cli.NewProgress(s.err)
	defer progress.End()
	if err := c.pack(ctx, f, b, name, now, report.Running, progress); err != nil {
		return err
	}
	progress.End()
	_, err = fmt.Fprintf(s.out, "%s\nIt holds no picture, no password and no token. Look into it before you send it: "+
		"tar -xzf FILE\n", path)
	if _, missing := os.Stat(b.Config); err == nil && !report.Running && missing != nil && b.named == "" {
		return noConfig(missing)
	}
	return err
}

// pack writes the bundle; a part that cannot be had says why in its place.
func (c *supportCommand) pack(ctx context.Context, to io.Writer, b site, name string, now time.Time, running bool,
	progress *cli.Progress) error {
	w := newBundle(to, name, now, b.secrets())
	for _, part := range c.parts(ctx, b, running) {
		progress.Now("packing %s", part.name)
		content, err := part.make()
		if err != nil {
			content = append(content, []byte("\nthis could not be had: "+err.Error()+"\n")...)
		}
		if err := w.Add(part.name, content); err != nil {
			return err
		}
	}
	return w.Close()
}

// bundleOf packs the bundle of the bridge that runs in this process, for its page.
func bundleOf(file configFile) func(ctx context.Context, to io.Writer) error {
	return func(ctx context.Context, to io.Writer) error {
		c := &supportCommand{Lines: 5000, configFile: file}
		return c.pack(ctx, to, site{file, ""}, "vmsbridge-support", time.Now().UTC(), true, &cli.Progress{})
	}
}

type part struct {
	name string
	make func() ([]byte, error)
}

func (c *supportCommand) parts(ctx context.Context, b site, running bool) []part {
	shell := func(name string, args ...string) func() ([]byte, error) {
		return func() ([]byte, error) { return run(ctx, name, args...) }
	}
	parts := []part{
		{"status.txt", func() ([]byte, error) { return b.page(ctx, false) }},
		{"status.json", func() ([]byte, error) { return b.page(ctx, true) }},
		{"version.txt", func() ([]byte, error) {
			var out bytes.Buffer
			err := (&versionCommand{}).Run(ctx, streams{out: &out, err: &out})
			return out.Bytes(), err
		}},
		{"config.yaml", b.redacted},
		{"config-problems.txt", b.problems},
		{"log.txt", shell("journalctl", "--unit="+serviceName, "--no-pager", "--output=short-iso-precise",
			fmt.Sprintf("--lines=%d", c.Lines))},
		{"unit.txt", shell("systemctl", "status", serviceName, "--no-pager", "--lines=0", "--full")},
		{"machine.txt", machine},
		{"stores.txt", func() ([]byte, error) { return b.files() }},
	}
	if running {
		return append(parts, part{"metrics.txt", func() ([]byte, error) { return b.ask(ctx, "GET", "/metrics", nil) }})
	}
	return append(parts, part{"fsck.txt", b.check})
}

// page is the status as text or JSON.
func (b site) page(ctx context.Context, asJSON bool) ([]byte, error) {
	r, err := b.report(ctx)
	if err != nil {
		return nil, err
	}
	if asJSON {
		return json.MarshalIndent(r, "", "  ")
	}
	var out bytes.Buffer
	err = r.Print(&out)
	return out.Bytes(), err
}

func (b site) redacted() ([]byte, error) {
	content, err := os.ReadFile(b.Config)
	if err != nil {
		return nil, err
	}
	text, ok := configs.Redacted(content)
	if !ok {
		return nil, errors.New("the file is not YAML, so its secrets cannot be told from the rest")
	}
	return []byte(text), nil
}

func (b site) problems() ([]byte, error) {
	cfg, err := configs.Load(b.Config)
	if err != nil {
		return []byte(err.Error() + "\n"), nil
	}
	return []byte(fmt.Sprintf("no problem\n%s\n", cfg.Warnings.Error())), nil
}

// check looks through the stores of a bridge that does not run.
func (b site) check() ([]byte, error) {
	var out bytes.Buffer
	f, err := (&fsckCommand{}).look(b.data(), streams{out: &out, err: &out}, &cli.Progress{})
	if err != nil {
		return nil, err
	}
	f.Clean = f.Journal.Clean && f.Users.Clean && f.Stills.Clean
	f.print(&out, false)
	return out.Bytes(), nil
}

// files lists the data folder: names, sizes, times.
func (b site) files() ([]byte, error) {
	var out bytes.Buffer
	err := filepath.WalkDir(b.data(), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			_, _ = fmt.Fprintln(&out, err)
			return nil
		}
		if info, err := d.Info(); err == nil {
			_, _ = fmt.Fprintf(&out, "%s %12d %s %s\n", info.Mode(), info.Size(),
				info.ModTime().UTC().Format(time.RFC3339), path)
		}
		return nil
	})
	return out.Bytes(), err
}

// secrets are all that are known, to be sure that none goes out. The bridge's own files that are
// secrets as a whole count too.
func (b site) secrets() []string {
	var list []string
	cfg, err := configs.Load(b.Config)
	if err == nil {
		list = configs.Secrets(cfg)
		for _, file := range []string{cfg.Service.SessionFile, cfg.API.TLS.Key} {
			list = append(list, wordsOf(file)...)
		}
	}
	return append(list, wordsOf(filepath.Join(b.data(), api.FirstUserFile))...)
}

// wordsOf are the parts of a secret file that may stand alone in a text: its lines, and the strings
// of JSON.
func wordsOf(file string) []string {
	if file == "" {
		return nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var list []string
	for _, word := range strings.FieldsFunc(string(content),
		func(r rune) bool { return strings.ContainsRune("\r\n\t \",:{}", r) }) {
		if len(word) >= 16 {
			list = append(list, word)
		}
	}
	return list
}

// machine is what the machine is, as far as it matters here.
func machine() ([]byte, error) {
	var out bytes.Buffer
	for _, file := range []string{"/etc/os-release", "/proc/version", "/proc/uptime", "/proc/loadavg", "/proc/meminfo",
		"/proc/mounts", "/proc/pressure/io", "/proc/pressure/memory"} {
		content, err := os.ReadFile(file)
		_, _ = fmt.Fprintf(&out, "== %s\n%s\n", file, content)
		if err != nil {
			_, _ = fmt.Fprintln(&out, err)
		}
	}
	return out.Bytes(), nil
}

func run(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return exec.CommandContext(ctx, name, args...).CombinedOutput()
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
