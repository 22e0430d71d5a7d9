package stills

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// load takes the segments that are there into the ring.
func (r *Ring) load() error {
	list, err := r.fs.List(r.dir)
	if err != nil {
		return err
	}
	r.emptyDropped(list)
	list = slices.DeleteFunc(list, func(e vfs.Entry) bool {
		_, ok := segment.SegmentNumber(e.Name)
		if segment.IsForeign(e.Name) {
			r.stats.foreign.Add(1)
		}
		return !ok
	})
	if len(list) == 0 {
		r.missed(nil)
		r.next = r.names.last.Newest() + 1
		return nil
	}
	first, _ := segment.SegmentNumber(list[0].Name)
	newest, _ := segment.SegmentNumber(list[len(list)-1].Name)
	if first > 1 {
		r.index.WentRound()
	}
	r.next = newest + 1

	all, err := r.readAll(list)
	if err != nil {
		return err
	}
	there := make([]uint64, 0, 2*len(list))
	var unsealed [segment.Lanes]*segment.Found // the newest segment of each lane, if it is not sealed
	for i, l := range all {
		number, _ := segment.SegmentNumber(list[i].Name)
		there = append(there, number, l.Block.Number)
		if l.Broken == nil {
			if unsealed[l.Lane] = nil; !l.Block.Sealed() {
				unsealed[l.Lane] = l
			}
		}
	}
	r.missed(there)
	removed := false
	for i, l := range all {
		// A crash may leave all segments half made that were begun since the last flush.
		if len(all)-i <= maxPending+segment.Lanes && r.halfMade(l) {
			if err := segment.Drop(r.fs, r.dir, l.Number); err != nil {
				r.log.Warn("an empty segment of stills cannot be deleted", "segment", l.Path, "error", err)
				r.adopt(l, false)
				continue
			}
			removed = true
			r.names.dropped = append(r.names.dropped, l.Number)
			if i < len(all)-1 {
				r.stats.badSegments.Add(1) // or something wiped it
				r.log.Warn("a segment of stills was empty; it is deleted", "segment", l.Path)
			}
			continue
		}
		r.adopt(l, l == unsealed[l.Lane])
	}
	if len(r.segments) > 0 && removed {
		// they held nothing
		r.next = slices.MaxFunc(r.segments, func(a, b *member) int {
			return cmp.Compare(a.Number, b.Number)
		}).Number + 1
	}
	slices.SortFunc(r.segments, func(a, b *member) int { return cmp.Compare(a.Number, b.Number) })
	return nil
}

// loaders read side by side where there are many segments: a flash card answers several at once
// sooner.
const loaders, loadAtOnce = 4, 64

// readAll reads the segments' indexes.
func (r *Ring) readAll(list []vfs.Entry) ([]*segment.Found, error) {
	found, errs := make([]*segment.Found, len(list)), make([]error, len(list))
	n := loaders
	if len(list) < loadAtOnce {
		n = 1
	}
	var wait sync.WaitGroup
	for w := range n {
		wait.Go(func() {
			rd := segment.NewReader(r.fs, r.dir)
			for i := w; i < len(list); i += n {
				found[i], errs[i] = r.readOne(rd, list[i])
			}
		})
	}
	wait.Wait()
	return found, errors.Join(errs...)
}

// readOne reads a segment's index, and gives it new ends if it has lost both.
func (r *Ring) readOne(rd *segment.Reader, e vfs.Entry) (*segment.Found, error) {
	number, _ := segment.SegmentNumber(e.Name)
	l, err := rd.Load(e, number)
	if err != nil || l.Broken == nil || l.Block.Number != 0 || l.Trouble != nil {
		return l, err
	}
	switch n, err := rd.Revive(e, number); {
	case err != nil:
		r.log.Warn("a segment of stills that has lost both ends cannot be given new ones", "segment", l.Path, "error",
			err)
	case n > 0:
		r.stats.badSegments.Add(1)
		r.log.Warn("a segment of stills had lost both ends, and got new ones", "segment", l.Path, "records", n)
		return rd.Load(e, number)
	}
	return l, nil
}
