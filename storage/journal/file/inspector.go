package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/journal/schema"
)

// inspector compares buckets that are read one after the other, by sums over their entries: what
// the events say must be listed adds to a sum, what is listed takes from it.
type inspector struct {
	Report
	whole bool // all can be read, whether or not it agrees
	seed  maphash.Seed
	sums  map[string]uint64
	count []byte // what the file says of events
	form  byte   // the file's version
}

// pauseEvery is after how many entries inspect asks whether to go on.
const pauseEvery = 2000

// inspect names what is wrong in a file, and counts, without bbolt. It calls pause, if there is
// one, now and then, and ends with its error.
func inspect(f *boltfile.File, pause func() error) (found *inspector, err error) {
	in := &inspector{seed: maphash.MakeSeed(), sums: map[string]uint64{}}
	if f.Metas() < 2 {
		in.Addf("one of the two meta pages is unreadable")
	}
	entries := 0
	_, lost, err := f.Walk(func(bucket string, key, value []byte) error {
		if entries++; pause != nil && entries%pauseEvery == 0 {
			if err := pause(); err != nil {
				return err
			}
		}
		if err := in.entry(bucket, key, value); err != nil {
			in.Addf("bucket %q, key %q: %v", bucket, key, err)
		}
		return nil
	})
	for _, l := range lost {
		in.Addf("%v", l)
	}
	if in.whole = in.Clean(); in.whole {
		for _, what := range []string{string(schema.ByTime), string(schema.ByActor), string(schema.ByType),
			string(schema.Ongoing), string(schema.OutboxID), string(schema.ChangesID)} {
			if in.sums[what] != 0 {
				in.Addf("bucket %q contradicts what it is derived from", what)
			}
		}
		if n := in.count; (len(n) != 8 || binary.BigEndian.Uint64(n) != uint64(in.Events)) && in.Events+len(n) > 0 {
			in.Addf("there are %d events, and not as many as is noted", in.Events)
		}
	}
	return in, err
}

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
		in.Events++
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
		in.Ongoing++
		if len(value) != 8 {
			return fmt.Errorf("%w: %d bytes", schema.ErrDamaged, len(value))
		}
		in.sums[bucket] -= in.hash(key)
	case string(schema.Outbox):
		in.Waiting++
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
		in.Parked++
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
