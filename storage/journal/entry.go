package journal

import "time"

// entryValue is what the outbox stores beside the event.
type entryValue struct {
	ID       string    `json:"id"`
	ActorID  string    `json:"actor"`
	Revision uint64    `json:"rev"`
	Since    time.Time `json:"since"`
}

// parkedValue is what a parked entry keeps.
type parkedValue struct {
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	Since  time.Time `json:"since"`
	Tries  int       `json:"tries,omitempty"`
}

func (e entryValue) seal() ([]byte, error) { return seal(tagEntry, nil, e) }

// read takes a stored entry. Of a damaged one it takes nothing.
func (e *entryValue) read(b []byte) error { return unseal(tagEntry, b, e) }

func (p parkedValue) seal() ([]byte, error) { return seal(tagParked, nil, p) }

// read takes a stored parked entry. Of a damaged one it takes nothing.
func (p *parkedValue) read(b []byte) error { return unseal(tagParked, b, p) }
