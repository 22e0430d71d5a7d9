package file

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/journal/schema"
)

// inspector compares buckets that are read one after the other, by sums over their entries: what
// the events say must be listed adds to a sum, what is listed takes from it.
type inspector struct {
	seed           maphash.Seed
	sums           map[string]uint64
	problems       []string // of what was read
	contradictions []string // between buckets of which all was read
	count          []byte   // what the file says of events
	form           byte     // the file's version

	events, ongoing, waiting, parked int
}

// pauseEvery is after how many entries inspect asks whether to go on.
const pauseEvery = 2000

// inspect names what is wrong in a file, and counts, without bbolt. It calls pause, if there is
// one, now and then, and ends with its error.
func inspect(f *boltfile.File, pause func() error) (found *inspector, err error) {
	in := &inspector{seed: maphash.MakeSeed(), sums: map[string]uint64{}}
	entries := 0
	lost, err := f.Walk(func(bucket string, key, value []byte) error {
		if entries++; pause != nil && entries%pauseEvery == 0 {
			if err := pause(); err != nil {
				return err
			}
		}
		if err := in.entry(bucket, key, value); err != nil && len(in.problems) < maxProblems {
			in.problems = append(in.problems, fmt.Sprintf("bucket %q, key %q: %v", bucket, key, err))
		}
		return nil
	})
	for _, l := range lost[:min(len(lost), maxProblems)] {
		in.problems = append(in.problems, l.Error())
	}
	if len(in.problems) == 0 {
		for _, what := range []string{string(schema.ByTime), string(schema.ByActor), string(schema.ByType),
			string(schema.Ongoing), string(schema.OutboxID), string(schema.ChangesID)} {
			if in.sums[what] != 0 {
				in.contradictions = append(in.contradictions,
					fmt.Sprintf("bucket %q contradicts what it is derived from", what))
			}
		}
		if n := in.count; (len(n) != 8 || binary.BigEndian.Uint64(n) != uint64(in.events)) && in.events+len(n) > 0 {
			in.contradictions = append(in.contradictions,
				fmt.Sprintf("there are %d events, and not as many as is noted", in.events))
		}
	}
	return in, err
}

// all is everything that is wrong.
func (in *inspector) all() []string { return slices.Concat(in.problems, in.contradictions) }
