package vms

import (
	"fmt"
	"strconv"
	"strings"
)

// HeaderJournal goes with a bridge's registration: a Mark. A service that keeps marks answers with
// its Book. Neither is part of the public interface; a header is what an older service does not
// look at.
const HeaderJournal = "X-Vms-Journal"

// Mark says how far a bridge's journal has been reported. Places are those of its outbox; no place
// is given twice.
type Mark struct {
	Journal string // which journal; a new one begins its places anew
	Sure    uint64 // the last Low that the service has said it keeps
	Low     uint64 // the service has said that it has every event that entered the outbox before this place
}

// String is how it goes over the wire.
func (m Mark) String() string { return fmt.Sprintf("%s %d %d", m.Journal, m.Sure, m.Low) }

// ParseMark reads it. ok is false for what is none.
func ParseMark(s string) (m Mark, ok bool) {
	f := strings.Fields(s)
	if len(f) != 3 || !ValidID(f[0]) {
		return m, false
	}
	sure, err1 := strconv.ParseUint(f[1], 10, 64)
	low, err2 := strconv.ParseUint(f[2], 10, 64)
	return Mark{f[0], sure, low}, err1 == nil && err2 == nil
}

// Book is what a service says of its book of events when a bridge registers.
type Book struct {
	Service string `json:"service"` // which service; another one never had what the bridge reported to this one
	// Low is the newest Mark.Low of the bridge's journal that the book holds, 0 for none. If it is
	// less than what the service has said before, the book was lost, or is a copy of earlier: what
	// was reported from there on is to be reported again.
	Low uint64 `json:"low"`
}
