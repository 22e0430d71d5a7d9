package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"vmsbridge/cmd/cli"
)

type moveCmd struct {
	jsonFlag
	From string `help:"Where everything is: the data folder of a stopped service, or the address of its PostgreSQL." required:"" placeholder:"DIR|ADDRESS"`
	To   string `help:"Where it shall be: an address, or a folder that is empty or not there." required:"" placeholder:"DIR|ADDRESS"`
}

// Help is shown by --help.
func (moveCmd) Help() string {
	return `Copies accounts, users, tokens, bridges, cameras and events from a data folder into PostgreSQL, or back, and compares both sides. The
service must not run. What was copied from stays as it is, and is marked so that no service runs on it by mistake. A move that broke off goes on when it is called again.`
}

// placeOf is the place that a text names.
func placeOf(text string) storeFlag {
	if strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://") {
		return storeFlag{Store: text}
	}
	return storeFlag{dataFlag: dataFlag{text}}
}

func (c moveCmd) Run() (err error) {
	from, to := placeOf(c.From), placeOf(c.To)
	if (from.Store == "") == (to.Store == "") {
		return cli.Exit(cli.Usage,
			errors.New("--from and --to: one must be a folder, and the other an address such as postgres://vms@db/vms"))
	}
	if err := from.exists(); err != nil {
		return err
	}
	if to.Store == "" {
		if err := os.MkdirAll(to.Data, 0o700); err != nil {
			return fmt.Errorf("make data folder: %w", err)
		}
	}
	progress := cli.NewProgress(os.Stderr)
	defer progress.End()
	m := move{progress: progress}
	defer func() { err = errors.Join(err, m.close()) }()
	if m.from, err = from.openRaw(); err != nil {
		return err
	}
	if m.to, err = to.openRaw(); err != nil {
		return err
	}
	if err := m.run(); err != nil {
		return err
	}
	progress.End()
	words := "Moved and compared: %d records and %d events. Start the service with: vmscloud run %s\n"
	args := []any{m.records, m.events, to.flags()}
	if from.Store == "" {
		words += "%s stays as it was; vmscloud refuses to run on it, as moved.json there says. Delete it when you " +
			"are sure.\n"
		args = append(args, from.Data)
	}
	return c.said(os.Stdout, object{"records": m.records, "events": m.events}, words, args...)
}
