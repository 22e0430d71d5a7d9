package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"vmsbridge/uplink/identity/record"
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
func devicesOf(u record.User) string {
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
