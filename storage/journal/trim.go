package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Caps bound what waits to be reported.
type Caps struct {
	// MaxBytes is what the waiting events may take up; 0: no cap. An eighth of it is a reserve for
	// what is worth more than motion: motion has to go when it would be touched, everything else
	// only when it is used up.
	MaxBytes int64
	// Before lets events go that have waited since an earlier time; the zero time lets none go by
	// age.
	Before time.Time
}

// Trim gives up reporting events that do not fit caps: those that have ended, of the least worth
// first, among those the oldest. They stay in the journal like events that the service has, until
// Prune lets them go. In the same transaction it puts the event that tell makes of all that is
// missing, to be reported: one event that grows until the service has it. tell must give it
// Missing.Start as its start.
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

// giveUp takes entries out of the outbox and puts the event that tells of all that is missing.
func (j *Journal) giveUp(batch []victim, oldest int64, tell func(Missing) vms.Event) (dropped int, err error) {
	err = j.file.Do(func(t *schema.Tx) error {
		dropped = 0
		m := missing(t)
		if m.Events == 0 {
			m.Start = vms.At(schema.MSTime(oldest))
		}
		for _, v := range batch {
			key, entry := t.Entry(v.id)
			if entry == nil || entry.Revision != v.revision || v.id == m.Reported {
				continue // accepted or renewed meanwhile
			}
			h, err := schema.ReadHead(t.Bucket(schema.Events).Get([]byte(v.id)))
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
		ev, body, err := schema.SealChecked(ev)
		if err != nil {
			return file.Refuse(err)
		}
		if err := j.put(t, ev, body, true); err != nil {
			return err
		}
		raw, err := json.Marshal(m)
		if err != nil {
			return err
		}
		return t.Bucket(schema.Meta).Put(schema.KeyMissing, schema.SealOwned(raw))
	})
	if err != nil {
		return 0, err
	}
	j.metrics.dropped.Add(float64(dropped))
	return dropped, nil
}
