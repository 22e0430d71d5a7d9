package stills

import (
	"errors"
	"fmt"
	"os"
	"time"

	"vmsbridge/storage/vfs"
)

// errDamaged is what a record that is not as it was written reads as.
var errDamaged = errors.New("still is damaged")

// Before is the newest still of that camera and kind strictly before t. See Find.
func (r *Ring) Before(camera string, k Kind, t time.Time) (Still, error) {
	return r.Find(camera, k, Before, t)
}

// After is the oldest still of that camera and kind strictly after t. See Find.
func (r *Ring) After(camera string, k Kind, t time.Time) (Still, error) {
	return r.Find(camera, k, After, t)
}

// Find is the still that op and t mean, among those of that camera and kind. The checksum of its record was verified; one
// that is damaged is counted, left out from then on, and the next in op's direction is taken. So is the next where the device
// refuses to read one, but only a few times for one question. If there is none, the error is a *NoneError that says why. The result
// is the caller's. Find reads one file and waits for no flush.
func (r *Ring) Find(camera string, k Kind, op Op, t time.Time) (Still, error) {
	still, err := r.find(camera, k, op, clampNanos(t))
	if none, ok := errors.AsType[*NoneError](err); ok {
		none.Op, none.Time = op, t
	} else if err != nil {
		return Still{}, fmt.Errorf("find still of %q: %w", camera, err)
	}
	return still, err
}

func (r *Ring) find(camera string, k Kind, op Op, t int64) (Still, error) {
	if err := errors.Join(checkCamera(camera), checkKind(k)); err != nil {
		return Still{}, err
	}
	if op < Before || op > After {
		return Still{}, fmt.Errorf("%w: unknown %s", ErrInvalid, op)
	}
	r.stats.finds.Add(1)
	key := seriesKey{camera, k}
	// at moves on past stills that the device does not give; the question stays t.
	step, at := op, t
	var unreadable error
	var device refusals
	for {
		loc, none := r.locate(key, step, at, op, t, device.segments...)
		if none != nil {
			if unreadable != nil {
				none.Reason, none.Damaged = ReasonDamaged, unreadable
			}
			return Still{}, none
		}
		still, err := r.read(loc, key)
		switch {
		case err == nil:
			return still, nil
		case errors.Is(err, os.ErrNotExist) && r.gone(loc.seg):
			continue // dropped since it was located
		case errors.Is(err, errDamaged):
			r.forget(key, loc)
		default:
			r.stats.readErrors.Add(1)
			device.note(loc.seg)
		}
		unreadable = err
		switch {
		case op == At, device.all == mostRefused:
			r.mu.RLock()
			none := r.noneLocked(key, op, t)
			r.mu.RUnlock()
			none.Reason, none.Damaged = ReasonDamaged, unreadable
			return Still{}, none
		case op == Before, op == AtOrBefore:
			step, at = Before, loc.time
		default:
			step, at = After, loc.time
		}
	}
}

// refusals are reads that the device refused to one question. Each may take a dying card seconds.
type refusals struct {
	all      int
	last     *segment
	segments []*segment // where it refused two in a row, and is asked nothing more
}

// mostRefused is after how many the question is given up.
const mostRefused = 8

func (f *refusals) note(s *segment) {
	f.all++
	if f.last == s {
		f.segments = append(f.segments, s)
	}
	f.last = s
}

// locate looks into the index, but for some segments.
func (r *Ring) locate(key seriesKey, step Op, at int64, op Op, t int64, but ...*segment) (location, *NoneError) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if s := r.series[key]; s != nil {
		if loc, ok := s.find(step, at, but...); ok {
			return loc, nil
		}
	}
	return location{}, r.noneLocked(key, op, t)
}

// gone says whether a segment has left the index.
func (r *Ring) gone(s *segment) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return s.gone
}

func (r *Ring) forget(key seriesKey, loc location) {
	r.stats.badRecords.Add(1)
	r.log.Warn("damaged still was skipped", "camera", key.camera, "kind", key.kind.String(), "segment", loc.seg.path, "offset", loc.place)
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.series[key]; s != nil {
		s.forget(loc)
	}
}

// read reads and verifies a still.
func (r *Ring) read(loc location, key seriesKey) (Still, error) {
	f, err := r.files.take(loc.seg)
	if err != nil {
		return Still{}, err
	}
	still, err := readStill(f.file, loc, key)
	r.files.give(f, err != nil)
	return still, err
}

func readStill(f vfs.File, loc location, key seriesKey) (Still, error) {
	// With the size in the index, one read is enough; one that is wrong shows below.
	p := make([]byte, recordHead+len(key.camera)+int(loc.size))
	if _, err := f.ReadAt(p, int64(loc.place)); err != nil {
		return Still{}, readError(err)
	}
	h, err := decodeRecord(p, loc.seg.salt, loc.place, loc.seg.limit)
	if err != nil {
		return Still{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if p = p[recordHead:]; len(p) != int(h.length) { // the index does not say
		p = make([]byte, h.length)
		if _, err := f.ReadAt(p, int64(loc.place)+recordHead); err != nil {
			return Still{}, readError(err)
		}
	}
	camera, body, err := h.payload(p)
	if err != nil {
		return Still{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if h.kind != typeStill || string(camera) != key.camera || h.stream != key.kind || h.time != loc.time-loc.shift {
		return Still{}, fmt.Errorf("%w: another record is in its place", errDamaged)
	}
	return Still{Camera: key.camera, Kind: key.kind, Time: nanosTime(loc.time), JPEG: body}, nil
}
