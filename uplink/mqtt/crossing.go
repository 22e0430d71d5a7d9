package mqtt

import (
	"encoding/json"
	"time"

	"vmsbridge/uplink/vms"
)

// Words of a line's topic: the types of its event entity.
const (
	aToB = "a-to-b"
	bToA = "b-to-a"
)

// crossed is the message of a line's own topic for an event that is a crossing of one. One that is
// not new is none: Home Assistant takes an event for one of the moment in which it comes. It is not
// retained.
func (n names) crossed(q vms.Queued, now time.Time) (message, bool) {
	ev := q.Event
	if ev.Type != vms.TypeLineCross || ev.ActorType != vms.ActorCamera || now.Sub(q.Since) >= fresh {
		return message{}, false
	}
	id, way := placeOf(ev, vms.SchemaLineCrossLine), aToB
	if id == "" {
		return message{}, false
	}
	var entry struct {
		Direction string `json:"direction"`
	}
	for _, d := range ev.Data {
		if d.Type == vms.SchemaEntryDirection && d.Into(&entry) == nil && entry.Direction == vms.EntryOut {
			way = bToA
		}
	}
	payload, err := json.Marshal(struct {
		EventType string   `json:"event_type"`
		ID        string   `json:"id"`
		Time      vms.Time `json:"time"`
	}{way, ev.ID, ev.StartTimestamp})
	return message{topic: n.line(ev.ActorID, id), payload: payload}, err == nil
}
