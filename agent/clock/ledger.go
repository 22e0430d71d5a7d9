package clock

import (
	"encoding/json"
	"fmt"
	"time"
)

// Memory keeps a small value durably; storage/journal is one.
type Memory interface {
	Meta(key string) ([]byte, error)
	SetMeta(key string, value []byte) error
}

// Stores are where records with untrue times are. Both calls may be repeated for an era that is
// settled, and then change nothing.
type Stores interface {
	// Announce says that an era's times are wrong by shift, before anything is done about it. It
	// waits for nothing. From then on, what is stored of that era is stored with its right times,
	// and what is stored with right times may be a newer version of an event of the era.
	Announce(era uint32, shift time.Duration)
	// SettleEvents adds shift to all times of some of an era's events, durably, and says of how
	// many, and whether there are more: then it is to be called again, with the same. In between
	// others may record: a newer version of an event whose turn has not come replaces it. note goes
	// with each of them, if it is not nil.
	SettleEvents(era uint32, shift time.Duration, note *Note) (n int, more bool, err error)
	// SettleStills does so with the stills.
	SettleStills(era uint32, shift time.Duration) error
	// Extent is the first and the last time of an era's records, as they are stored, and whether
	// there are any.
	Extent(era uint32) (from, to time.Time, ok bool, err error)
}

// Note says of an event that its time is not known exactly: the machine lost its power before its
// clock was true.
type Note struct {
	Slack     time.Duration // the times may be too late by as much; negative: nobody knows
	SameClock bool          // the era's clock is taken to have been wrong by as much as at the next boot
}

const ledgerKey = "clock"

// ledger is what survives the process.
type ledger struct {
	Boot string        `json:"boot"`           // id of the boot that this is of
	Base time.Duration `json:"base"`           // of the scale: since 1970, at that boot's beginning
	Era  uint32        `json:"era,omitempty"`  // of that boot, as long as it is not settled
	True Source        `json:"true,omitempty"` // why the clock is true, once it is
	// BaseBoot and BaseRaw are the boot time and the oscillator when Base was noted.
	BaseBoot time.Duration `json:"baseBoot,omitempty"`
	BaseRaw  time.Duration `json:"baseRaw,omitempty"`
	// Ahead is how far that boot's scale, and once it is settled the true time, was ahead of its
	// wall clock at the beginning.
	Ahead time.Duration `json:"ahead,omitempty"`
	// Rate is how much more true time passes than the oscillator counts, in parts of one, as it was
	// measured last; 0: never.
	Rate float64 `json:"rate,omitempty"`
	// Count is the number of the latest era.
	Count uint32 `json:"count,omitempty"`
	// TrueAt is the latest time that was known to be true, to some minutes.
	TrueAt time.Time `json:"trueAt"`
	// Open are eras of earlier boots that were never settled, oldest first.
	Open []openEra `json:"open,omitempty"`
	// Settling is what was begun to be settled.
	Settling []settling `json:"settling,omitempty"`
}

type openEra struct {
	Era   uint32        `json:"era"`
	Ahead time.Duration `json:"ahead,omitempty"`
}

type settling struct {
	Era   uint32        `json:"era"`
	Shift time.Duration `json:"shift"`
	Note  *Note         `json:"note,omitempty"`
}

func (c *Clock) load() error {
	b, err := c.memory.Meta(ledgerKey)
	if err != nil {
		return fmt.Errorf("read what is known of the clock: %w", err)
	}
	if len(b) == 0 {
		return nil
	}
	if err := json.Unmarshal(b, &c.ledger); err != nil {
		c.log.Warn("what was known of the clock cannot be read and is begun anew", "error", err)
		c.ledger = ledger{}
	}
	return nil
}

func (c *Clock) save() error {
	b, err := json.Marshal(c.ledger)
	if err == nil {
		err = c.memory.SetMeta(ledgerKey, b)
	}
	if err != nil {
		return fmt.Errorf("note what is known of the clock: %w", err)
	}
	return nil
}
