package schema

import (
	"encoding/binary"
	"time"
)

// Change is an entry of the sequence of changes, which names an event.
type Change struct {
	ID    string    `json:"id"`
	Began bool      `json:"began,omitempty"` // the event had no end then
	Since time.Time `json:"since"`
}

// ChangePlaces are the entries of one event; 0 is none.
type ChangePlaces struct{ Began, Ended uint64 }

// ReadChangePlaces reads what Seal made; of anything else it makes none.
func ReadChangePlaces(b []byte) (p ChangePlaces) {
	if len(b) == 16 {
		p.Began, p.Ended = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	}
	return p
}

// Seal is the value to store. It has no tag and no checksum: it can be derived from the entries.
func (p ChangePlaces) Seal() []byte { return append(SequenceKey(p.Began), SequenceKey(p.Ended)...) }

// Newest is the place of the event as it is now.
func (p ChangePlaces) Newest() uint64 { return max(p.Began, p.Ended) }

// Seal is the value to store.
func (v Change) Seal() ([]byte, error) { return seal(tagChange, nil, v) }

// Read takes a stored entry. Of a damaged one it takes nothing.
func (v *Change) Read(b []byte) error { return unseal(tagChange, b, v) }
