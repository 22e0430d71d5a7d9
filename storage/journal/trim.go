package journal

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/form"
	"vmsbridge/storage/journal/guard"
	"vmsbridge/storage/journal/table"
	"vmsbridge/storage/journal/vault"
	"vmsbridge/uplink/vms"
)

// Caps bound what waits to be reported.
type Caps struct {
	// MaxBytes is what the waiting events may take up; 0: no cap. An eighth of it is a reserve for what is worth more than
	// motion: motion has to go when it would be touched, everything else only when it is used up.
	MaxBytes int64
	// Before lets events go that have waited since an earlier time; the zero time lets none go by age.
	Before time.Time
}

// Missing sums up the events that Trim has given up since the last time that the service was told of such.
type Missing struct {
	Events   int            `json:"events"`
	Bytes    int64          `json:"bytes"`
	Start    vms.Time       `json:"start"` // no missing event began earlier; it stays the same while the sum grows
	From     vms.Time       `json:"from"`  // when the first of them began
	To       vms.Time       `json:"to"`    // when the last of them ended
	ByAge    int            `json:"byAge"` // of Events, those that had waited too long; the others had no room
	Types    map[string]int `json:"types"`
	Actors   map[string]int `json:"actors"`   // of the first maxMissingActors
	Reported string         `json:"reported"` // id of the event that tells of them
}

const maxMissingActors = 100

// worth ranks events by what their loss costs. Those of the lowest go first.
type worth int

const (
	shortMotion worth = iota // under 5 s
	motion                   // under a minute
	longMotion
	other  // reported by other programs
	health // status and tamper
	ranks
	kept // ongoing: it is the present, not the past
)

func worthOf(h form.Head) worth {
	switch took := time.Duration(h.End-h.Start) * time.Millisecond; {
	case h.End == form.EndOngoing:
		return kept
	case h.Type == vms.TypeDeviceStatus || h.Type == vms.TypeTamper:
		return health
	case h.Type != vms.TypeMotion && h.Type != vms.TypeMotionInRegion:
		return other
	case took < 5*time.Second:
		return shortMotion
	case took < time.Minute:
		return motion
	}
	return longMotion
}

// Trim gives up reporting events that do not fit caps: those that have ended, of the least worth first, among those the
// oldest. They stay in the journal like events that the service has, until Prune lets them go. In the same transaction it
// puts the event that tell makes of all that is missing, to be reported: one event that grows until the service has it. tell
// must give it Missing.Start as its start.
//
// It is cheap while nothing is over the caps, and else reads the outbox twice. One call at a time.
func (j *Journal) Trim(caps Caps, tell func(Missing) vms.Event) (dropped int, err error) {
	stats, err := j.OutboxStats()
	if err != nil {
		return 0, fmt.Errorf("trim the outbox: %w", err)
	}
	known := j.outboxBytes.Load()
	young := stats.Waiting == 0 || !stats.Oldest.Before(caps.Before)
	if young && (caps.MaxBytes <= 0 || stats.Bytes <= reserved(caps) || known >= 0 && known <= reserved(caps)) {
		return 0, nil
	}
	p, err := j.surveyOutbox(caps)
	if err != nil {
		return 0, fmt.Errorf("trim the outbox: %w", err)
	}
	j.outboxBytes.Store(p.total)
	if !p.any() {
		return 0, nil
	}
	for after := uint64(0); ; {
		var batch []victim
		batch, after, err = p.choose(j, after)
		if err == nil && len(batch) > 0 {
			var n int
			n, err = j.giveUp(batch, p.oldest, tell)
			dropped += n
		}
		if err != nil {
			return dropped, fmt.Errorf("trim the outbox: %w", err)
		}
		if after == 0 {
			return dropped, nil
		}
	}
}

// reserved is where the reserve begins.
func reserved(c Caps) int64 { return c.MaxBytes - c.MaxBytes/8 }

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

