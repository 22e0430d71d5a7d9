package audit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"vmsbridge/storage/journal/form"
)

func (in *inspector) hash(parts ...[]byte) uint64 {
	var h maphash.Hash
	h.SetSeed(in.seed)
	for _, p := range parts {
		var n [4]byte
		binary.BigEndian.PutUint32(n[:], uint32(len(p)))
		h.Write(n[:])
		h.Write(p)
	}
	return h.Sum64()
}

func (in *inspector) entry(bucket string, key, value []byte) error {
	switch bucket {
	case string(form.Events):
		in.events++
		h, err := form.ReadHead(value)
		if err != nil {
			return err
		}
		for _, e := range h.Listings(string(key)) {
			in.sums[string(e.Bucket)] += in.hash(e.Key, e.Value)
		}
		if h.End == form.EndOngoing {
			in.sums[string(form.Ongoing)] += in.hash(key)
		}
	case string(form.ByTime), string(form.ByActor), string(form.ByType):
		in.sums[bucket] -= in.hash(key, value)
	case string(form.Ongoing):
		in.ongoing++
		if len(value) != 8 {
			return fmt.Errorf("%w: %d bytes", form.ErrDamaged, len(value))
		}
		in.sums[bucket] -= in.hash(key)
	case string(form.Outbox):
		in.waiting++
		var e form.Entry
		if err := e.Read(value); err != nil {
			return err
		}
		in.sums[string(form.OutboxID)] += in.hash([]byte(e.ID), key)
	case string(form.OutboxID):
		in.sums[bucket] -= in.hash(key, value)
	case string(form.Changes):
		var v form.Change
		if err := v.Read(value); err != nil {
			return err
		}
		in.sums[string(form.ChangesID)] += in.hash([]byte(v.ID), key)
	case string(form.ChangesID):
		p := form.ReadChangePlaces(value)
		for _, place := range []uint64{p.Began, p.Ended} {
			if place != 0 {
				in.sums[bucket] -= in.hash(key, form.SequenceKey(place))
			}
		}
	case string(form.Meta):
		_, err := form.ReadOwned(value)
		return err
	case string(form.Parked):
		in.parked++
		return new(form.ParkedEntry).Read(value)
	case string(form.Format):
		if string(key) == string(form.KeyCount) {
			in.count = bytes.Clone(value)
		}
		if string(key) == string(form.KeyVersion) && len(value) == 1 {
			in.form = value[0]
		}
	}
	return nil
}
