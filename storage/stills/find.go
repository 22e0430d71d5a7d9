package stills

import (
	"errors"
	"fmt"
	"os"
	"time"

	"vmsbridge/storage/stills/segment"
)

// Before is the newest still of that camera and kind strictly before t. See Find.
func (r *Ring) Before(camera string, k Kind, t time.Time) (Still, error) {
	return r.Find(camera, k, Before, t)
}

// After is the oldest still of that camera and kind strictly after t. See Find.
func (r *Ring) After(camera string, k Kind, t time.Time) (Still, error) {
	return r.Find(camera, k, After, t)
}

// Find is the still that op and t mean, among those of that camera and kind. The checksum of its
// record was verified; one that is damaged is counted, left out from then on, and the next in op's
// direction is taken. So is the next where the device refuses to read one, but only a few times for
// one question. If there is none, the error is a *NoneError that says why. The result is the
// caller's. Find reads one file and waits for no flush.
func (r *Ring) Find(camera string, k Kind, op Op, t time.Time) (Still, error) {
	still, err := r.find(camera, k, op, segment.ClampNanos(t))
	if none, ok := errors.AsType[*NoneError](err); ok {
		none.Op, none.Time = op, t
	} else if err != nil {
		return Still{}, fmt.Errorf("find still of %q: %w", camera, err)
	}
	return still, err
}

func (r *Ring) find(camera string, k Kind, op Op, t int64) (Still, error) {
	if err := errors.Join(segment.CheckCamera(camera), segment.CheckKind(k)); err != nil {
		return Still{}, err
	}
	if op < Before || op > After {
		return Still{}, fmt.Errorf("%w: unknown %s", ErrInvalid, op)
	}
	r.stats.finds.Add(1)
	key := segment.Key{Camera: camera, Kind: k}
	// at moves on past stills that the device does not give; the question stays t.
	step, at := op, t
	var unreadable error
	var device refusals
	for {
		loc, none := r.index.Find(key, step, at, op, t, device.segments...)
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
		case errors.Is(err, os.ErrNotExist) && r.index.Gone(loc.Seg):
			continue // dropped since it was located
		case errors.Is(err, segment.ErrDamaged):
			r.forget(key, loc)
		default:
			r.stats.readErrors.Add(1)
			device.note(loc.Seg)
		}
		unreadable = err
		switch {
		case op == At, device.all == mostRefused:
			none := r.index.Absence(key, op, t)
			none.Reason, none.Damaged = ReasonDamaged, unreadable
			return Still{}, none
		case op == Before, op == AtOrBefore:
			step, at = Before, loc.Time
		default:
			step, at = After, loc.Time
		}
	}
}

// refusals are reads that the device refused to one question. Each may take a dying card seconds.
type refusals struct {
	all      int
	last     *member
	segments []*member // where it refused two in a row, and is asked nothing more
}

// mostRefused is after how many the question is given up.
const mostRefused = 8

func (f *refusals) note(s *member) {
	f.all++
	if f.last == s {
		f.segments = append(f.segments, s)
	}
	f.last = s
}

// forget leaves a damaged still out from now on.
func (r *Ring) forget(key segment.Key, loc location) {
	r.stats.badRecords.Add(1)
	r.log.Warn("damaged still was skipped", "camera", key.Camera, "kind", key.Kind.String(), "segment", loc.Seg.Path,
		"offset", loc.Place)
	r.index.Forget(key, loc)
}

// read reads and verifies a still.
func (r *Ring) read(loc location, key segment.Key) (Still, error) {
	f, err := r.files.Take(&loc.Seg.File)
	if err != nil {
		return Still{}, err
	}
	jpeg, err := loc.Seg.ReadStill(f.File, key, segment.Entry{Time: loc.Time - loc.Shift, Place: loc.Place,
		Size: loc.Size})
	r.files.Give(f, err != nil)
	if err != nil {
		return Still{}, err
	}
	return Still{Camera: key.Camera, Kind: key.Kind, Time: segment.Time(loc.Time), JPEG: jpeg}, nil
}

// Newest is the time of a camera's newest still of a kind; ok is false if there is none. It reads
// nothing from the disk.
func (r *Ring) Newest(camera string, k Kind) (t time.Time, ok bool) {
	newest, ok := r.index.Newest(segment.Key{Camera: camera, Kind: k})
	if !ok {
		return time.Time{}, false
	}
	return segment.Time(newest), true
}
