package journal

import (
	"encoding/binary"
	"math"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// trimming is what Trim means to give up: of each rank so many bytes, and what has waited too long.
type trimming struct {
	caps   Caps
	total  int64
	over   [ranks]int64 // bytes to give up, as many are left
	aged   bool
	oldest int64 // the earliest start of what has ended
}

func (p *trimming) any() bool {
	for _, n := range p.over {
		if n > 0 {
			return true
		}
	}
	return p.aged
}

// surveyOutbox sums up what waits and decides how much of each rank has to go: motion to a quarter
// of room once the reserve is touched, the rest to the reserve once that is used up.
func (j *Journal) surveyOutbox(caps Caps) (*trimming, error) {
	var p *trimming
	err := j.file.View(func(tx *bolt.Tx) error {
		p = &trimming{caps: caps, oldest: math.MaxInt64}
		var have [ranks]int64
		err := eachWaiting(tx, 0, func(_ uint64, e schema.Entry, h schema.Head, size int) bool {
			p.total += int64(size)
			if w := worthOf(h); w != kept {
				have[w] += int64(size)
				p.oldest = min(p.oldest, h.Start)
				p.aged = p.aged || e.Since.Before(caps.Before)
			}
			return true
		})
		if caps.MaxBytes <= 0 || err != nil {
			return err
		}
		left := p.total
		for w, goal := range [ranks]int64{other: reserved(caps), health: reserved(caps)} {
			limit := caps.MaxBytes
			if worth(w) < other {
				goal, limit = caps.MaxBytes-caps.MaxBytes/4, reserved(caps)
			}
			if p.total > limit && left > goal {
				p.over[w] = min(have[w], left-goal)
				left -= p.over[w]
			}
		}
		return nil
	})
	return p, err
}

// eachWaiting calls f with the entries after a place, with the head of their events and the size of
// these, until f says no.
func eachWaiting(tx *bolt.Tx, after uint64, f func(place uint64, e schema.Entry, h schema.Head, size int) bool) error {
	events, c := guard.Bucket(tx, schema.Events), guard.Bucket(tx, schema.Outbox).Cursor()
	for k, v := c.Seek(schema.SequenceKey(after + 1)); len(k) == 8; k, v = c.Next() {
		var e schema.Entry
		if err := e.Read(v); err != nil {
			continue // Check and the next start look after it
		}
		value := events.Get([]byte(e.ID))
		h, err := schema.ReadHead(value)
		if err != nil {
			continue
		}
		if !f(binary.BigEndian.Uint64(k), e, h, len(value)) {
			return nil
		}
	}
	return nil
}

// victim is an entry to give up.
type victim struct {
	id       string
	revision uint64
	size     int
	aged     bool
}

// choose reads on after a place for the next entries to give up. next is 0 at the end.
func (p *trimming) choose(j *Journal, after uint64) (batch []victim, next uint64, err error) {
	over := p.over
	err = j.file.View(func(tx *bolt.Tx) error {
		batch, next, p.over = nil, 0, over
		looked := 0
		return eachWaiting(tx, after, func(place uint64, e schema.Entry, h schema.Head, size int) bool {
			if len(batch) == pruneBatch || looked == 100*pruneBatch {
				return false
			}
			looked++
			w := worthOf(h)
			aged := w != kept && e.Since.Before(p.caps.Before)
			if aged || w != kept && p.over[w] > 0 {
				batch = append(batch, victim{e.ID, e.Revision, size, aged})
				if w != kept {
					p.over[w] -= int64(size)
				}
			}
			if next = place; !p.any() {
				next = 0
				return false
			}
			return true
		})
	})
	if len(batch) < pruneBatch && next != 0 && err == nil {
		if last, e := j.LastPlace(); e == nil && next >= last {
			next = 0
		}
	}
	return batch, next, err
}
