package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"vmsbridge/agent"
	"vmsbridge/storage/journal"
)

// queueCommand works on the journal's file itself, so that it also works on a bridge that does not start any more.
type queueCommand struct {
	List  queueList  `cmd:"" help:"List what waits and what is parked (refused by the service for good), oldest first. Changes nothing."`
	Show  queueShow  `cmd:"" help:"Print one event as JSON."`
	Retry queueRetry `cmd:"" help:"Let parked events wait again; the bridge reports them when it runs."`
	Drop  queueDrop  `cmd:"" help:"Never report these events. They stay in the journal and can still be listed."`
}

// journalFile says whose journal: that of a configuration, or that in a data folder.
type journalFile struct {
	Data string `help:"The bridge's data folder, instead of the configuration's." placeholder:"DIR"`
	configFile
}

// open opens the journal of a bridge that does not run.
func (f journalFile) open(s streams) (*journal.Journal, error) {
	dir, err := dataFolder(f.Data, f.configFile, s)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, agent.JournalFile)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("find the journal: %w; has this bridge ever run? --data names another folder", err)
	}
	j, err := journal.Open(path, journal.Options{Log: slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if errors.Is(err, journal.ErrLocked) {
		return nil, fmt.Errorf("the bridge that owns %s is running, and only it may change its queue: stop it first, or ask it how much waits: /readyz", path)
	}
	if err != nil {
		return nil, fmt.Errorf("open the journal %s: %w", path, err)
	}
	return j, nil
}

// dataFolder is the one named, or the configuration's.
func dataFolder(named string, c configFile, s streams) (string, error) {
	if named != "" {
		return named, nil
	}
	cfg, err := c.load(s)
	if err != nil {
		return "", err
	}
	return cfg.Bridge.Data, nil
}

type queueList struct {
	JSON  bool `name:"json" help:"One JSON object a line."`
	Limit int  `default:"1000" help:"At most so many of each kind."`
	journalFile
}

// queued is a line of queue list --json.
type queued struct {
	ID       string    `json:"id"`
	Parked   bool      `json:"parked"`
	Since    time.Time `json:"since"`
	Attempts int       `json:"attempts"`
	Reason   string    `json:"reason,omitempty"`
}

func (c *queueList) Run(s streams) (err error) {
	j, err := c.open(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	stats, err := j.OutboxStats()
	if err != nil {
		return fmt.Errorf("read the queue: %w", err)
	}
	waiting, err := j.Peek(c.Limit, nil)
	if err != nil {
		return fmt.Errorf("read the queue: %w", err)
	}
	parked, err := j.Parked()
	if err != nil {
		return fmt.Errorf("read what is parked: %w", err)
	}
	var lines []queued
	for _, e := range waiting {
		lines = append(lines, queued{ID: e.Event.ID, Since: e.Since, Attempts: e.Attempts})
	}
	for i, e := range parked {
		if i < c.Limit {
			lines = append(lines, queued{ID: e.Event.ID, Parked: true, Since: e.At, Attempts: e.Attempts, Reason: e.Reason})
		}
	}
	if !c.JSON {
		_, _ = fmt.Fprintf(s.out, "%d waiting, %d parked\n", stats.Waiting, stats.Parked)
	}
	for _, l := range lines {
		if err := l.print(s, c.JSON); err != nil {
			return err
		}
	}
	return nil
}

func (l queued) print(s streams, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(s.out).Encode(l)
	}
	state, reason := "waiting", ""
	if l.Parked {
		state, reason = "parked", "  "+l.Reason
	}
	_, err := fmt.Fprintf(s.out, "%-7s  since %s  %s%s\n", state, l.Since.UTC().Format("2006-01-02T15:04:05Z"), l.ID, reason)
	return err
}

type queueShow struct {
	ID string `arg:"" help:"The event's id."`
	journalFile
}

func (c *queueShow) Run(s streams) (err error) {
	j, err := c.open(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	ev, err := j.Get(c.ID)
	if err != nil {
		return unknownEvent(c.ID, err)
	}
	enc := json.NewEncoder(s.out)
	enc.SetIndent("", "  ")
	return enc.Encode(ev)
}

type queueRetry struct {
	ID  []string `arg:"" optional:"" help:"Ids of parked events."`
	All bool     `help:"All that are parked."`
	journalFile
}

func (c *queueRetry) Run(s streams) error {
	return c.each(s, c.ID, c.All, "waiting again", (*journal.Journal).Retry)
}

type queueDrop struct {
	ID  []string `arg:"" optional:"" help:"Ids of events that are parked or wait."`
	All bool     `help:"All that are parked."`
	journalFile
}

func (c *queueDrop) Run(s streams) error {
	return c.each(s, c.ID, c.All, "dropped", (*journal.Journal).Drop)
}

// each does something to the named events, or to all that are parked, and says what was done.
func (f journalFile) each(s streams, ids []string, all bool, done string, do func(*journal.Journal, string) error) (err error) {
	if (len(ids) == 0) != all {
		return &exitError{exitUsage, errors.New("name events by their ids (vmsbridge queue list shows them), or say --all for all that are parked")}
	}
	j, err := f.open(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if all {
		parked, err := j.Parked()
		if err != nil {
			return fmt.Errorf("read what is parked: %w", err)
		}
		for _, e := range parked {
			ids = append(ids, e.Event.ID)
		}
	}
	for _, id := range ids {
		if err := do(j, id); err != nil {
			return unknownEvent(id, err)
		}
		_, _ = fmt.Fprintf(s.out, "%s: %s\n", done, id)
	}
	if len(ids) == 0 {
		_, _ = fmt.Fprintln(s.out, "nothing is parked")
	}
	return nil
}

func unknownEvent(id string, err error) error {
	if errors.Is(err, journal.ErrNotFound) {
		return fmt.Errorf("%s: no such event here; vmsbridge queue list shows what waits and what is parked", id)
	}
	return fmt.Errorf("%s: %w", id, err)
}
