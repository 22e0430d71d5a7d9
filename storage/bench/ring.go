package main

import (
	"time"

	"vmsbridge/storage/stills"
)

type ringSide struct{ *stills.Ring }

func openRing(dir string) (side, error) { return openRingOf(dir, 16<<20) }

func openRingOf(dir string, segment int64) (side, error) {
	r, err := stills.Open(dir, stills.Options{MaxBytes: 60 << 30, SegmentBytes: segment, FlushEvery: time.Hour,
		MinFree: -1})
	return ringSide{r}, err
}

func (r ringSide) Append(camera string, t time.Time, jpeg []byte) error {
	return r.Ring.Append(stills.Still{Camera: camera, Kind: stills.Preview, Time: t, JPEG: jpeg})
}

func (r ringSide) Before(camera string, t time.Time) (time.Time, []byte, error) {
	s, err := r.Ring.Before(camera, stills.Preview, t)
	return s.Time, s.JPEG, err
}

func (r ringSide) Prune(bytes int64) error {
	if _, err := r.Release(bytes); err != nil {
		return err
	}
	return r.Flush()
}
