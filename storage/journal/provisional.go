package journal

import (
	"fmt"
	"math"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/guard"
	"vmsbridge/storage/journal/schema"
)

// An event that was recorded while the clock was untrue is provisional: it is of an era, a number
// of the owner's, and all times of one era are wrong by the same. That is noted beside the event,
// and when the amount is known, Settle puts them all right, some at a time (settle.go). The owner
// sees to it that none is reported before.

// Announce says by how much an era's times are wrong, before Settle puts them right. It waits for
// nothing. From then on Write stores events of that era with their right times, so whoever made one
// need not know; and an event that is put under the id that one of the era will get is
// that event.
func (j *Journal) Announce(era uint32, shift time.Duration) {
	j.settling.Store(&settlement{era: era, shift: shift})
	j.stateMu.Lock()
	defer j.stateMu.Unlock()
	j.shifts[era] = shift
}

// shiftOf is what was announced of an era.
func (j *Journal) shiftOf(era uint32) (shift time.Duration, known bool) {
	j.stateMu.Lock()
	defer j.stateMu.Unlock()
	shift, known = j.shifts[era]
	return shift, known
}

// Extent is the first and the last time of an era's events, as they are stored: of their starts,
// ends and last known activity.
func (j *Journal) Extent(era uint32) (from, to time.Time, ok bool, err error) {
	err = j.file.View(func(tx *bolt.Tx) error {
		ok = false
		events, ongoing := guard.Bucket(tx, schema.Events), guard.Bucket(tx, schema.Ongoing)
		for _, id := range schema.Untrue(tx, era, math.MaxInt) {
			h, err := schema.ReadHead(events.Get([]byte(id)))
			if err != nil {
				continue
			}
			last := max(h.Start, h.End)
			if h.End == schema.EndOngoing {
				last = h.Start
				if v := ongoing.Get([]byte(id)); len(v) == 8 {
					last = max(last, j.lastOf(id, v))
				}
			}
			if first := schema.MSTime(h.Start); !ok || first.Before(from) {
				from = first
			}
			if t := schema.MSTime(last); !ok || t.After(to) {
				to = t
			}
			ok = true
		}
		return nil
	})
	if err != nil {
		return from, to, false, fmt.Errorf("read the events of era %d: %w", era, err)
	}
	return from, to, ok, nil
}
