package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"vmsbridge/agent/setup"
	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/client/signin"
)

type loginCommand struct {
	User         string `help:"Address of the user; asked for if left out." env:"VMSBRIDGE_USER" placeholder:"ADDRESS"`
	PasswordFile string `help:"File with the user's password, where nobody can type." placeholder:"FILE"`
	KeyFile      string `name:"api-key-file" help:"File with the API key, for a service that wants one." placeholder:"FILE"`
	Way          string `help:"How the code is sent, if one is needed: sms or email; asked for if left out." enum:"sms,email," default:""`
	KeepSession  bool   `help:"Keep the user's session, even where the service could give the bridge a sign-in of its own that lasts longer."`
	ClientID     string `help:"Sign in as this OAuth client rather than as a user." placeholder:"ID"`
	SecretFile   string `name:"client-secret-file" help:"File with the client's secret." placeholder:"FILE"`
	RefreshFile  string `name:"refresh-token-file" help:"File with a refresh token that was given to the client for a user. The bridge uses it up." placeholder:"FILE"`
	configFile
	in *bufio.Reader
	// before is the sign-in that this one replaces, session the one of the person who signs in,
	// while it runs.
	before, session signin.Saved
}

// Run signs the bridge in at the service and leaves what it got in service.session_file. A running
// bridge notices.
func (c *loginCommand) Run(ctx context.Context, s streams) error {
	cfg, err := c.load(s)
	if err != nil {
		return err
	}
	service := cfg.Service
	if service.SessionFile == "" {
		return cli.Exit(exitConfig,
			errors.New("the configuration does not say where to keep a sign-in: write service.session_file in place "+
				"of a token, for example session_file: "+
				filepath.Join(cfg.Bridge.Data, "service.session")))
	}
	way, err := client.New(client.Options{BaseURL: service.URL, Token: client.Token("none"), CAFile: service.CAFile,
		Fingerprint: service.TLSFingerprint})
	if err != nil {
		return cli.Exit(exitConfig, err)
	}
	defer way.Close()
	door := signin.Door{URL: service.URL, HTTP: way.HTTP()}
	if door.Key, err = oneLine(c.KeyFile); err != nil {
		return err
	}
	if before, err := signin.Load(service.SessionFile); err == nil {
		c.before, door.Device = before, before.Device
		if door.Key == "" {
			door.Key = before.Key
		}
	}
	c.in = bufio.NewReader(s.in)
	var saved signin.Saved
	if c.ClientID != "" {
		saved, err = c.asClient(door)
	} else {
		saved, err = c.asUser(ctx, s, door, cfg.Bridge)
	}
	if err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	if err := c.prove(ctx, s, saved, service, cfg.Bridge); err != nil {
		return err
	}
	if c.before.Client != "" && c.before.Client != saved.Client && c.session.Session != "" {
		// The service lets only one credential at a time speak for the bridge. If this fails, it
		// says what to do.
		_ = door.End(ctx, c.session, c.before.Client)
	}
	return nil
}

// asClient takes what an OAuth client was given.
func (c *loginCommand) asClient(d signin.Door) (signin.Saved, error) {
	secret, err1 := oneLine(c.SecretFile)
	refresh, err2 := oneLine(c.RefreshFile)
	if err := errors.Join(err1, err2); err != nil {
		return signin.Saved{}, err
	}
	if secret == "" && refresh == "" {
		return signin.Saved{}, errors.New("name --client-secret-file or --refresh-token-file")
	}
	return signin.Saved{Door: d.URL, Key: d.Key, Client: c.ClientID, Secret: secret, Refresh: refresh}, nil
}

// prove asks the service for a token and who it stands for, so that whoever signs in sees that it
// works, and keeps the sign-in. That takes place in a file of its own: a running bridge must not
// take a refresh token that is being used up here.
func (c *loginCommand) prove(ctx context.Context, s streams, saved signin.Saved, service configs.Service,
	b configs.Bridge) error {
	draft := service.SessionFile + ".new"
	if err := saved.Keep(draft); err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft) }()
	way, err := client.New(client.Options{BaseURL: service.URL, Token: client.Token("none"), CAFile: service.CAFile,
		Fingerprint: service.TLSFingerprint})
	if err != nil {
		return err
	}
	defer way.Close()
	source := signin.New(signin.Options{Path: draft, HTTP: way.HTTP()})
	asking, err := client.New(client.Options{BaseURL: service.URL, Credentials: source, HTTP: way.HTTP()})
	if err != nil {
		return err
	}
	who, err := asking.User(ctx)
	if err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	if who.AccountID != b.Account {
		return fmt.Errorf("sign in: this user is of the account %s, but bridge.account is %s, and events of another "+
			"account are refused", who.AccountID, b.Account)
	}
	if saved, err = signin.Load(draft); err != nil {
		return err
	}
	if err := keepFor(saved, service.SessionFile); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(s.out, "Signed in at %s for the account %s. %s holds it; a running bridge goes on with it.\n",
		source.Base(), who.AccountID, service.SessionFile)
	return nil
}

// keepFor keeps a sign-in; a file that root wrote is given to the owner of its folder, who runs the
// bridge.
func keepFor(saved signin.Saved, path string) error {
	if err := saved.Keep(path); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("give the sign-in to the bridge: %w", err)
	}
	if uid, gid := setup.OwnerOf(info); uid >= 0 {
		if err := os.Chown(path, uid, gid); err != nil {
			return fmt.Errorf("give the sign-in to the bridge: %w", err)
		}
	}
	return nil
}
