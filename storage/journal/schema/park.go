package schema

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
	return t.Remove(key, id)
}

// Unpark takes an entry away from the parked ones. It says whether it was one.
func (t *Tx) Unpark(id string) (was bool, err error) {
	parked := t.Bucket(Parked)
	if parked.Get([]byte(id)) == nil {
		return false, nil
	}
	t.Parked--
	return true, parked.Delete([]byte(id))
}