// surveyOutbox sums up what waits and decides how much of each rank has to go: motion to a quarter of room once the reserve
// is touched, the rest to the reserve once that is used up.
func (j *Journal) surveyOutbox(caps Caps) (*trimming, error) {
	var p *trimming
	err := j.file.View(func(tx *bolt.Tx) error {
		p = &trimming{caps: caps, oldest: math.MaxInt64}
		var have [ranks]int64
		err := eachWaiting(tx, 0, func(_ uint64, e form.Entry, h form.Head, size int) bool {
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

// eachWaiting calls f with the entries after a place, with the head of their events and the size of these, until f says no.
func eachWaiting(tx *bolt.Tx, after uint64, f func(place uint64, e form.Entry, h form.Head, size int) bool) error {
	events, c := guard.Bucket(tx, form.Events), guard.Bucket(tx, form.Outbox).Cursor()
	for k, v := c.Seek(form.SequenceKey(after + 1)); len(k) == 8; k, v = c.Next() {
		var e form.Entry
		if err := e.Read(v); err != nil {
			continue // Check and the next start look after it
		}
		value := events.Get([]byte(e.ID))
		h, err := form.ReadHead(value)
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
		return eachWaiting(tx, after, func(place uint64, e form.Entry, h form.Head, size int) bool {
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

// giveUp takes entries out of the outbox and puts the event that tells of all that is missing.
func (j *Journal) giveUp(batch []victim, oldest int64, tell func(Missing) vms.Event) (dropped int, err error) {
	err = j.file.Do(func(t *table.Tx) error {
		dropped = 0
		m := missing(t)
		if m.Events == 0 {
			m.Start = vms.At(form.MSTime(oldest))
		}
		for _, v := range batch {
			key, entry := t.Entry(v.id)
			if entry == nil || entry.Revision != v.revision || v.id == m.Reported {
				continue // accepted or renewed meanwhile
			}
			h, err := form.ReadHead(t.Bucket(form.Events).Get([]byte(v.id)))
			if err != nil || worthOf(h) == kept {
				continue
			}
			m.add(h, v)
			if err := t.Remove(key, v.id); err != nil {
				return err
			}
			dropped++
		}
		if dropped == 0 {
			return nil
		}
		ev := tell(m)
		m.Reported = ev.ID
		ev, body, err := form.SealChecked(ev)
		if err != nil {
			return vault.Refuse(err)
		}
		if err := j.put(t, ev, body, true); err != nil {
			return err
		}
		raw, err := json.Marshal(m)
		if err != nil {
			return err
		}
		return t.Bucket(form.Meta).Put(form.KeyMissing, form.SealOwned(raw))
	})
	if err != nil {
		return 0, err
	}
	j.metrics.dropped.Add(float64(dropped))
	return dropped, nil
}

// missing is the sum that the service has not been told of yet, empty if it knows of all.
func missing(t *table.Tx) Missing {
	var m Missing
	raw, err := form.ReadOwned(t.Bucket(form.Meta).Get(form.KeyMissing))
	if err != nil || json.Unmarshal(raw, &m) != nil || t.Bucket(form.OutboxID).Get([]byte(m.Reported)) == nil {
		m = Missing{}
	}
	if m.Types == nil || m.Actors == nil {
		m.Types, m.Actors = map[string]int{}, map[string]int{}
	}
	return m
}

func (m *Missing) add(h form.Head, v victim) {
	from, to := vms.At(form.MSTime(h.Start)), vms.At(form.MSTime(h.End))
	if m.Events == 0 || from.Before(m.From.Time) {
		m.From = from
	}
	if to.After(m.To.Time) {
		m.To = to
	}
	m.Events++
	m.Bytes += int64(v.size)
	if v.aged {
		m.ByAge++
	}
	m.Types[strings.Clone(h.Type)]++
	if _, known := m.Actors[h.Actor.ID]; known || len(m.Actors) < maxMissingActors {
		m.Actors[h.Actor.ID]++
	}
}
