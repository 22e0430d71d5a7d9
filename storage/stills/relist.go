package stills

import (
	"slices"

	"vmsbridge/storage/stills/segment"
)

// List writes the list of segments anew, with those that are there, but for the wrecks, so that
// Check misses no others. lost are those that it missed so far, which cannot be had back.
func (m *mender) List(wrecks []*segment.Found, before Report) error {
	old, err := segment.ReadManifest(m.fs, m.dir)
	if err != nil {
		m.say("%s was damaged: written anew", segment.ManifestName)
	}
	for _, n := range before.Missing {
		m.say("segment %d is missing and cannot be had back: it is no longer told", n)
	}
	list, err := m.fs.List(m.dir)
	if err != nil {
		return err
	}
	next := segment.Manifest{Sequence: old.Sequence + 1}
	for _, e := range list {
		n, ok := segment.SegmentNumber(e.Name)
		isWreck := func(l *segment.Found) bool { return l.Number == n }
		if ok && !slices.ContainsFunc(wrecks, isWreck) {
			next.Segments = append(next.Segments, n)
		}
	}
	return segment.WriteManifest(m.fs, m.dir, next)
}
