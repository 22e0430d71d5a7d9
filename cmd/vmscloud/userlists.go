package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"vmsbridge/cmd/cli"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/store"
)

// everything is what a user has of a kind.
const everything = "all"

type userDevicesCmd struct {
	storeFlag
	jsonFlag
	Email  string `arg:"" help:"Address of the user."`
	Forget string `help:"Forget this one, so that the next sign-in there needs a code; all forgets all." placeholder:"ID"`
}

func (c userDevicesCmd) Run() error {
	return listOrEnd(c.storeFlag, c.jsonFlag, c.Email, "devices", "forget-device", c.Forget, func(a adminAnswer) error {
		return cli.List(os.Stdout, c.JSON, "ID, NAME, TRUSTED SINCE, LAST USED", a.Devices,
			func(d deviceShown) []string {
				return []string{d.ID, printable(d.Name), minute(d.Since), minute(d.Used)}
			})
	})
}

// listOrEnd prints what a user has of a kind, or ends one of them.
func listOrEnd(at storeFlag, as jsonFlag, email, list, end, what string, show func(adminAnswer) error) error {
	return at.admin(func(ask asker) error {
		verb := list
		if what != "" {
			verb = end
		}
		a, err := ask(adminRequest{Do: "user-" + verb, ID: email, What: what})
		if err != nil {
			return err
		}
		if what != "" {
			return as.said(os.Stdout, object{"address": email, "done": verb, "id": what}, "Done: %s %s %s.\n", verb,
				printable(what), printable(email))
		}
		return show(a)
	})
}

// deviceShown is a trusted device in a list, without what tells it.
type deviceShown struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
	Used  time.Time `json:"used,omitzero"`
}

// devicesOf are the trusted devices of a user.
func devicesOf(u model.User) []deviceShown {
	list := []deviceShown{}
	for _, d := range u.Inner.Devices {
		list = append(list, deviceShown{d.ID(), d.Name, d.Since, d.Used})
	}
	return list
}

// minute is a time in a list.
func minute(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

type userConsentsCmd struct {
	storeFlag
	jsonFlag
	Email  string `arg:"" help:"Address of the user."`
	Revoke string `help:"Take back what this application may do; its tokens end at once. all is for all of them." placeholder:"CLIENT"`
}

func (c userConsentsCmd) Run() error {
	return listOrEnd(c.storeFlag, c.jsonFlag, c.Email, "consents", "end-consent", c.Revoke, func(a adminAnswer) error {
		return cli.List(os.Stdout, c.JSON, "CLIENT, NAME, SCOPES, SINCE", a.Consents, func(x consentShown) []string {
			return []string{x.Client, printable(x.Name), strings.Join(x.Scopes, " "), minute(x.Since)}
		})
	})
}

// consentShown is what a user lets one client do, in a list.
type consentShown struct {
	Client string    `json:"client"`
	Name   string    `json:"name"`
	Scopes []string  `json:"scopes"`
	Since  time.Time `json:"since"`
}

// consentsOf are what a user lets clients do.
func consentsOf(tx *store.Tx, u model.User) ([]consentShown, error) {
	list, err := oauth.Consents(tx, u)
	shown := []consentShown{}
	for _, x := range list {
		shown = append(shown, consentShown{x.ClientID, x.Name, x.Scopes, x.Created})
	}
	return shown, err
}

// endConsents takes back what a user lets one client do, or all.
func endConsents(tx *store.Tx, u model.User, what string) error {
	clients := []string{what}
	if what == everything {
		clients = nil
		for _, x := range u.Inner.Consents {
			clients = append(clients, x.ClientID)
		}
	}
	for _, id := range clients {
		u, err := tx.User(u.ID)
		if err == nil {
			err = oauth.EndConsent(tx, u, id)
		}
		if err != nil {
			return fmt.Errorf("%s lets no application %q do anything: list them with: vmscloud user consents: %w",
				u.Email, id, err)
		}
	}
	return nil
}
