package schema

import (
	"bytes"

	"vmsbridge/uplink/vms"
)

// Store writes the event, its places in the indexes, and whether it is ongoing.
func (t *Tx) Store(ev vms.Event, body []byte) error {
	id := []byte(ev.ID)
	if t.Bucket(Events).Get(id) == nil {
		t.Stored++
	}
	if err := t.Bucket(Events).Put(id, body); err != nil {
		return err
	}
	for _, e := range HeadOf(ev).Listings(ev.ID) {
		if err := t.Bucket(e.Bucket).Put(e.Key, e.Value); err != nil {
			return err
		}
	}
	ongoing := t.Bucket(Ongoing)
	if !ev.Ongoing() {
		if err := ongoing.Delete(id); err != nil {
			return err
		}
	} else if ongoing.Get(id) == nil {
		if err := ongoing.Put(id, MSKey(ev.StartTimestamp.UnixMilli())); err != nil {
			return err
		}
	}
	t.Events = append(t.Events, ev)
	return nil
}

// DropStale removes the places of an event whose new form is listed elsewhere.
func (t *Tx) DropStale(id string, old, now Head) error {
	kept := now.Listings(id)
	for i, e := range old.Listings(id) {
		if !bytes.Equal(e.Key, kept[i].Key) {
			if err := t.Bucket(e.Bucket).Delete(e.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// Erase removes an event and its places. It must not wait in the outbox nor be parked.
func (t *Tx) Erase(id string, h Head) error {
	for _, e := range h.Listings(id) {
		if err := t.Bucket(e.Bucket).Delete(e.Key); err != nil {
			return err
		}
	}
	if err := t.Bucket(Ongoing).Delete([]byte(id)); err != nil {
		return err
	}
	t.Stored--
	return t.Bucket(Events).Delete([]byte(id))
}
