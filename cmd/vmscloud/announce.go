package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/vms"
)

// announcer prints a line when an event is accepted for the first time and when its end is:
//
//	2026-11-21T07:10:00.000+00:00  Gate  vms.motionDetectionEvent.v1  ongoing  http://…/recordedImage.jpeg?…
//	2026-11-21T07:10:00.000+00:00  Gate  vms.motionDetectionEvent.v1  4.2s     http://…/recordedImage.jpeg?…
//
// The reader of the lines may be slow, stuck or gone: events do not wait for it, and lines that
// find no room are dropped.
type announcer struct {
	registry *registry.Registry
	base     string
	lines    chan string
	log      *slog.Logger
}

// announceRoom is a burst: a bridge that empties its outbox after an outage.
const announceRoom = 4096

// announceDrain is how long what was accepted last may take to be printed when the program stops.
const announceDrain = time.Second

func newAnnouncer(r *registry.Registry, base string, log *slog.Logger) *announcer {
	return &announcer{registry: r, base: base, lines: make(chan string, announceRoom), log: log}
}

// bestView is how long after its start an event looks best, by the interface's recipe for images.
const bestView = 500 * time.Millisecond

// event tells of an event that was stored just now; before is what was stored under its id, nil for
// nothing. It does not block.
func (a *announcer) event(ev vms.Event, before *vms.Event) {
	if before != nil && (!before.Ongoing() || ev.Ongoing()) {
		return // told already
	}
	took := "ongoing"
	switch {
	case !ev.Span:
		took = "instant"
	case ev.EndTimestamp != nil:
		took = ev.EndTimestamp.Sub(ev.StartTimestamp.Time).String()
	}
	line := fmt.Sprintf("%s  %s  %s  %-8s", ev.StartTimestamp, printable(a.registry.Name(ev.AccountID, ev.ActorID)),
		ev.Type, took)
	if status := newStatus(ev); status != "" {
		line += "  " + status
	} else if ev.ActorType == vms.ActorCamera && !strings.HasPrefix(ev.Type, "vms.device") {
		// What tells of the device itself has no picture: a camera is there before its first one.
		line += "  " + vms.ImageURL(a.base, ev.ActorID, vms.ImagePreview, vms.OpBefore, ev.StartTimestamp.Add(bestView))
	}
	select {
	case a.lines <- line:
	default:
		a.log.Debug("a line about an event was dropped: nobody reads them fast enough", "id", ev.ID)
	}
}

// Run writes the lines to out until ctx is done, then those that wait, for announceDrain at most. A
// write that never ends is left behind, since only the end of the program can end it.
func (a *announcer) Run(ctx context.Context, out io.Writer) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case line := <-a.lines:
				fmt.Fprintln(out, line) // an error is the reader's going
			case <-ctx.Done():
				for {
					select {
					case line := <-a.lines:
						fmt.Fprintln(out, line)
					default:
						return
					}
				}
			}
		}
	}()
	<-ctx.Done()
	select {
	case <-done:
	case <-time.After(announceDrain):
	}
}

// printable keeps foreign text from steering a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
