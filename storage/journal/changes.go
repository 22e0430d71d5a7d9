package journal

import (
	"encoding/binary"
	"time"
)

// changeValue is an entry of the sequence.
type changeValue struct {
	ID    string    `json:"id"`
	Began bool      `json:"began,omitempty"` // the event had no end then
	Since time.Time `json:"since"`
}

// changePlaces are the entries of one event; 0 is none.
type changePlaces struct{ began, ended uint64 }

func parseChangePlaces(b []byte) (p changePlaces) {
	if len(b) == 16 {
		p.began, p.ended = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	}
	return p
}

func (p changePlaces) bytes() []byte { return append(sequenceKey(p.began), sequenceKey(p.ended)...) }

// newest is the place of the event as it is now.
func (p changePlaces) newest() uint64 { return max(p.began, p.ended) }

func (v changeValue) seal() ([]byte, error) { return seal(tagChange, nil, v) }

// read takes a stored entry. Of a damaged one it takes nothing.
func (v *changeValue) read(b []byte) error { return unseal(tagChange, b, v) }
