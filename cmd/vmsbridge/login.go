package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

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
}

// Run signs the bridge in at the service and leaves what it got in service.session_file. A running bridge notices.
func (c *loginCommand) Run(ctx context.Context, s streams) error {
	cfg, err := c.load(s)
	if err != nil {
		return err
	}
	service := cfg.Service
	if service.SessionFile == "" {
		return &exitError{exitConfig, errors.New("the configuration does not say where to keep a sign-in: write service.session_file in place of a token, for example session_file: " +
			filepath.Join(cfg.Bridge.Data, "service.session"))}
	}
	way, err := client.New(client.Options{BaseURL: service.URL, Token: client.Token("none"), CAFile: service.CAFile, Fingerprint: service.TLSFingerprint})
	if err != nil {
		return &exitError{exitConfig, err}
	}
	defer way.Close()
	door := signin.Door{URL: service.URL, HTTP: way.HTTP()}
	if door.Key, err = oneLine(c.KeyFile); err != nil {
		return err
	}
	if before, err := signin.Load(service.SessionFile); err == nil {
		door.Device = before.Device
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
	return c.prove(ctx, s, saved, service, cfg.Bridge)
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

// asUser asks for what the two steps need.
func (c *loginCommand) asUser(ctx context.Context, s streams, d signin.Door, b configs.Bridge) (signin.Saved, error) {
	user, err := c.User, error(nil)
	if user == "" {
		if user, err = c.prompt(s, "Address of the user: "); err != nil {
			return signin.Saved{}, err
		}
	}
	password, err := c.secret(s, user)
	if err != nil {
		return signin.Saved{}, err
	}
	challenge, err := d.Authenticate(ctx, user, password)
	if err != nil {
		return signin.Saved{}, err
	}
	saved, err := c.authorize(ctx, s, d, challenge)
	if err != nil || c.KeepSession {
		return saved, err
	}
	lasting, err := d.Lasting(ctx, saved, "vmsbridge "+b.ID)
	if refusal := (*signin.Refusal)(nil); errors.As(err, &refusal) {
		_, _ = fmt.Fprintln(s.err, "The service gives the bridge no sign-in of its own; it uses your session, and you must sign in again when that ends.")
		return saved, nil
	}
	return lasting, err
}

// wrongCodes is how often a code may be typed; the service locks the user after one more.
const wrongCodes = 3

// authorize takes the second step, with a code if one is needed.
func (c *loginCommand) authorize(ctx context.Context, s streams, d signin.Door, challenge signin.Challenge) (signin.Saved, error) {
	if challenge.Ways == nil {
		return d.Authorize(ctx, challenge.Token, "")
	}
	_, _ = fmt.Fprintf(s.err, "A code is needed. It can be sent by email to %s, or by sms to %s.\n", challenge.Ways.Mail, challenge.Ways.SMS)
	for {
		way, err := c.Way, error(nil)
		if way == "" {
			if way, err = c.prompt(s, "How, email or sms? "); err != nil {
				return signin.Saved{}, err
			}
		}
		err = d.SendCode(ctx, challenge.Token, strings.ToLower(way))
		if err == nil {
			break
		}
		if refusal := (*signin.Refusal)(nil); c.Way != "" || !errors.As(err, &refusal) || refusal.Code != 412 && refusal.Code != 415 {
			return signin.Saved{}, err
		}
		_, _ = fmt.Fprintln(s.err, err)
	}
	for try := 1; ; try++ {
		code, err := c.prompt(s, "Code: ")
		if err != nil {
			return signin.Saved{}, err
		}
		saved, err := d.Authorize(ctx, challenge.Token, code)
		if refusal := (*signin.Refusal)(nil); !errors.As(err, &refusal) || refusal.Code != 406 || try == wrongCodes {
			return saved, err
		}
		_, _ = fmt.Fprintln(s.err, err)
	}
}

// prove asks the service for a token and who it stands for, so that whoever signs in sees that it works, and keeps the sign-in.
// That takes place in a file of its own: a running bridge must not take a refresh token that is being used up here.
func (c *loginCommand) prove(ctx context.Context, s streams, saved signin.Saved, service configs.Service, b configs.Bridge) error {
	draft := service.SessionFile + ".new"
	if err := saved.Keep(draft); err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft) }()
	way, err := client.New(client.Options{BaseURL: service.URL, Token: client.Token("none"), CAFile: service.CAFile, Fingerprint: service.TLSFingerprint})
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
		return fmt.Errorf("sign in: this user is of the account %s, but bridge.account is %s, and events of another account are refused", who.AccountID, b.Account)
	}
	if saved, err = signin.Load(draft); err != nil {
		return err
	}
	if err := keepFor(saved, service.SessionFile); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(s.out, "Signed in at %s for the account %s. %s holds it; a running bridge goes on with it.\n", source.Base(), who.AccountID, service.SessionFile)
	return nil
}

// keepFor keeps a sign-in; a file that root wrote is given to the owner of its folder, who runs the bridge.
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
	if uid, gid := ownerOf(info); uid >= 0 {
		if err := os.Chown(path, uid, gid); err != nil {
			return fmt.Errorf("give the sign-in to the bridge: %w", err)
		}
	}
	return nil
}

func (c *loginCommand) prompt(s streams, question string) (string, error) {
	_, _ = fmt.Fprint(s.err, question)
	line, err := c.in.ReadString('\n')
	if line = strings.TrimSpace(line); line == "" {
		if err == nil || errors.Is(err, io.EOF) {
			err = errors.New("nothing was typed")
		}
		return "", err
	}
	return line, nil
}

// secret finds the password: in the file, in the environment, or by asking without showing it.
func (c *loginCommand) secret(s streams, user string) (string, error) {
	if c.PasswordFile != "" {
		return oneLine(c.PasswordFile)
	}
	if p, ok := os.LookupEnv("VMSBRIDGE_PASSWORD"); ok {
		return p, nil
	}
	restore := func() {}
	if f, ok := s.in.(*os.File); ok {
		restore = hideInput(int(f.Fd()))
	}
	defer func() { restore(); _, _ = fmt.Fprintln(s.err) }()
	_, _ = fmt.Fprintf(s.err, "Password of %s: ", user)
	line, err := c.in.ReadString('\n')
	if err != nil && line == "" {
		return "", fmt.Errorf("no password was given: %w; use --password-file or $VMSBRIDGE_PASSWORD where nobody can type", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// oneLine reads a file with a secret; "" for no file.
func oneLine(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	return strings.TrimRight(string(raw), "\r\n"), nil
}
