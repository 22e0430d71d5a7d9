package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"vmsbridge/agent/api"
	"vmsbridge/agent/setup"
	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
	"vmsbridge/storage/vfs"
)

// hereConfig is the configuration in the current folder, which a first start in an empty folder
// makes. It is used where the system has none, and only if it is the caller's own: whoever can
// leave a file in a folder does not tell root's commands what to do.
const hereConfig = "vmsbridge.yaml"

// usualConfig is the configuration that commands use when none is named.
func usualConfig() string {
	if _, err := os.Stat(defaultConfig); !errors.Is(err, fs.ErrNotExist) {
		return defaultConfig
	}
	if info, err := os.Stat(hereConfig); err == nil && info.Mode().IsRegular() {
		if uid, _ := setup.OwnerOf(info); uid == os.Geteuid() {
			return hereConfig
		}
	}
	return defaultConfig
}

// firstStart makes a configuration in the current folder, if that is empty, the system has none and
// none was named. It returns the one to use.
func firstStart(named, listen string, s streams) (string, error) {
	if named != defaultConfig {
		return named, nil
	}
	if _, err := os.Stat(defaultConfig); !errors.Is(err, fs.ErrNotExist) {
		return named, nil
	}
	entries, err := os.ReadDir(".")
	switch {
	case err != nil:
		return named, nil // the reader of the configuration says what to do
	case len(entries) > 0:
		return "", cli.Exit(exitConfig, fmt.Errorf("there is no %s, and none is made in this folder, since it is "+
			"not empty (%s): start in an empty folder, or name a file with --config", defaultConfig, entries[0].Name()))
	}
	content := configs.First("data", listen)
	if _, err := configs.Parse(hereConfig, content); err != nil {
		return "", cli.Exit(exitUsage, fmt.Errorf("--listen: %w", err))
	}
	if err := vfs.Replace(hereConfig, content, 0o600, -1, -1); err != nil {
		return "", fmt.Errorf("begin a configuration: %w", err)
	}
	path, _ := filepath.Abs(hereConfig)
	_, _ = fmt.Fprintf(s.out, "There was no configuration yet; this one was made: %s\n", path)
	return hereConfig, nil
}

// pages are the addresses of the page of a bridge that listens on addr, the likeliest first.
func pages(cfg *configs.Config, addr net.Addr) []string {
	if cfg.API.PublicURL != "" {
		return []string{cfg.API.PublicURL + "/"}
	}
	scheme := "http"
	if cfg.API.TLS.Cert != "" {
		scheme = "https"
	}
	host, port, _ := net.SplitHostPort(addr.String())
	hosts := []string{host}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		hosts = nil
		if name, err := os.Hostname(); err == nil && name != "" && name != "localhost" {
			if !strings.Contains(name, ".") {
				name += ".local"
			}
			hosts = append(hosts, name)
		}
		list, _ := net.InterfaceAddrs()
		for _, a := range list {
			if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
				hosts = append(hosts, n.IP.String())
			}
		}
		hosts = append(hosts, "127.0.0.1")
	}
	var out []string
	for _, h := range hosts {
		out = append(out, scheme+"://"+net.JoinHostPort(h, port)+"/")
	}
	return out
}

// firstCode is the code for the first user of a bridge, "" where it has users.
func firstCode(cfg *configs.Config) string {
	code, err := os.ReadFile(filepath.Join(cfg.Bridge.Data, api.FirstUserFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(code))
}

// sayPages tells whoever sits at the terminal where the page is, with the code that opens it while
// nobody has a password. A log is not told the code.
func sayPages(list []string, code string, s streams) {
	if code == "" {
		_, _ = fmt.Fprintf(s.out, "The page: %s\n", strings.Join(list, "  "))
		return
	}
	_, _ = fmt.Fprintf(s.out, "Set the bridge up in a browser, at the first of these that it reaches. The code works "+
		"once:\n")
	for _, address := range list {
		_, _ = fmt.Fprintf(s.out, "  %s#code=%s\n", address, code)
	}
	if strings.HasPrefix(list[0], "https:") {
		_, _ = fmt.Fprintf(s.out, "The browser warns of a certificate that it does not know: it is the bridge's own.\n")
	}
}
