package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"vmsbridge/agent/control"
	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
	"vmsbridge/uplink/client"
)

// ask says whom events and image ask: a bridge or a service by its address, or the bridge of a
// configuration file.
type ask struct {
	URL       string `name:"url" help:"Address of the bridge or the service, such as http://127.0.0.1:8480. Default: api.listen of the configuration." env:"VMSBRIDGE_URL" placeholder:"URL"`
	TokenFile string `help:"File with a token for that address. Default: the first of api.tokens; without any, root and the bridge's own user need none." env:"VMSBRIDGE_TOKEN_FILE" placeholder:"FILE"`
	CAFile    string `name:"ca-file" help:"PEM file of certificates to trust beside the system's." placeholder:"FILE"`
	configFile
}

// client makes the client, and says what is missing if it cannot.
func (a ask) client() (*client.Client, error) {
	o := client.Options{BaseURL: a.URL, CAFile: a.CAFile, UserAgent: "vmsbridge/" + version(),
		Timeout: 20 * time.Second}
	if a.TokenFile != "" {
		if _, err := os.ReadFile(a.TokenFile); err != nil {
			return nil, fmt.Errorf("read the token: %w", err)
		}
		o.Token = client.TokenFile(a.TokenFile)
	}
	if a.URL != "" && a.TokenFile == "" {
		return nil,
			cli.Exit(exitUsage,
				errors.New("with --url, name a file that holds a token: --token-file or $VMSBRIDGE_TOKEN_FILE"))
	}
	if a.URL == "" {
		cfg, err := configs.Load(a.Config)
		if problems, ok := errors.AsType[configs.Problems](err); ok {
			return nil,
				cli.Exit(exitConfig,
					fmt.Errorf("%s has %s; vmsbridge check %s prints all; or say --url and --token-file", a.Config,
						counted(len(problems), "problem"), a.Config))
		}
		if err != nil {
			return nil, noConfig(fmt.Errorf("%w; to ask another machine say --url and --token-file", err))
		}
		if o.Token == nil && len(cfg.API.Tokens) == 0 {
			// Who may use the bridge's own door needs no token.
			o.BaseURL, o.HTTP, o.Token = control.URL, control.Client(cfg.Bridge.Data), client.Token("none")
		} else {
			if o.Token == nil {
				o.Token = client.Token(cfg.API.Tokens[0].Token.Reveal())
			}
			o.BaseURL, o.CAFile = local(cfg.API, o.CAFile)
		}
	}
	c, err := client.New(o)
	if err != nil {
		return nil, fmt.Errorf("ask the bridge: %w", err)
	}
	return c, nil
}

// local is the address of the bridge of this configuration as seen from its own machine. Under TLS
// it is the public one, since the certificate names that, and the certificate itself is trusted.
func local(api configs.API, caFile string) (address, trusted string) {
	if api.TLS.Cert != "" {
		if caFile == "" {
			caFile = api.TLS.Cert
		}
		if strings.HasPrefix(api.PublicURL, "https://") {
			return api.PublicURL, caFile
		}
		return "https://" + reachable(api.Listen), caFile
	}
	return "http://" + reachable(api.Listen), caFile
}

// reachable turns an address that means all interfaces into the loopback one.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "" || (err == nil && ip.IsUnspecified() && ip.Is4()):
		host = "127.0.0.1"
	case err == nil && ip.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}

// hinted adds what to do to an error of a request.
func hinted(doing string, err error) error {
	if errors.Is(err, context.Canceled) {
		return cli.Exit(exitAborted, fmt.Errorf("%s: interrupted", doing))
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: %w", doing, errNotAllowed)
	}
	if errors.Is(err, control.ErrNotRunning) {
		return fmt.Errorf("%s: %w; start it (vmsbridge service start), or ask another with --url and --token-file",
			doing, control.ErrNotRunning)
	}
	if text := err.Error(); errors.Is(err, io.EOF) || strings.Contains(text, "malformed HTTP") ||
		strings.Contains(text, "closed idle connection") { // before the request was written
		return fmt.Errorf("%s: what listens there is neither a bridge nor a service: is the address right? (%w)",
			doing, err)
	}
	var dial *net.OpError
	if errors.As(err, &dial) {
		return fmt.Errorf("%s: %w; is the bridge running, and is the address right?", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
