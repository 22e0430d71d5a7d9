package main

import (
	"errors"
	"fmt"
	"os"

	"vmsbridge/cmd/cli"
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/identity"
)

type bridgeCmd struct {
	List    bridgeListCmd    `cmd:"" help:"List the bridges, and with which credential each is registered."`
	Release bridgeReleaseCmd `cmd:"" help:"Let the next credential of its account that registers a bridge have it."`
}

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
		return cli.List(os.Stdout, c.JSON, "ID, NAME, ACCOUNT, HELD BY, CALLED", a.Bridges, bridgeRow)
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
	return []string{b.ID, printable(b.Name), b.Account, b.Holder, called}
}

// release frees what a command is about, a bridge or a camera, for the next one.
func (f storeFlag) release(what, account, id, next string) error {
	return f.admin(func(ask asker) error {
		a, err := ask(adminRequest{Do: what, Account: account, ID: id})
		if errors.Is(err, identity.ErrNotFound) {
			return cli.Unknown(what, id, "the service", a.Known)
		} else if err != nil {
			return err
		}
		fmt.Printf("The %s %s is free for the next %s.\n", what, printable(id), next)
		return nil
	})
}

type bridgeReleaseCmd struct {
	storeFlag
	ID      string `arg:"" help:"Id of the bridge."`
	Account string `help:"Account of the bridge, where several have one of that id." placeholder:"ID"`
}

func (c bridgeReleaseCmd) Run() error {
	return c.release("bridge", c.Account, c.ID, "credential of its account that registers it")
}

type cameraCmd struct {
	Release cameraReleaseCmd `cmd:"" help:"Let the next other bridge of its account that registers a camera have it, as when a box is swapped."`
}

type cameraReleaseCmd struct {
	storeFlag
	ID      string `arg:"" help:"Id of the camera."`
	Account string `help:"Account of the camera, where several have one of that id." placeholder:"ID"`
}

func (c cameraReleaseCmd) Run() error {
	return c.release("camera", c.Account, c.ID, "other bridge of its account that registers it")
}
