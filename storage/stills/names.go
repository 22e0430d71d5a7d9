package stills

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// names is what the manifest is made of, and what it was.
type names struct {
	last segment.Manifest // as it was read or written; only its Segments are made anew
	// dropped are segments that were dropped and whose empty files are there until neither slot of
	// the manifest names them; rested those that the last one written did not name.
	dropped, rested []uint64
}

// missed finds the segments that the manifest names and that are gone, without having been dropped.
// From then on they are known to be lost.
func (r *Ring) missed(there []uint64) {
	m, err := segment.ReadManifest(r.fs, r.dir)
	if err != nil {
		r.log.Warn("the list of segments of stills cannot be read; it is written anew", "error", err)
	}
	lost := missed(m, there, r.names.dropped)
	for _, n := range lost {
		r.stats.badSegments.Add(1)
		r.log.Error("a segment of stills is gone, and was not dropped; its stills are lost",
			"segment", segment.SegmentName(n))
	}
	if len(lost) > 0 {
		m.Lost = append(m.Lost, lost...)
		m.Until = max(m.Newest(), r.next-1)
	}
	r.names.last = m
}

// emptyDropped notes the files of dropped segments, and ends what a crash cut off.
func (r *Ring) emptyDropped(list []vfs.Entry) {
	for _, e := range list {
		n, ok := segment.DroppedNumber(e.Name)
		if !ok {
			continue
		}
		if e.Size > 0 {
			if err := segment.EmptyDropped(r.fs, r.dir, n); err != nil {
				r.log.Warn("a segment of stills that was dropped keeps its space", "segment", e.Name, "error", err)
			}
		}
		r.names.dropped = append(r.names.dropped, n)
	}
}

// manifest is what the next one is to say, and the dropped segments that it will not name. appendMu
// is held.
func (r *Ring) manifest() (m segment.Manifest, dropped []uint64) {
	m = r.names.last
	m.Sequence++
	m.Segments = nil
	for _, s := range r.segments {
		if !s.dead {
			m.Segments = append(m.Segments, s.Number)
		}
	}
	if len(m.Segments) > 0 && m.Segments[0] > m.Until {
		m.Lost, m.Until = nil, 0
	}
	return m, slices.Clone(r.names.dropped)
}

// list writes a manifest whose names are on the device, and deletes the files of the segments that
// neither slot names any more. flushMu is held.
func (r *Ring) list(m segment.Manifest, dropped []uint64) error {
	if err := segment.WriteManifest(r.fs, r.dir, m); err != nil {
		return fmt.Errorf("write the list of segments: %w", err)
	}
	r.wrote(segment.PageBytes)
	var gone []uint64
	for _, n := range r.names.rested {
		err := r.fs.Remove(filepath.Join(r.dir, segment.DroppedName(n)))
		if err == nil || os.IsNotExist(err) {
			gone = append(gone, n)
		}
	}
	isGone := func(n uint64) bool { return slices.Contains(gone, n) }
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	r.names.last = m
	r.names.dropped = slices.DeleteFunc(r.names.dropped, isGone)
	r.names.rested = slices.DeleteFunc(dropped, isGone)
	return nil
}
