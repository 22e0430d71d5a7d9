package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/storage/database"
	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/postgres"
	"vmsbridge/storage/vfs"
	"vmsbridge/uplink/identity/store"
)

// probeEvery is how often it is tried whether events can be stored: one that nobody reports would
// show it too late. Where there is a doubt, it is tried each doubtEvery: bridges wait.
const probeEvery, doubtEvery = 15 * time.Second, 2 * time.Second

// health is how the service is. What it says needs no token, so it names nobody and no path.
type health struct {
	data   string
	events Journal
	file   *journal.Journal // nil: the events are in PostgreSQL
	ids    *store.Store
	reg    *registry.Registry
	watch  *guard.Watch
	log    *slog.Logger
	// more are problems that others know of; set before it is used. None of them keeps events from
	// being stored.
	more []func() string
	// draining says that the service is about to stop.
	draining atomic.Bool
}

func newHealth(data string, book *ledger, ids *store.Store, reg *registry.Registry, log *slog.Logger) (*health, error) {
	h := &health{data: data, events: book.Journal, file: book.file(), ids: ids, reg: reg, log: log}
	var err error
	if h.file == nil {
		h.watch, err = guard.NewWatch(log, nil)
		return h, err
	}
	h.watch, err = guard.NewWatch(log, []string{data}, h.events.Failing, ids.File().InPlace, reg.File().InPlace)
	return h, err
}

// failing is why events cannot be stored now, and what to do; "" if they can.
func (h *health) failing() string {
	if h.watch.Gone() != nil {
		return "events are not stored: the data folder, or a file in it, was moved away or deleted: put it back; the " +
			"service ends otherwise"
	}
	if err := h.events.Failing(); err != nil {
		return "events are not stored: " + h.remedy(err, "the data folder")
	}
	return ""
}

// remedy is what to do about an error of the events.
func (h *health) remedy(err error, data string) string {
	if h.file == nil {
		return postgres.Reason(err)
	}
	return vfs.Remedy(err, data)
}

// problems is all that is wrong, the worst first.
func (h *health) problems() (list []string) {
	if why := h.failing(); why != "" {
		list = append(list, why)
	}
	if vfs.NoFiles(h.data) {
		list = append(list, "the disk that holds the data folder has no room for another file, for it has no free "+
			"inode: delete files there; events are stored meanwhile")
	}
	list = append(list, h.damage()...)
	for _, m := range h.more {
		if why := m(); why != "" {
			list = append(list, why)
		}
	}
	return list
}

// damage is what was found damaged of the files.
func (h *health) damage() (list []string) {
	if h.file == nil {
		return nil
	}
	const look = "; vmscloud fsck says more; if it comes again, replace the disk"
	if d := h.file.Damage(); d != nil {
		list = append(list,
			fmt.Sprintf("the events' file was found damaged: %d events were kept, %d pages and %d values could not "+
				"be read%s",
				d.Events, d.LostPages, d.DamagedValues, look))
	}
	for _, f := range []*database.DB{h.ids.File(), h.reg.File()} {
		for _, d := range f.Damage() {
			list = append(list,
				fmt.Sprintf("the %s was found damaged: %d records were kept, %d of them from its copy; %d pages and "+
					"%d records could "+
					"not be read%s", d.Name, d.Records, d.Restored, d.LostPages, d.BadRecords, look))
		}
	}
	return list
}

// healthz answers 200 as long as the process serves, and says what is wrong: a restart would cure
// nothing of it.
func (h *health) healthz(w http.ResponseWriter, _ *http.Request) {
	list := h.problems()
	if len(list) == 0 {
		_, _ = w.Write([]byte("ok\n"))
		return
	}
	_, _ = w.Write([]byte("degraded\n" + strings.Join(list, "\n") + "\n"))
}

// readyz answers 503 while events cannot be stored: bridges should wait; and when the service is
// about to stop: they should go elsewhere.
func (h *health) readyz(w http.ResponseWriter, _ *http.Request) {
	if h.draining.Load() {
		http.Error(w, "the service is about to stop", http.StatusServiceUnavailable)
		return
	}
	if why := h.failing(); why != "" {
		http.Error(w, why, http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// Run tries now and then whether events can be stored, and says so when that changes.
func (h *health) Run(ctx context.Context) error {
	failed := false
	for {
		err := h.events.Probe()
		switch {
		case err != nil && !failed:
			h.log.Error("events cannot be stored; bridges are told to come again", "error", err, "hint",
				h.remedy(err, h.data))
		case err == nil && failed:
			h.log.Info("events can be stored again")
		}
		failed = err != nil
		if h.trust(ctx); ctx.Err() != nil {
			return nil
		}
	}
}

// trust waits until it is time to try again.
func (h *health) trust(ctx context.Context) {
	for began := time.Now(); time.Since(began) < probeEvery; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(doubtEvery):
		}
		if h.events.Doubtful() {
			return
		}
	}
}
