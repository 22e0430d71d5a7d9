package file

import (
	"errors"
	"time"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/journal/schema"
	"vmsbridge/uplink/vms"
)

// witness tells of events whose own page is lost what they were like at last. A page outside of the
// tree may hold an older form of one, which goes on there and has ended since, or one that was
// removed long ago.
type witness struct {
	tree     bool   // there is one
	index    string // the bucket that is believed: all of it can be read; "" for none
	missing  map[string]int64
	patched  map[string]bool // those in the new file that got their end from the index
	sequence uint64          // of the outbox in the tree: what was stored later has a higher one
}

// choose takes an index of which nothing is lost. With one meta page lost, the tree may be older
// than the last change.
func (w *witness) choose(seqs map[string]uint64, lost []boltfile.Lost, metas int) {
	bad := map[string]bool{}
	for _, l := range lost {
		bad[l.Bucket] = true
	}
	if metas < 2 || bad[""] {
		return
	}
	for _, name := range [][]byte{schema.ByTime, schema.ByActor, schema.ByType} {
		if _, ok := seqs[string(name)]; ok && !bad[string(name)] {
			w.index, w.missing, w.patched = string(name), map[string]int64{}, map[string]bool{}
			return
		}
	}
}

// listed takes an entry of that index whose event was not found in the tree.
func (s *salvager) listed(bucket string, k, v []byte) error {
	n := schema.GroupLen(k, schema.GroupNames([]byte(bucket)))
	if n == 0 || len(k) <= n+8 || len(v) != 8 {
		return nil
	}
	t, err := s.txn()
	if err != nil {
		return err
	}
	if id := k[n+8:]; t.Bucket(schema.Events).Get(id) == nil {
		s.witness.missing[string(id)] = schema.KeyMS(v)
	}
	return nil
}

var errOutdated = errors.New("it was removed, or has ended since")

// judge makes of a stray event what it was at last: with its end, if that is known. One that was
// removed, or of which only the beginning is left and no end is known, is refused.
func (w *witness) judge(ev vms.Event, h schema.Head) (_ vms.Event, _ schema.Head, patched bool, err error) {
	if w.index == "" {
		if h.End == schema.EndOngoing && w.tree && h.Sequence <= w.sequence {
			return ev, h, false, errOutdated // it would go on for ever
		}
		return ev, h, false, nil
	}
	end, ok := w.missing[ev.ID]
	if !ok {
		return ev, h, false, errOutdated
	}
	if end != h.End && end != schema.EndOngoing {
		ev.EndTimestamp, h.End, patched = vms.Ptr(time.UnixMilli(end).UTC()), end, true
	}
	return ev, h, patched, nil
}
