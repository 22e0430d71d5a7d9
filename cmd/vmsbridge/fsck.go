package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"vmsbridge/agent"
	"vmsbridge/storage/journal/vault"
	"vmsbridge/storage/stills"
)

// fsckCommand looks through the stores of a bridge that does not run.
type fsckCommand struct {
	Repair bool   `help:"Put in order what is wrong. What can be read is kept; damaged files are set aside, never deleted."`
	JSON   bool   `name:"json" help:"One JSON object."`
	Data   string `help:"The bridge's data folder, instead of the configuration's." placeholder:"DIR"`
	configFile
}

func (fsckCommand) Help() string {
	return `Reads every event and every still of a stopped bridge and compares checksums, indexes and the queue. Without --repair it changes nothing.
Run by root, it leaves whatever it makes to the owner of the data folder.

Exit codes: 0 both stores are in order, or are so after --repair; 1 they could not be checked (the bridge runs, a folder is
missing, the disk does not answer); 3 something is wrong, and was not repaired or not in full.`
}

// exitWrong is fsck's own exit code: a store is damaged.
const exitWrong = 3

// verdict is what fsck says of both stores.
type verdict struct {
	Data    string `json:"data"`
	Clean   bool   `json:"clean"`
	Journal *store `json:"journal"`
	Stills  *store `json:"stills"`
}

// store is what fsck says of one store.
type store struct {
	Path     string         `json:"path"`
	Clean    bool           `json:"clean"` // now: after the repair, if there was one
	Holds    map[string]int `json:"holds"` // what is in it, by its name
	Bytes    int64          `json:"bytes"`
	Problems []string       `json:"problems"`          // as found
	Repaired []string       `json:"repaired"`          // what was done
	Left     []string       `json:"left"`              // problems that are still there
	Aside    []string       `json:"setAside"`          // damaged files kept for you to look at or delete
	Missing  bool           `json:"missing,omitempty"` // there is no such store yet
}

func (c *fsckCommand) Run(s streams) error {
	dir, err := dataFolder(c.Data, c.configFile, s)
	if err != nil {
		return err
	}
	f, err := c.look(dir, s)
	if err != nil {
		return err
	}
	f.Clean = f.Journal.Clean && f.Stills.Clean
	if c.JSON {
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", "  ")
		if err := enc.Encode(f); err != nil {
			return fmt.Errorf("print what was found: %w", err)
		}
	} else {
		f.print(s.out, c.Repair)
	}
	if !f.Clean {
		return &exitError{exitWrong, nil}
	}
	return nil
}

// look checks both stores, and repairs them if wanted, while the journal's lock keeps a bridge from starting on them.
func (c *fsckCommand) look(dir string, s streams) (f verdict, err error) {
	f.Data = dir
	defer func() { err = errors.Join(err, giveBack(dir)) }()
	path := filepath.Join(dir, agent.JournalFile)
	h, err := vault.Hold(path, time.Second)
	switch {
	case errors.Is(err, vault.ErrLocked):
		return f, fmt.Errorf("the bridge that owns %s is running: stop it first (vmsbridge service stop), then check again", dir)
	case errors.Is(err, fs.ErrNotExist):
		return f, fmt.Errorf("%w; has this bridge ever run? --data names another folder", err)
	case err != nil:
		return f, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	if f.Journal, err = c.journal(h, path, s); err != nil {
		return f, err
	}
	f.Stills, err = c.ring(filepath.Join(dir, agent.StillsDir), s)
	return f, err
}

func (c *fsckCommand) journal(h *vault.Held, path string, s streams) (*store, error) {
	r, err := h.Check()
	if err != nil {
		return nil, err
	}
	found := &store{Path: path, Problems: r.Problems}
	if c.Repair && !r.Clean() {
		d, err := h.Repair(vault.Options{Log: warnings(s)})
		if err != nil {
			return nil, err
		}
		if d == nil {
			found.Repaired = []string{"a recovery that was cut off was ended"}
		} else {
			found.Repaired = []string{fmt.Sprintf("%d events were recovered into a new file, %d of them waiting (%d again, to be sure) and %d parked; %d pages and %d values could not be read",
				d.Events, d.Waiting, d.Requeued, d.Parked, d.LostPages, d.DamagedValues)}
		}
		if r, err = h.Check(); err != nil {
			return nil, err
		}
		found.Left = r.Problems
	} else {
		found.Left = r.Problems
	}
	found.Clean, found.Bytes = r.Clean(), r.Bytes
	found.Holds = map[string]int{"events": r.Events, "ongoing": r.Ongoing, "waiting": r.Waiting, "parked": r.Parked}
	found.Aside = h.Aside()
	return found, nil
}

func (c *fsckCommand) ring(dir string, s streams) (*store, error) {
	found := &store{Path: dir}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		found.Missing, found.Clean = true, true
		return found, nil
	}
	r, err := stills.Check(dir)
	if err != nil {
		return nil, err
	}
	found.Problems = problems(r)
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

// repairBytes lets a repair make any number of segments: the next start drops what is above stills.max_size, the oldest.
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
