package stills

import "slices"

// salvage copies the stills of wrecks into the ring, where it lacks them, and moves the wrecks aside.
func salvage(m *mender, dir string, o Options, wrecks []*loaded) error {
	o.MaxBytes, o.MinFree, o.MaxAge, o.Registerer = 1<<62, -1, 0, nil
	for _, l := range wrecks {
		if err := m.hide(l); err != nil {
			return err
		}
	}
	r, err := Open(dir, o)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, l := range wrecks { // a wreck that must stay keeps its name
		r.next = max(r.next, l.number+1)
	}
	for _, l := range wrecks {
		r.SetEra(l.era)
		n, had, err := copyStills(m, r, l)
		if err == nil {
			err = r.Flush()
		}
		if err != nil {
			if err := m.keepWreck(l, err); err != nil {
				return err
			}
			continue
		}
		if err := m.discard(l, n, had); err != nil {
			return err
		}
	}
	return r.Close()
}

// copyStills appends a wreck's stills and gaps to the ring.
func copyStills(m *mender, r *Ring, l *loaded) (copied, had int, err error) {
	err = m.read(l, func(h record, camera, body []byte) error {
		k := seriesKey{string(camera), h.stream}
		switch {
		case h.kind == typeGap:
			n, ok := readNote(h, k.camera, body)
			n = n.moved(l.shift)
			if !ok || slices.ContainsFunc(r.index.gapsOf(k.camera, n.from, n.from), func(g note) bool { return g.from == n.from }) {
				return nil // the ring's own is the later word
			}
			g := newGap(n)
			return r.Gap(g.Camera, g.From, g.To, g.Reason)
		case h.kind != typeStill || checkKind(k.kind) != nil:
			return nil
		}
		if r.index.has(k, h.time+l.shift) {
			had++
			return nil
		}
		copied++
		return r.Append(Still{k.camera, k.kind, nanosTime(h.time + l.shift), body})
	})
	return copied, had, err
}
