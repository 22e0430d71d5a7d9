package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"vmsbridge/cmd/cli"
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/database"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/file"
	"vmsbridge/uplink/identity/store"
)

type fsckCmd struct {
	dataFlag
	Repair bool `help:"Put in order what is wrong. What can be read is kept; damaged files are set aside, never deleted."`
	JSON   bool `name:"json" help:"One JSON object."`
}

func (fsckCmd) Help() string {
	return `Reads every event, account, user, token, bridge and camera of a stopped service and compares checksums, copies and indexes. Without --repair
it changes nothing. Exit codes: 0 all is in order, or is so after --repair; 1 the files could not be checked (the service runs, the disk does not
answer); 3 something is wrong, and was not repaired or not in full.`
}

// fsckVerdict is what fsck says.
type fsckVerdict struct {
	Data     string    `json:"data"`
	Clean    bool      `json:"clean"`
	Identity *cli.Fsck `json:"identity"`
	Registry *cli.Fsck `json:"registry"`
	Events   *cli.Fsck `json:"events"`
}

func (c fsckCmd) Run() error {
	progress := cli.NewProgress(os.Stderr)
	v, err := c.look(progress)
	progress.End()
	if errors.Is(err, guard.ErrLocked) {
		return fmt.Errorf("the service that owns %s is running: stop it first, then check again", c.Data)
	}
	if err != nil {
		return err
	}
	v.Clean = v.Identity.Clean && v.Registry.Clean && v.Events.Clean
	if c.JSON {
		if err := cli.JSON(os.Stdout, v); err != nil {
			return fmt.Errorf("print what was found: %w", err)
		}
	} else {
		v.Identity.Print(os.Stdout, "identity", "records")
		v.Registry.Print(os.Stdout, "registry", "records")
		v.Events.Print(os.Stdout, "events", "events", "ongoing")
		cli.Verdict(os.Stdout, "vmscloud", c.Repair, v.Identity, v.Registry, v.Events)
	}
	if !v.Clean {
		return cli.Exit(cli.Wrong, nil)
	}
	return nil
}

func (c fsckCmd) look(progress *cli.Progress) (v fsckVerdict, err error) {
	v.Data = c.Data
	identity := filepath.Join(c.Data, identityFile)
	if err := database.Exists(identity); errors.Is(err, fs.ErrNotExist) {
		return v, cli.Exit(cli.Config, fmt.Errorf("%s holds no account; --data names another folder", c.Data))
	} else if errors.Is(err, fs.ErrPermission) {
		return v, notAllowed(err)
	} else if err != nil {
		return v, fmt.Errorf("%w; --data names another folder", err)
	}
	log := slog.New(slog.DiscardHandler)
	users := func(path string) (*database.Held, error) { return store.Hold(path, store.Options{Log: log}) }
	progress.Now("reading %s", identityFile)
	if v.Identity, err = cli.FsckRecords(identity, users, c.Repair); err != nil {
		return v, err
	}
	bridges := func(path string) (*database.Held, error) { return registry.Hold(path, registry.Options{Log: log}) }
	progress.Now("reading %s", registryFile)
	if v.Registry, err = cli.FsckRecords(filepath.Join(c.Data, registryFile), bridges, c.Repair); err != nil {
		return v, err
	}
	path := filepath.Join(c.Data, eventsFile)
	progress.Now("reading %s", eventsFile)
	h, err := file.Hold(path, time.Second)
	if errors.Is(err, fs.ErrNotExist) {
		v.Events = &cli.Fsck{Path: path, Missing: true, Clean: true}
		return v, nil
	}
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	v.Events, err = cli.FsckJournal(h, path, c.Repair, log)
	return v, err
}
