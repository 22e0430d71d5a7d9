package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"vmsbridge/cmd/cli"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/oauth"
)

type tokenCreateCmd struct {
	storeFlag
	jsonFlag
	Kind    string        `help:"What will hold it: bridge or user; or key for an API key, which --require-api-key asks for and which opens nothing by itself." enum:"bridge,user,key" required:""`
	Name    string        `help:"What to call it in lists." placeholder:"NAME"`
	Account string        `help:"Id of the account, if there are several." placeholder:"ID"`
	Camera  []string      `help:"Only this camera may be seen; repeat for more." placeholder:"ID"`
	Scope   []string      `help:"What may be done: read (events, cameras, images) or report (events); repeat for more. Default: read, and for a bridge both." placeholder:"SCOPE"`
	Expires time.Duration `help:"How long it is good, such as 30d; for ever if left out."`
	Quiet   bool          `help:"Print only the token." short:"q"`
}

func (c tokenCreateCmd) Run() error {
	return c.admin(func(ask asker) error {
		account, err := c.pickAccount(ask, c.Account)
		if err != nil {
			return err
		}
		t := model.Token{Kind: identity.Kind(c.Kind), AccountID: account.ID, Name: c.Name, Cameras: c.Camera}
		for _, scope := range c.Scope {
			if scope == "read" || scope == "report" {
				scope = "vms." + scope
			}
			t.Scopes = append(t.Scopes, scope)
		}
		if t.Name == "" {
			t.Name = c.Kind
		}
		if c.Kind == oauth.PurposeKey {
			t.Kind, t.Purpose = identity.KindUser, oauth.PurposeKey
		}
		if c.Expires < 0 {
			return errors.New("--expires must not be negative")
		}
		if c.Expires > 0 {
			t.Expires = time.Now().Add(c.Expires).UTC()
		}
		if t.Kind == identity.KindUser && t.Purpose == "" {
			a, err := ask(adminRequest{Do: "users", ID: account.ID})
			if err != nil {
				return err
			}
			if len(a.Users) > 0 {
				t.UserID = a.Users[0].ID
			}
		}
		made, err := ask(adminRequest{Do: "create", Token: t})
		if err != nil {
			return err
		}
		words := "Token %s (%s, %s) for the account %s. Keep it now, it is not shown again:\n\n%s\n"
		if c.Quiet {
			words = "%[5]s\n"
		}
		m := made.Token
		return c.said(secretOut(), object{"id": m.ID, "kind": kindOf(m), "name": m.Name, "account": account.ID,
			"token": made.Secret}, words, m.ID, kindOf(m), printable(m.Name), account.ID, made.Secret)
	})
}

// kindOf is what a token is, in the words of the list.
func kindOf(t model.Token) string { return cmp.Or(t.Purpose, string(t.Kind)) }

// pickAccount is the account of that id, or the only one.
func (f storeFlag) pickAccount(ask asker, id string) (model.Account, error) {
	a, err := ask(adminRequest{Do: "accounts"})
	all := a.Accounts
	if err != nil {
		return model.Account{}, err
	}
	if len(all) == 0 {
		return model.Account{}, f.noAccount()
	}
	var ids []string
	for _, a := range all {
		if a.ID == id || (id == "" && len(all) == 1) {
			return a, nil
		}
		ids = append(ids, a.ID)
	}
	if id == "" {
		return model.Account{}, fmt.Errorf("name one of the accounts with --account: %s", strings.Join(ids, ", "))
	}
	return model.Account{}, fmt.Errorf("there is no account %q, only: %s", id, strings.Join(ids, ", "))
}

type tokenListCmd struct {
	storeFlag
	jsonFlag
}

// tokenShown is a token in a list: all but the token itself.
type tokenShown struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Name    string    `json:"name"`
	Account string    `json:"account"`
	Cameras []string  `json:"cameras,omitempty"` // none: all
	Scopes  string    `json:"scopes"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	State   string    `json:"state"`
}

func (c tokenListCmd) Run() error {
	return c.admin(func(ask asker) error {
		a, err := ask(adminRequest{Do: "tokens"})
		if err != nil {
			return err
		}
		shown := make([]tokenShown, len(a.Tokens))
		for i, t := range a.Tokens {
			shown[i] = tokenShown{t.ID, kindOf(t), t.Name, t.AccountID, t.Cameras, scopesOf(t), t.Created, t.Expires,
				t.State(time.Now())}
		}
		return cli.List(os.Stdout, c.JSON, "ID, KIND, NAME, ACCOUNT, CAMERAS, SCOPES, CREATED, STATE", shown,
			func(t tokenShown) []string {
				return []string{t.ID, t.Kind, printable(t.Name), t.Account, orAll(t.Cameras), t.Scopes,
					t.Created.Format(time.DateTime), t.State}
			})
	})
}

// scopesOf is what a token may do; a key or a client does nothing by itself.
func scopesOf(t model.Token) string {
	if t.Purpose != "" {
		return orAll(t.Scopes)
	}
	return strings.Join(identity.ScopesOf(t.Kind, t.Scopes), ",")
}

func orAll(list []string) string {
	if len(list) == 0 {
		return "all"
	}
	return strings.Join(list, ",")
}

type tokenRevokeCmd struct {
	storeFlag
	jsonFlag
	ID string `arg:"" help:"Id of the token, from the list."`
}

func (c tokenRevokeCmd) Run() error {
	return c.admin(func(ask asker) error {
		a, err := ask(adminRequest{Do: "revoke", ID: c.ID})
		if errors.Is(err, identity.ErrNotFound) {
			return fmt.Errorf("there is no token %q; see: vmscloud token list %s", c.ID, c.flags())
		}
		if err != nil {
			return err
		}
		return c.said(os.Stdout, object{"id": a.Token.ID, "name": a.Token.Name, "state": "revoked"},
			"Token %s (%s) is revoked.\n", a.Token.ID, printable(a.Token.Name))
	})
}
