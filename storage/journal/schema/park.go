package schema

import "bytes"

// Park moves the entry at a key from the outbox to the parked ones.
func (t *Tx) Park(key []byte, id string, p ParkedEntry) error {
	value, err := p.Seal()
	if err != nil {
		return err
	}
	if err := t.Bucket(Parked).Put([]byte(id), value); err != nil {
		return err
	}
	t.Parked++
	if err := t.noteRefused(id); err != nil {
		return err
	}
	return t.Remove(key, id)
}

// noteRefused keeps beside the parked entries from which sequence on there may be one: a recovery
// that lost some has the events reported again that may have been parked.
func (t *Tx) noteRefused(id string) error {
	h, err := ReadHead(t.Bucket(Events).Get([]byte(id)))
	key := SequenceKey(h.Sequence)
	if before := t.Bucket(Format).Get(KeyRefused); err != nil || before != nil && bytes.Compare(before, key) <= 0 {
		return nil // one that cannot be read cannot be reported
	}
	return t.Bucket(Format).Put(KeyRefused, key)
}

// Unpark takes an entry away from the parked ones. It says whether it was one.
func (t *Tx) Unpark(id string) (was bool, err error) {
	parked := t.Bucket(Parked)
	if parked.Get([]byte(id)) == nil {
		return false, nil
	}
	t.Parked--
	if err := parked.Delete([]byte(id)); err != nil {
		return true, err
	}
	if first, _ := parked.Cursor().First(); first == nil {
		return true, t.Bucket(Format).Delete(KeyRefused)
	}
	return true, nil
}
