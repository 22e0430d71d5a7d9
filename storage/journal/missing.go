package journal

import (
	"encoding/json"
	"strings"

	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// Missing sums up the events that Trim has given up since the last time that the service was told
// of such.
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

// missing is the sum that the service has not been told of yet, empty if it knows of all.
func missing(t *schema.Tx) Missing {
	var m Missing
	raw, err := schema.ReadOwned(t.Bucket(schema.Meta).Get(schema.KeyMissing))
	if err != nil || json.Unmarshal(raw, &m) != nil || t.Bucket(schema.OutboxID).Get([]byte(m.Reported)) == nil {
		m = Missing{}
	}
	if m.Types == nil || m.Actors == nil {
		m.Types, m.Actors = map[string]int{}, map[string]int{}
	}
	return m
}

func (m *Missing) add(h schema.Head, v victim) {
	from, to := vms.At(schema.MSTime(h.Start)), vms.At(schema.MSTime(h.End))
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
