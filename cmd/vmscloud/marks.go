package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// marks keep how far the book of events has what each bridge's journal holds. They are in the book
// itself: one that is lost, or a copy of earlier, has lost them with the events, or has them as
// they were, and the bridge reports again what came later.
type marks struct {
	book *ledger
	name string // of this service: another one never had those events
}

// openMarks finds out the service's name, which is not in the book.
func openMarks(book *ledger) (marks, error) {
	name, err := book.registry.Key("service", func() []byte { return []byte(rand.Text()) })
	return marks{book, string(name)}, err
}

// mark is the record of a bridge.
type mark struct {
	Journal string `json:"journal"`
	Low     uint64 `json:"low"`
}

var _ server.Bookkeeper = door{}

// Book is for server.Bookkeeper. A mark is kept only if the bridge knows what is missing before it:
// otherwise it has first to be told.
func (m marks) Book(_ context.Context, p identity.Principal, bridge string, at vms.Mark) (vms.Book, error) {
	key := "mark/" + p.AccountID + "/" + bridge
	var known mark
	raw, err := m.book.Meta(key)
	if err != nil {
		return vms.Book{}, fmt.Errorf("read how far a bridge has reported: %w", err)
	}
	if json.Unmarshal(raw, &known) != nil || known.Journal != at.Journal {
		known = mark{Journal: at.Journal}
	}
	if known.Low >= at.Sure && known.Low != at.Low {
		if raw, err = json.Marshal(mark{at.Journal, at.Low}); err == nil {
			err = m.book.SetMeta(key, raw)
		}
		if err != nil {
			m.book.log.Warn("how far a bridge has reported could not be kept; it is told what is known", "bridge",
				bridge, "error", err)
		} else {
			known.Low = at.Low
		}
	}
	return vms.Book{Service: m.name, Low: known.Low}, nil
}

// empty says whether the book has no events though bridges are known, and says so in the log.
func (l *ledger) empty() bool {
	empty, err := l.Empty()
	bridges := 0
	for _, ids := range l.registry.Bridges() {
		bridges += len(ids)
	}
	if err != nil || !empty || bridges == 0 {
		return false
	}
	l.log.Warn(
		"the book of events is empty, though bridges are registered: was "+eventsFile+" lost? The bridges report "+
			"again what they hold, of 30 days if nothing else is set there",
		"bridges", bridges)
	return true
}
