package schema

import "time"

// Entry is what the outbox stores beside the event.
type Entry struct {
	ID       string    `json:"id"`
	ActorID  string    `json:"actor"`
	Revision uint64    `json:"rev"`
	Since    time.Time `json:"since"`
}

// ParkedEntry is what a parked entry keeps.
type ParkedEntry struct {
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	Since  time.Time `json:"since"`
}

// Seal is the value to store.
func (e Entry) Seal() ([]byte, error) { return seal(tagEntry, nil, e) }

// Read takes a stored entry. Of a damaged one it takes nothing.
func (e *Entry) Read(b []byte) error { return unseal(tagEntry, b, e) }

// Seal is the value to store.
func (p ParkedEntry) Seal() ([]byte, error) { return seal(tagParked, nil, p) }

// Read takes a stored parked entry. Of a damaged one it takes nothing.
func (p *ParkedEntry) Read(b []byte) error { return unseal(tagParked, b, p) }
