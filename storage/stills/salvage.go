package stills

import (
	"slices"

	"vmsbridge/storage/stills/segment"
)

// salvage copies the stills of wrecks into the ring, where it lacks them, and moves the wrecks
// aside.
func salvage(m *mender, dir string, o Options, wrecks []*segment.Found) error {
	o.MaxBytes, o.MinFree, o.MaxAge, o.Registerer = 1<<62, -1, 0, nil
	for _, l := range wrecks {
		if err := m.Hide(l); err != nil {
			return err
		}
	}
	r, err := Open(dir, o)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, l := range wrecks { // a wreck that must stay keeps its name
		r.next = max(r.next, l.Number+1)
	}
	for _, l := range wrecks {
		r.SetEra(l.Era)
		n, had, err := copyStills(m, r, l)
		if err == nil {
			err = r.Flush()
		}
		if err != nil {
			if err := m.Keep(l, err); err != nil {
				return err
			}
			continue
		}
		if err := m.Discard(l, n, had); err != nil {
			return err
		}
	}
	return r.Close()
}

// copyStills appends a wreck's stills and gaps to the ring.
func copyStills(m *mender, r *Ring, l *segment.Found) (copied, had int, err error) {
	err = m.Read(l, func(h segment.Record, camera, body []byte) error {
		k := segment.Key{Camera: string(camera), Kind: h.Kind}
		switch {
		case h.Type == segment.TypeGap:
			n, ok := segment.ReadNote(h, k.Camera, body)
			n = n.Moved(l.Shift)
			if !ok || slices.ContainsFunc(r.index.Gaps(k.Camera, n.From, n.From),
				func(g segment.Note) bool { return g.From == n.From }) {
				return nil // the ring's own is the later word
			}
			g := newGap(n)
			return r.Gap(g.Camera, g.From, g.To, g.Reason)
		case h.Type != segment.TypeStill || segment.CheckKind(k.Kind) != nil:
			return nil
		}
		if r.index.Has(k, h.Time+l.Shift) {
			had++
			return nil
		}
		copied++
		return r.Append(Still{k.Camera, k.Kind, segment.Time(h.Time + l.Shift), body})
	})
	return copied, had, err
}
