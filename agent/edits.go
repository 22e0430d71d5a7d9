package agent

import (
	"log/slog"
	"sync"
	"time"

	"vmsbridge/agent/health"
	"vmsbridge/agent/supervisor"
	"vmsbridge/uplink/vms"
)

// reloadOperation is the operation of the event that says that an edit was not taken over.
const reloadOperation = "configurationReload"

// Reloaded is what became of a wish to read the configuration anew.
type Reloaded struct {
	// Problems of the file, as file:line:col: path: message. If there are any, nothing was changed.
	Problems []string `json:"problems"`
	// Cameras that were added, removed and restarted; all others went on untouched.
	Cameras supervisor.Change `json:"cameras"`
	// Applied are the other keys whose new value holds now.
	Applied []string `json:"applied"`
	// Restart are keys whose new value waits for a restart of the bridge.
	Restart []string `json:"restart"`
	// Warnings of the file, as file:line:col: path: message.
	Warnings []string `json:"warnings"`
}

// edits is what became of the edits of the configuration file.
type edits struct {
	log        *slog.Logger
	operations *health.Operations
	events     health.EventSink // set before the first edit

	turn sync.Mutex // held by the one reload that is under way

	mu       sync.Mutex // guards the rest
	loaded   time.Time  // when the running configuration was taken over
	failed   time.Time  // since when the file is bad; zero: it is not
	problems []string
	restart  []string
	good     int
	bad      int
}

// edited notes that the file was taken over.
func (e *edits) edited(done Reloaded) {
	e.mu.Lock()
	failed := e.failed
	e.loaded, e.failed, e.problems, e.restart = time.Now(), time.Time{}, nil, done.Restart
	e.good++
	e.mu.Unlock()
	e.log.Info("the configuration was read anew", "added", done.Cameras.Added, "removed", done.Cameras.Removed,
		"restarted", done.Cameras.Restarted,
		"applied", done.Applied)
	if len(done.Restart) > 0 {
		e.log.Warn("a part of the configuration holds only after a restart", "keys", done.Restart, "hint",
			"vmsbridge service restart")
	}
	for _, w := range done.Warnings {
		e.log.Warn("configuration", "warning", w)
	}
	if !failed.IsZero() {
		e.events.Put(e.event(failed, e.operations.Now(), nil))
	}
}

// misedited notes that the file has problems, and was left alone.
func (e *edits) misedited(problems []string) {
	e.mu.Lock()
	if e.failed.IsZero() {
		e.failed = e.operations.Now()
	}
	failed := e.failed
	e.problems = problems
	e.bad++
	e.mu.Unlock()
	e.log.Error("the configuration was not read anew: it has problems, and the bridge goes on with the one that it has",
		"problems", problems,
		"hint", "vmsbridge check shows them; then reload again")
	e.events.Put(e.event(failed, time.Time{}, problems))
}

// event is the one of a bad edit: a span from its first reading until a good one is read; end zero:
// it goes on.
func (e *edits) event(start, end time.Time, problems []string) vms.Event {
	operation := map[string]any{"operation": reloadOperation, "state": "failed", "error": firstOf(problems),
		"problems": len(problems)}
	if !end.IsZero() {
		operation = map[string]any{"operation": reloadOperation, "state": "completed"}
	}
	ev := e.operations.Event(start, operation)
	ev.Span, ev.EndTimestamp = true, nil
	if !end.IsZero() {
		ev.EndTimestamp = vms.Ptr(end)
	}
	ev.ID = ev.NaturalID()
	return ev
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// report is what became of the file.
func (e *edits) report(file string) health.Config {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := health.Config{File: file, Loaded: e.loaded.UTC(), Failed: e.failed, Problems: []string{}, Restart: e.restart,
		Good: e.good, Bad: e.bad}
	c.Problems = append(c.Problems, e.problems...)
	return c
}
