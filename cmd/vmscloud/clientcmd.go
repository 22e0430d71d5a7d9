package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"vmsbridge/cmd/cli"
	"vmsbridge/uplink/identity/oauth"
)

type clientCreateCmd struct {
	storeFlag
	jsonFlag
	Name     string   `arg:"" help:"What people are told when they are asked for their consent."`
	Account  string   `help:"Id of the account, if there are several." placeholder:"ID"`
	Redirect []string `help:"Address to which people come back with a code: https, http to 127.0.0.1, or an app's own such as org.example.app:/cb; repeat for more." placeholder:"URL"`
	Scope    []string `help:"The most that it may ask for: read, report or all; repeat for more. Default: all." placeholder:"SCOPE"`
	Public   bool     `help:"It runs on people's devices and can keep no secret: it signs in with PKCE alone."`
	Quiet    bool     `help:"Print only the id and, on a second line, the secret." short:"q"`
}

func (c clientCreateCmd) Run() error {
	return c.admin(func(ask asker) error {
		account, err := c.pickAccount(ask, c.Account)
		if err != nil {
			return err
		}
		for i, scope := range c.Scope {
			if !strings.Contains(scope, ".") {
				c.Scope[i] = "vms." + scope
			}
		}
		t, err := oauth.NewClient(account.ID, c.Name, c.Redirect, c.Scope, c.Public)
		if err != nil {
			return err
		}
		a, err := ask(adminRequest{Do: "create", Token: t})
		if err != nil {
			return err
		}
		t = a.Token
		o := object{"id": t.ID, "name": t.Name, "account": account.ID, "public": c.Public}
		if !c.Public {
			o["secret"] = a.Secret
		}
		words := "Client %s (%s) for the account %s. Keep its secret now, it is not shown again:\n\n%s\n"
		switch {
		case c.Quiet && c.Public:
			words = "%[1]s\n"
		case c.Quiet:
			words = "%[1]s\n%[4]s\n"
		case c.Public:
			words = "Client %[1]s (%[2]s) for the account %[3]s. It has no secret and signs in with PKCE.\n"
		}
		return c.said(secretOut(), o, words, t.ID, printable(t.Name), account.ID, a.Secret)
	})
}

type clientListCmd struct {
	storeFlag
	jsonFlag
}

func (c clientListCmd) Run() error {
	// A client in a list is all but its secret.
	type shown struct {
		ID        string    `json:"id"`
		Name      string    `json:"name"`
		Account   string    `json:"account"`
		Redirects []string  `json:"redirects,omitempty"`
		Scopes    []string  `json:"scopes,omitempty"` // none: all
		Public    bool      `json:"public,omitempty"`
		Created   time.Time `json:"created"`
		State     string    `json:"state"`
	}
	return c.admin(func(ask asker) error {
		a, err := ask(adminRequest{Do: "tokens"})
		if err != nil {
			return err
		}
		var list []shown
		for _, t := range a.Tokens {
			if oauth.IsClient(t) {
				list = append(list, shown{t.ID, t.Name, t.AccountID, t.Redirects, t.Scopes, t.Public, t.Created,
					t.State(time.Now())})
			}
		}
		return cli.List(os.Stdout, c.JSON, "ID, NAME, ACCOUNT, REDIRECTS, SCOPES, CREATED, STATE", list,
			func(x shown) []string {
				return []string{x.ID, printable(x.Name), x.Account, printable(strings.Join(x.Redirects, ",")),
					orAll(x.Scopes),
					x.Created.Format(time.DateTime), x.State}
			})
	})
}

type clientDeleteCmd struct {
	storeFlag
	jsonFlag
	ID string `arg:"" help:"Id of the client, from the list."`
}

func (c clientDeleteCmd) Run() error {
	return c.admin(func(ask asker) error {
		a, err := ask(adminRequest{Do: "tokens"})
		if err != nil {
			return err
		}
		found := false
		for _, t := range a.Tokens {
			if is := oauth.IsClient(t) && t.ID == c.ID; is || t.ClientID == c.ID {
				found = found || is
				if _, err := ask(adminRequest{Do: "revoke", ID: t.ID}); err != nil {
					return err
				}
			}
		}
		if !found {
			return fmt.Errorf("there is no client %q: list them with: vmscloud client list", c.ID)
		}
		return c.said(os.Stdout, object{"id": c.ID, "state": "deleted"}, "Client %s is ended, with all that it got.\n",
			printable(c.ID))
	})
}
