package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"vmsbridge/storage/journal/schema"
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
	case string(schema.Events):
		in.events++
		h, err := schema.ReadHead(value)
		if err != nil {
			return err
		}
		for _, e := range h.Listings(string(key)) {
			in.sums[string(e.Bucket)] += in.hash(e.Key, e.Value)
		}
		if h.End == schema.EndOngoing {
			in.sums[string(schema.Ongoing)] += in.hash(key)
		}
	case string(schema.ByTime), string(schema.ByActor), string(schema.ByType):
		in.sums[bucket] -= in.hash(key, value)
	case string(schema.Ongoing):
		in.ongoing++
		if len(value) != 8 {
			return fmt.Errorf("%w: %d bytes", schema.ErrDamaged, len(value))
		}
		in.sums[bucket] -= in.hash(key)
	case string(schema.Outbox):
		in.waiting++
		var e schema.Entry
		if err := e.Read(value); err != nil {
			return err
		}
		in.sums[string(schema.OutboxID)] += in.hash([]byte(e.ID), key)
	case string(schema.OutboxID):
		in.sums[bucket] -= in.hash(key, value)
	case string(schema.Changes):
		var v schema.Change
		if err := v.Read(value); err != nil {
			return err
		}
		in.sums[string(schema.ChangesID)] += in.hash([]byte(v.ID), key)
	case string(schema.ChangesID):
		p := schema.ReadChangePlaces(value)
		for _, place := range []uint64{p.Began, p.Ended} {
			if place != 0 {
				in.sums[bucket] -= in.hash(key, schema.SequenceKey(place))
			}
		}
	case string(schema.Meta):
		_, err := schema.ReadOwned(value)
		return err
	case string(schema.Parked):
		in.parked++
		return new(schema.ParkedEntry).Read(value)
	case string(schema.Format):
		if string(key) == string(schema.KeyCount) {
			in.count = bytes.Clone(value)
		}
		if string(key) == string(schema.KeyVersion) && len(value) == 1 {
			in.form = value[0]
		}
	}
	return nil
}
