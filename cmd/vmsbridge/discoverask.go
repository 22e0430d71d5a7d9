package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"vmsbridge/agent/discover"
	"vmsbridge/cmd/cli"
)

// credentials are those with which each device is asked, none where the user does not want to sign
// in, and the password. Anyone in the network can answer a search, and who is signed in at gets the
// user name and a digest of the password, which can be guessed at leisure. So a person says for
// each device whether it is one of theirs, or names them, or says --yes.
func (c *discoverCommand) credentials(devices []discover.Device, s streams) (who []discover.Credentials, secret string,
	err error) {
	who = make([]discover.Credentials, len(devices))
	if c.User == "" {
		return who, "", nil
	}
	trusted := make([]bool, len(devices))
	for i := range trusted {
		trusted[i] = len(c.Hosts) > 0 || c.Yes
	}
	if len(c.Hosts) == 0 {
		if !c.Yes && !terminal(s) {
			c.list(devices, s)
			return nil, "",
				cli.Exit(exitUsage,
					fmt.Errorf("anyone in the network can answer a search, and signing in tells the user name and a "+
						"digest of the password: "+
						"name the devices that are yours (vmsbridge discover -u %s HOST …), "+
						"or say --yes for all that answer",
						c.User))
		}
		c.list(devices, s)
		if !c.Yes {
			if err := c.choose(devices, trusted, s); err != nil {
				return nil, "", err
			}
		}
	}
	any := false
	for _, t := range trusted {
		any = any || t
	}
	if !any {
		return who, "", nil
	}
	if secret, err = password(s, c.User, c.PasswordFile); err != nil {
		return nil, "", err
	}
	for i := range who {
		if trusted[i] {
			who[i] = discover.Credentials{User: c.User, Password: secret}
		}
	}
	return who, secret, nil
}

// list says who would be told what.
func (c *discoverCommand) list(devices []discover.Device, s streams) {
	_, _ = fmt.Fprintf(s.err, "These answered. Each that %s signs in at is told that name and a digest of the "+
		"password:\n", c.User)
	for _, d := range devices {
		_, _ = fmt.Fprintf(s.err, "  %s\n", inWords(d))
	}
}

// inWords is how a device calls itself, kept to what a terminal shows as text: it may be anybody's.
func inWords(d discover.Device) string {
	text := strings.TrimSpace(fmt.Sprintf("%s %s %s", (&finding{device: d}).host(), d.Name, d.Hardware))
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}

// choose asks for each device; whatever is not yes is no.
func (c *discoverCommand) choose(devices []discover.Device, trusted []bool, s streams) error {
	in := bufio.NewReader(s.in)
	for i, d := range devices {
		_, _ = fmt.Fprintf(s.err, "Sign in at %s? [y/N] ", inWords(d))
		line, err := in.ReadString('\n')
		if err != nil {
			return cli.Exit(exitAborted, errors.New("discover: no answer; nobody was told anything"))
		}
		answer := strings.ToLower(strings.TrimSpace(line))
		trusted[i] = answer == "y" || answer == "yes"
	}
	return nil
}

// terminal says whether somebody can be asked.
func terminal(s streams) bool { return cli.Terminal(s.in) }
