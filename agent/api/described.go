package api

import (
	"context"
	"encoding/json"
	"sync"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// described is what people said of this bridge's cameras at its own API: a name in place of the
// configuration's, notes and tags. It is kept beside the events. Safe for concurrent use.
type described struct {
	journal *journal.Journal
	turn    chan struct{} // holds one while somebody changes something, so that memory and file end the same

	mu   sync.Mutex // guards said
	said map[string]vms.Description
}

func newDescribed(j *journal.Journal) *described {
	return &described{journal: j, turn: make(chan struct{}, 1), said: map[string]vms.Description{}}
}

// keyDescribed begins the key of a camera's description among the journal's small values.
const keyDescribed = "described/"

// of is what was said of a camera.
func (d *described) of(id string) vms.Description {
	d.mu.Lock()
	said, ok := d.said[id]
	d.mu.Unlock()
	if ok {
		return said
	}
	raw, err := d.journal.Meta(keyDescribed + id)
	if err != nil || raw == nil || json.Unmarshal(raw, &said) != nil {
		said = vms.Description{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if later, ok := d.said[id]; ok {
		return later
	}
	d.said[id] = said
	return said
}

// change keeps a change.
func (d *described) change(ctx context.Context, id string, change vms.CameraChange) error {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.turn }()
	said := d.of(id).With(change)
	raw, err := json.Marshal(said)
	if err != nil {
		return err
	}
	if err := d.journal.SetMeta(keyDescribed+id, raw); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said[id] = said
	return nil
}
