package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/store"
)

// everything is what a user has of a kind.
const everything = "all"

type userDevicesCmd struct {
	dataFlag
	Email  string `arg:"" help:"Address of the user."`
	Forget string `help:"Forget this one, so that the next sign-in there needs a code; all forgets all." placeholder:"ID"`
}

func (c userDevicesCmd) Run() error {
	return listOrEnd(c.Data, c.Email, "devices", "forget-device", c.Forget)
}

// listOrEnd prints what a user has of a kind, or ends one of them.
func listOrEnd(data, email, list, end, what string) (err error) {
	ids, err := openTokens(data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ids.Close()) }()
	verb := list
	if what != "" {
		verb = end
	}
	out, err := ids.ChangeUser(verb, email, what)
	if err != nil {
		return err
	}
	if what != "" {
		fmt.Printf("Done: %s %s %s.\n", verb, printable(what), printable(email))
		return nil
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, out)
	return w.Flush()
}

// devicesOf are the trusted devices of a user as lines with tabs.
func devicesOf(u model.User) string {
	var b strings.Builder
	b.WriteString("ID\tNAME\tTRUSTED SINCE\tLAST USED\n")
	for _, d := range u.Inner.Devices {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", d.ID(), printable(d.Name), minute(d.Since), minute(d.Used))
	}
	return b.String()
}

// minute is a time in a list.
func minute(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

type userConsentsCmd struct {
	dataFlag
	Email  string `arg:"" help:"Address of the user."`
	Revoke string `help:"Take back what this application may do; its tokens end at once. all is for all of them." placeholder:"CLIENT"`
}

func (c userConsentsCmd) Run() error {
	return listOrEnd(c.Data, c.Email, "consents", "end-consent", c.Revoke)
}

// consentsOf are what a user lets clients do, as lines with tabs.
func consentsOf(tx *store.Tx, u model.User) (string, error) {
	list, err := oauth.Consents(tx, u)
	var b strings.Builder
	b.WriteString("CLIENT\tNAME\tSCOPES\tSINCE\n")
	for _, x := range list {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", x.ClientID, printable(x.Name), strings.Join(x.Scopes, " "), minute(x.Created))
	}
	return b.String(), err
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
			return fmt.Errorf("%s lets no application %q do anything: list them with: vmscloud user consents: %w", u.Email, id, err)
		}
	}
	return nil
}
