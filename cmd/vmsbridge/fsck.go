package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"vmsbridge/agent/api"
	"vmsbridge/agent/archive"
	"vmsbridge/cmd/cli"
	"vmsbridge/storage/database"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/identity/store"
)

// fsckCommand looks through the stores of a bridge that does not run.
type fsckCommand struct {
	Repair bool   `help:"Put in order what is wrong. What can be read is kept; damaged files are set aside, never deleted."`
	JSON   bool   `name:"json" help:"One JSON object."`
	Data   string `help:"The bridge's data folder, instead of the configuration's." placeholder:"DIR"`
	configFile
}

func (fsckCommand) Help() string {
	return `Reads every event, user and still of a stopped bridge and compares checksums, copies, indexes and the queue. Without --repair it changes
nothing. Run by root, it leaves whatever it makes to the owner of the data folder.

Exit codes: 0 all is in order, or is so after --repair; what a power cut cut off ("torn") is in order too: nothing that was promised is missing,
and the next start puts it right. 1 the files could not be checked (the bridge runs, a folder is missing, the disk does not answer). 3 something
is wrong, and was not repaired or not in full.`
}

// exitWrong is fsck's own exit code: a store is damaged.
const exitWrong = cli.Wrong

// verdict is what fsck says of the stores.
type verdict struct {
	Data    string    `json:"data"`
	Clean   bool      `json:"clean"`
	Journal *cli.Fsck `json:"journal"`
	Users   *cli.Fsck `json:"users"`
	Stills  *cli.Fsck `json:"stills"`
}

func (c *fsckCommand) Run(s streams) error {
	dir, err := dataFolder(c.Data, c.configFile, s)
	if err != nil {
		return err
	}
	progress := cli.NewProgress(s.err)
	f, err := c.look(dir, s, progress)
	progress.End()
	if err != nil {
		return err
	}
	f.Clean = f.Journal.Clean && f.Users.Clean && f.Stills.Clean
	if c.JSON {
		if err := cli.JSON(s.out, f); err != nil {
			return fmt.Errorf("print what was found: %w", err)
		}
	} else {
		f.print(s.out, c.Repair)
	}
	if !f.Clean {
		return cli.Exit(exitWrong, nil)
	}
	return nil
}

func (f verdict) print(w io.Writer, repaired bool) {
	f.Journal.Print(w, "journal", "events", "ongoing", "waiting", "parked")
	f.Users.Print(w, "users", "records")
	f.Stills.Print(w, "stills", "stills", "segments")
	cli.Verdict(w, "vmsbridge", repaired, f.Journal, f.Users, f.Stills)
}

// look checks the stores, and repairs them if wanted, while the journal's lock keeps a bridge from
// starting on them.
func (c *fsckCommand) look(dir string, s streams, progress *cli.Progress) (f verdict, err error) {
	f.Data = dir
	defer func() { err = errors.Join(err, giveBack(dir)) }()
	path := filepath.Join(dir, archive.JournalFile)
	h, err := file.Hold(path, time.Second)
	switch {
	case errors.Is(err, file.ErrLocked):
		return f,
			fmt.Errorf("the bridge that owns %s is running: stop it first (vmsbridge service stop), then check again",
				dir)
	case errors.Is(err, fs.ErrNotExist):
		return f, fmt.Errorf("%w; has this bridge ever run? --data names another folder", err)
	case errors.Is(err, fs.ErrPermission):
		return f, notAllowed(err)
	case err != nil:
		return f, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	progress.Now("reading %s", path)
	if f.Journal, err = cli.FsckJournal(h, path, c.Repair, warnings(s)); err != nil {
		return f, err
	}
	users := func(path string) (*database.Held, error) { return store.Hold(path, store.Options{Log: warnings(s)}) }
	progress.Now("reading %s", api.IdentityFile)
	if f.Users, err = cli.FsckRecords(filepath.Join(dir, api.IdentityFile), users, c.Repair); err != nil {
		return f, err
	}
	progress.Now("reading the stills in %s", archive.StillsDir)
	f.Stills, err = c.ring(filepath.Join(dir, archive.StillsDir), s)
	return f, err
}

func (c *fsckCommand) ring(dir string, s streams) (*cli.Fsck, error) {
	found := &cli.Fsck{Path: dir}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		found.Missing, found.Clean = true, true
		return found, nil
	}
	r, err := stills.Check(dir)
	if err != nil {
		return nil, err
	}
	found.Problems = problems(r)
	for _, p := range r.Torn {
		found.Torn = append(found.Torn, p.String())
	}
	if c.Repair && !r.Clean() {
		if r, err = stills.Repair(dir, stills.Options{MaxBytes: repairBytes, Log: warnings(s)}); err != nil {
			return nil, err
		}
		found.Repaired = r.Repairs
	}
	found.Left, found.Clean, found.Bytes = problems(r), r.Clean(), r.Bytes
	found.Holds = map[string]int{"stills": r.Stills, "segments": r.Segments}
	if entries, err := os.ReadDir(filepath.Join(dir, "aside")); err == nil {
		for _, e := range entries {
			found.Aside = append(found.Aside, filepath.Join(dir, "aside", e.Name()))
		}
	}
	return found, nil
}

// repairBytes lets a repair make any number of segments: the next start drops what is above
// stills.max_size, the oldest.
const repairBytes = 1 << 50

func problems(r stills.Report) (list []string) {
	for _, p := range r.Problems {
		list = append(list, p.String())
	}
	return list
}

func warnings(s streams) *slog.Logger {
	return slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: slog.LevelError + 1}))
}
