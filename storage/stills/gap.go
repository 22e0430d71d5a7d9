package stills

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"vmsbridge/storage/stills/segment"
)

// Gap is a time without pictures.
type Gap struct {
	Camera string
	From   time.Time
	To     time.Time // zero while it lasts
	Reason string    // a sentence's end for a person: "wrong user name or password"
}

// Gap notes that the camera gave no pictures from from to to, and why, so that Find can say so. A
// zero to means that it lasts; a later call with the same from takes the place of the earlier one.
// The note lives as long as the stills of its time of writing, and one of a gap that lasts for as
// long as it lasts. Errors and durability are those of Append; a reason over 1000 bytes is cut.
func (r *Ring) Gap(camera string, from, to time.Time, reason string) error {
	return noted(camera, r.appendGap(camera, from, to, reason, nil))
}

// GapOf is Gap with times of an era; 0 is none. See Announce.
func (r *Ring) GapOf(era uint32, camera string, from, to time.Time, reason string) error {
	return noted(camera, r.appendGap(camera, from, to, reason, &era))
}

func noted(camera string, err error) error {
	if err != nil {
		return fmt.Errorf("note a gap of %q: %w", camera, err)
	}
	return nil
}

func (r *Ring) appendGap(camera string, from, to time.Time, reason string, era *uint32) error {
	if err := segment.CheckCamera(camera); err != nil {
		return err
	}
	start, err := segment.Nanos(from)
	if err != nil {
		return err
	}
	end := int64(segment.NoEnd)
	if !to.IsZero() {
		if end, err = segment.Nanos(to); err != nil {
			return err
		}
		if end < start {
			return fmt.Errorf("%w: the gap ends at %s, before its start at %s", ErrInvalid, to, from)
		}
	}
	reason = strings.ToValidUTF8(reason, "?")
	for len(reason) > segment.MaxReason {
		_, n := utf8.DecodeLastRuneInString(reason)
		reason = reason[:len(reason)-n]
	}
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	if r.closed {
		return ErrClosed
	}
	shift := r.enter(era)
	if start += shift; end != segment.NoEnd {
		end += shift
	}
	return r.writeNote(segment.Note{Type: segment.TypeGap, Camera: camera, From: start, To: end, Reason: reason})
}

// writeNote appends a note. appendMu is held.
func (r *Ring) writeNote(n segment.Note) error {
	head, body := n.Record()
	l := r.lanes[segment.Quiet]
	if _, err := r.write(l, head, n.Camera, body, n.Cost); err != nil {
		return err
	}
	r.index.AddNote(l.seg, l.tail, n)
	return nil
}

// Gaps is the camera's noted gaps that touch the time from from to to, in order. Zero times do not
// bound.
func (r *Ring) Gaps(camera string, from, to time.Time) []Gap {
	lo, hi := int64(segment.NoEnd), int64(math.MaxInt64)
	if !from.IsZero() {
		lo = segment.ClampNanos(from)
	}
	if !to.IsZero() {
		hi = segment.ClampNanos(to)
	}
	var list []Gap
	for _, n := range r.index.Gaps(camera, lo, hi) {
		list = append(list, newGap(n))
	}
	return list
}

// newGap is the gap that a note is of.
func newGap(n segment.Note) Gap {
	v := Gap{Camera: n.Camera, From: segment.Time(n.From), Reason: n.Reason}
	if n.To != segment.NoEnd {
		v.To = segment.Time(n.To)
	}
	return v
}
