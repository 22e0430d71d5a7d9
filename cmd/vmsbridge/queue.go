package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"vmsbridge/agent/archive"
	"vmsbridge/agent/control"
	"vmsbridge/agent/outbound"
	"vmsbridge/cmd/cli"
	"vmsbridge/configs"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal"
)

// queueCommand asks the running bridge, and works on the journal's file itself where none runs, so
// that it also works on a bridge that does not start any more.
type queueCommand struct {
	List  queueList  `cmd:"" help:"List what waits and what is parked (refused by the service for good), oldest first. Changes nothing."`
	Show  queueShow  `cmd:"" help:"Print one event as JSON."`
	Retry queueRetry `cmd:"" help:"Let parked events wait again; the bridge reports them when it runs."`
	Drop  queueDrop  `cmd:"" help:"Never report these events. They stay in the journal and can still be listed."`

	Resend queueResend `cmd:"" help:"Report all events of a time once more, to a service that has lost them. What it has, it keeps once."`
}

func (queueCommand) Help() string {
	return `It asks the running bridge, which needs no token for root and for the bridge's own user; where none runs, it works on the journal in the
data folder.`
}

// bridgeQueue says whose queue: that of a configuration, or that in a data folder.
type bridgeQueue struct {
	Data string `help:"The bridge's data folder, instead of the configuration's." placeholder:"DIR"`
	configFile
}

// with gives do the queue of the running bridge, or of the journal of one that does not run.
func (f bridgeQueue) with(ctx context.Context, s streams, do func(outbound.Queue) error) (err error) {
	dir, err := dataFolder(f.Data, f.configFile, s)
	if err != nil {
		return err
	}
	err = do(outbound.AskQueue(control.Client(dir)))
	switch {
	case errors.Is(err, outbound.ErrUnknown):
		return fmt.Errorf("%w; vmsbridge queue list shows what waits and what is parked", err)
	case errors.Is(err, fs.ErrPermission):
		return errNotAllowed
	case !errors.Is(err, control.ErrNotRunning):
		return err
	}
	j, err := openJournal(filepath.Join(dir, archive.JournalFile), s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close(), giveBack(dir)) }()
	if err = do(outbound.QueueOf(j)); errors.Is(err, outbound.ErrUnknown) {
		err = fmt.Errorf("%w; vmsbridge queue list shows what waits and what is parked", err)
	}
	return err
}

// openJournal opens the journal of a bridge that does not run.
func openJournal(path string, s streams) (*journal.Journal, error) {
	if err := guard.Exists(path); err != nil {
		return nil, fmt.Errorf("find the journal: %w; has this bridge ever run? --data names another folder", err)
	}
	j, err := journal.Open(path,
		journal.Options{Log: slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if errors.Is(err, journal.ErrLocked) {
		return nil,
			fmt.Errorf("another program has %s open, and no bridge answers beside it: it is starting or stopping, or "+
				"vmsbridge fsck is at work; try again in a minute", path)
	}
	if err != nil {
		return nil, fmt.Errorf("open the journal %s: %w", path, err)
	}
	return j, nil
}

// dataFolder is the one named, or the configuration's, which may have problems elsewhere.
func dataFolder(named string, c configFile, s streams) (string, error) {
	if named != "" {
		return named, nil
	}
	if content, err := os.ReadFile(c.Config); err == nil {
		return configs.DataFolder(c.Config, content), nil
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
	bridgeQueue
}

func (c *queueList) Run(ctx context.Context, s streams) error {
	var l outbound.Listing
	err := c.with(ctx, s, func(q outbound.Queue) (err error) {
		l, err = q.List(ctx, max(c.Limit, 0))
		return err
	})
	if err != nil {
		return err
	}
	if !c.JSON {
		_, _ = fmt.Fprintf(s.out, "%d waiting, %d parked\n", l.Waiting, l.Parked)
	}
	for _, e := range l.Entries {
		if err := printQueued(s, e, c.JSON); err != nil {
			return err
		}
	}
	return nil
}

func printQueued(s streams, e outbound.Entry, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(s.out).Encode(e)
	}
	state, reason := "waiting", ""
	if e.Parked {
		state, reason = "parked", "  "+e.Reason
	}
	_, err := fmt.Fprintf(s.out, "%-7s  since %s  %s%s\n", state, e.Since.UTC().Format("2006-01-02T15:04:05Z"), e.ID,
		reason)
	return err
}

type queueShow struct {
	ID string `arg:"" help:"The event's id."`
	bridgeQueue
}

func (c *queueShow) Run(ctx context.Context, s streams) error {
	return c.with(ctx, s, func(q outbound.Queue) error {
		ev, err := q.Show(ctx, c.ID)
		if err != nil {
			return err
		}
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", "  ")
		return enc.Encode(ev)
	})
}

type queueRetry struct {
	ID  []string `arg:"" optional:"" help:"Ids of parked events."`
	All bool     `help:"All that are parked."`
	bridgeQueue
}

func (c *queueRetry) Run(ctx context.Context, s streams) error {
	return c.each(ctx, s, outbound.Which{IDs: c.ID, All: c.All}, "waiting again", outbound.Queue.Retry)
}

type queueDrop struct {
	ID  []string `arg:"" optional:"" help:"Ids of events that are parked or wait."`
	All bool     `help:"All that are parked."`
	bridgeQueue
}

func (c *queueDrop) Run(ctx context.Context, s streams) error {
	return c.each(ctx, s, outbound.Which{IDs: c.ID, All: c.All}, "dropped", outbound.Queue.Drop)
}

type queueResend struct {
	Since string `required:"" help:"Events from this time on: 2d for two days ago, yesterday, 2025-03-11, or 2025-03-11T20:23:12.766+00:00." placeholder:"TIME"`
	Until string `help:"Events that began until this time." placeholder:"TIME"`
	bridgeQueue
}

func (c *queueResend) Run(ctx context.Context, s streams) error {
	var w outbound.When
	var err error
	now := time.Now()
	if w.Since, err = parseTime(c.Since, now); err != nil {
		err = fmt.Errorf("--since: %w", err)
	} else if c.Until != "" {
		w.Until, err = parseUntil(c.Until, w.Since, now)
	}
	if err != nil {
		return cli.Exit(exitUsage, err)
	}
	return c.with(ctx, s, func(q outbound.Queue) error {
		n, err := q.Resend(ctx, w)
		if err == nil {
			_, _ = fmt.Fprintf(s.out, "waiting again: %d events\n", n)
		}
		return err
	})
}

// each does something to the named events, or to all that are parked, and says what was done.
func (f bridgeQueue) each(ctx context.Context, s streams, w outbound.Which, word string,
	do func(outbound.Queue, context.Context, outbound.Which) ([]string, error)) error {
	if (len(w.IDs) == 0) != w.All {
		return cli.Exit(exitUsage,
			errors.New("name events by their ids (vmsbridge queue list shows them), or say --all for all that "+
				"are parked"))
	}
	return f.with(ctx, s, func(q outbound.Queue) error {
		done, err := do(q, ctx, w)
		for _, id := range done {
			_, _ = fmt.Fprintf(s.out, "%s: %s\n", word, id)
		}
		if err == nil && len(done) == 0 {
			_, _ = fmt.Fprintln(s.out, "nothing is parked")
		}
		return err
	})
}
