package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"vmsbridge/configs"
	"vmsbridge/uplink/client/signin"
)

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
	c.session = saved
	lasting, err := d.Lasting(ctx, saved, "vmsbridge "+b.ID)
	if refusal := (*signin.Refusal)(nil); errors.As(err, &refusal) {
		_, _ = fmt.Fprintln(s.err, "The service gives the bridge no sign-in of its own; it uses your session, and "+
			"you must sign in again when that ends.")
		return saved, nil
	}
	return lasting, err
}

// wrongCodes is how often a code may be typed; the service locks the user after one more.
const wrongCodes = 3

// authorize takes the second step, with a code if one is needed.
func (c *loginCommand) authorize(ctx context.Context, s streams, d signin.Door,
	challenge signin.Challenge) (signin.Saved, error) {
	if challenge.Ways == nil {
		return d.Authorize(ctx, challenge.Token, "")
	}
	_, _ = fmt.Fprintf(s.err, "A code is needed. It can be sent by email to %s, or by sms to %s.\n",
		challenge.Ways.Mail, challenge.Ways.SMS)
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
		if refusal := (*signin.Refusal)(nil); c.Way != "" || !errors.As(err, &refusal) || refusal.Code != 412 &&
			refusal.Code != 415 {
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
		return "",
			fmt.Errorf("no password was given: %w; use --password-file or $VMSBRIDGE_PASSWORD where nobody can type",
				err)
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
