package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"

	"vmsbridge/cmd/cli"
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/identity"
)

type bridgeListCmd struct {
	storeFlag
	jsonFlag
}

func (c bridgeListCmd) Run() error {
	return c.admin(func(ask asker) error {
		a, err := ask(adminRequest{Do: "bridges"})
		if err != nil {
			return err
		}
		return cli.List(os.Stdout, c.JSON,
			"ID, NAME, ACCOUNT, STATE, LAST SEEN, CAMERAS, HELD BY, CALLED", a.Bridges, bridgeRow)
	})
}

func bridgeRow(b registry.Held) []string {
	called := printable(b.Called)
	switch {
	case b.Holder == "":
		b.Holder = "nobody"
	case called == "":
		called = "(ended: the next one may have it)"
	}
	seen := "unknown"
	if b.LastSeen != nil {
		seen = b.LastSeen.String()
	}
	cameras := strconv.Itoa(b.Cameras)
	if b.Online != nil {
		cameras = fmt.Sprintf("%d of %d online", *b.Online, b.Cameras)
	}
	return []string{b.ID, printable(b.Name), b.Account, cmp.Or(b.Status, "unknown"), seen, cameras, b.Holder, called}
}

// releaseCmd frees what it is about, a bridge or a camera, for the next one.
type releaseCmd struct {
	storeFlag
	jsonFlag
	ID         string `arg:"" help:"Its id."`
	Account    string `help:"Its account, where several have one of that id." placeholder:"ID"`
	what, next string
}

func (c releaseCmd) Run() error {
	return c.admin(func(ask asker) error {
		a, err := ask(adminRequest{Do: c.what, Account: c.Account, ID: c.ID})
		if errors.Is(err, identity.ErrNotFound) {
			return cli.Unknown(c.what, c.ID, "the service", a.Known)
		} else if err != nil {
			return err
		}
		return c.said(os.Stdout, object{"id": c.ID, "kind": c.what, "state": "released"},
			"The %s %s is free for the next %s.\n", c.what, printable(c.ID), c.next)
	})
}
