package stills

import "vmsbridge/storage/stills/segment"

// List writes the list of segments anew, with those that are there, so that Check misses no others.
// before says which it missed so far, which cannot be had back.
func (m *mender) List(before Report) error {
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
		if n, ok := segment.SegmentNumber(e.Name); ok {
			next.Segments = append(next.Segments, n)
		}
	}
	return segment.WriteManifest(m.fs, m.dir, next)
}
