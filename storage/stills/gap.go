package stills

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Gap is a time without pictures.
type Gap struct {
	Camera string
	From   time.Time
	To     time.Time // zero while it lasts
	Reason string    // a sentence's end for a person: "wrong user name or password"
}

// gapNote is a gap in the index, with the segment that tells of it.
type gapNote struct {
	from, to int64
	reason   string
	segment  uint64
}

func (g gapNote) covers(t int64) bool { return g.from <= t && (g.to == noEnd || t <= g.to) }

func (g gapNote) gap(camera string) Gap {
	v := Gap{Camera: camera, From: nanosTime(g.from), Reason: g.reason}
	if g.to != noEnd {
		v.To = nanosTime(g.to)
	}
	return v
}

// Gap notes that the camera gave no pictures from from to to, and why, so that Find can say so. A zero to means that it
// lasts; a later call with the same from takes the place of the earlier one. The note lives as long as the stills of its
// time of writing, and one of a gap that lasts for as long as it lasts. Errors and durability are those of Append; a reason over 1000 bytes is cut.
func (r *Ring) Gap(camera string, from, to time.Time, reason string) error {
	if err := r.appendGap(camera, from, to, reason); err != nil {
		return fmt.Errorf("note a gap of %q: %w", camera, err)
	}
	return nil
}

func (r *Ring) appendGap(camera string, from, to time.Time, reason string) error {
	if err := checkCamera(camera); err != nil {
		return err
	}
	start, err := nanos(from)
	if err != nil {
		return err
	}
	end := int64(noEnd)
	if !to.IsZero() {
		if end, err = nanos(to); err != nil {
			return err
		}
		if end < start {
			return fmt.Errorf("%w: the gap ends at %s, before its start at %s", ErrInvalid, to, from)
		}
	}
	reason = strings.ToValidUTF8(reason, "?")
	for len(reason) > maxReason {
		_, n := utf8.DecodeLastRuneInString(reason)
		reason = reason[:len(reason)-n]
	}
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	if r.closed {
		return ErrClosed
	}
	return r.writeNote(note{kind: typeGap, camera: camera, from: start, to: end, reason: reason})
}

func (n note) body() []byte { return append(le.AppendUint64(nil, uint64(n.to)), n.reason...) }

func (n note) record() record {
	return record{length: uint32(len(n.camera) + 8 + len(n.reason)), time: n.from, kind: n.kind, stream: n.stream, camera: uint8(len(n.camera))}
}

// writeNote appends a note. appendMu is held.
func (r *Ring) writeNote(n note) error {
	head, body := n.record(), n.body()
	head.crc = crc32.Update(crc32.Checksum([]byte(n.camera), castagnoli), castagnoli, body)
	l := r.lanes[quiet]
	if _, err := r.write(l, head, n.camera, body, n.cost); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l.tail.addNote(n)
	r.noteLocked(n, l.file.seg.number)
	return nil
}

// noteLocked takes a note of a segment into the index.
func (r *Ring) noteLocked(n note, segment uint64) {
	switch n.kind {
	case typeGap:
		list := r.gaps[n.camera]
		i, found := slices.BinarySearchFunc(list, n.from, func(g gapNote, t int64) int { return cmp.Compare(g.from, t) })
		g := gapNote{n.from, n.to, n.reason, segment}
		if found {
			if list[i].segment <= segment { // at Open they may come in another order
				list[i] = g
			}
		} else {
			list = slices.Insert(list, i, g)
		}
		r.gaps[n.camera] = list
	case typePruned:
		k := seriesKey{n.camera, n.stream}
		s := r.seriesLocked(k)
		if !s.pruned || n.from > s.prunedTo {
			s.pruned, s.prunedTo = true, n.from
		}
		r.marks[k] = segment
	}
}

func (r *Ring) dropGapsLocked(segment uint64) {
	for camera, list := range r.gaps {
		list = slices.DeleteFunc(list, func(g gapNote) bool { return g.segment == segment })
		if len(list) == 0 {
			delete(r.gaps, camera)
		} else {
			r.gaps[camera] = list
		}
	}
}

// Gaps is the camera's noted gaps that touch the time from from to to, in order. Zero times do not bound.
func (r *Ring) Gaps(camera string, from, to time.Time) []Gap {
	lo, hi := int64(noEnd), int64(math.MaxInt64)
	if !from.IsZero() {
		lo = clampNanos(from)
	}
	if !to.IsZero() {
		hi = clampNanos(to)
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []Gap
	for _, g := range r.gaps[camera] {
		if g.from <= hi && (g.to == noEnd || g.to >= lo) {
			list = append(list, g.gap(camera))
		}
	}
	return list
}

// gapAtLocked is the gap that covers t, the latest if several do.
func (r *Ring) gapAtLocked(camera string, t int64) *Gap {
	list := r.gaps[camera]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].covers(t) {
			g := list[i].gap(camera)
			return &g
		}
	}
	return nil
}
