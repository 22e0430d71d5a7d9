package stills

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"vmsbridge/storage/vfs"
)

// asideName is the folder, in the ring's, of what Repair took out of the way.
const asideName = "aside"

// Repair puts the ring in dir in order, so that Check finds nothing wrong, and says in Report.Repairs what it did. No other
// process may have the ring open. It never throws a readable still away, nor anything else: what it cannot use, it moves to
// the folder aside, where nobody looks but a person.
//
//   - A foreign file is moved aside.
//   - A segment under a wrong name gets its own back; if that is taken, its stills are copied into the ring where the ring
//     lacks them, and the file is moved aside.
//   - So are the stills of a segment that is cut off.
//   - A segment that has lost both ends gets new ones.
//   - Damaged stretches of other segments are copied to files aside and marked as holding nothing; a missing or wrong index is
//     written anew from the records.
//
// Nothing is dropped for MaxBytes, MinFree or MaxAge here; the next Open sees to that. It needs room for what it copies: on a
// full disk it leaves such a segment as it is, and so it does one that the device does not give in full; the Report has its problem. Of
// the options, only SegmentBytes, MaxBytes (which bounds it), Log and FS matter. A *VersionError, and a device that refuses to write,
// end it; it can be called again.
func Repair(dir string, opts Options) (Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Report{}, fmt.Errorf("repair stills in %s: %w", dir, err)
	}
	if _, err := check(opts.FS, dir); err != nil { // before anything is changed
		return Report{}, fmt.Errorf("repair stills in %s: %w", dir, err)
	}
	m := &mender{fs: opts.FS, dir: dir, opts: opts}
	if err := m.run(); err != nil {
		return Report{Repairs: m.done}, fmt.Errorf("repair stills in %s: %w", dir, err)
	}
	rep, err := check(opts.FS, dir)
	rep.Repairs = m.done
	return rep, err
}

// mender is a repair under way.
type mender struct {
	fs   vfs.FS
	dir  string
	opts Options
	done []string
}

func (m *mender) say(format string, args ...any) {
	m.done = append(m.done, fmt.Sprintf(format, args...))
}

func (m *mender) run() error {
	lock, err := m.fs.Lock(filepath.Join(m.dir, lockName))
	if err != nil {
		return fmt.Errorf("%w: stop vmsbridge first", err)
	}
	wrecks, err := m.segments()
	if err = errors.Join(err, lock.Close()); err != nil {
		return err
	}
	if len(wrecks) > 0 {
		if err := m.salvage(wrecks); err != nil {
			return err
		}
	}
	return m.fs.SyncDir(m.dir)
}

// segments looks at each file, and mends what can be mended in its place. It returns those whose stills must be copied.
func (m *mender) segments() (wrecks []*loaded, err error) {
	list, err := m.fs.List(m.dir)
	if err != nil {
		return nil, err
	}
	taken := map[uint64]bool{}
	for i, e := range list {
		if name, ok := strings.CutSuffix(e.Name, wreckSuffix); ok { // an earlier repair was cut off
			if err := m.fs.Rename(filepath.Join(m.dir, e.Name), filepath.Join(m.dir, name)); err != nil {
				return nil, err
			}
			list[i].Name = name
		}
		if n, ok := segmentNumber(list[i].Name); ok {
			taken[n] = true
		}
	}
	var open [lanes]*loaded
	for _, e := range list {
		number, ok := segmentNumber(e.Name)
		if !ok {
			if e.Name != lockName {
				if err := m.aside(e.Name, e.Name); err != nil {
					return nil, err
				}
				m.say("%s is no file of the ring: moved to the folder %s", e.Name, asideName)
			}
			continue
		}
		l, err := m.identify(e, number, taken)
		if err != nil {
			return nil, err
		}
		if l.trouble != nil {
			continue // it is left as it is, and Check tells of it
		}
		if l.broken != nil || !l.whole {
			if empty, err := isEmpty(m.fs, l.path); err != nil {
				continue // as above
			} else if empty {
				if err := m.fs.Remove(l.path); err != nil {
					return nil, err
				}
				m.say("%s is empty: deleted", e.Name)
				continue
			}
			wrecks = append(wrecks, l)
			continue
		}
		if before := open[l.lane]; before != nil { // it is not the last of its lane, so it must have an index
			if err := m.mend(before, true); err != nil {
				return nil, err
			}
		}
		if open[l.lane] = nil; !l.block.sealed() {
			open[l.lane] = l
		} else if err := m.mend(l, true); err != nil {
			return nil, err
		}
	}
	for _, l := range open {
		if l != nil {
			if err := m.mend(l, false); err != nil {
				return nil, err
			}
		}
	}
	return wrecks, nil
}

// identify says what a segment is, and gives it its own name back where that is free.
func (m *mender) identify(e vfs.Entry, number uint64, taken map[uint64]bool) (*loaded, error) {
	l := &loaded{segment: &segment{number: number, path: filepath.Join(m.dir, e.Name), size: e.Size}}
	f, err := m.fs.Open(l.path, false)
	if exhausted(err) {
		return nil, err
	}
	if err != nil {
		l.trouble = err
		return l, nil
	}
	defer f.Close()
	if l.broken = l.identify(f); l.broken == nil || l.trouble != nil {
		return l, nil
	}
	if l.block.number == 0 {
		n, err := newReader(m.fs, m.dir).revive(e, number)
		if err != nil || n == 0 {
			return l, err
		}
		m.say("%s had lost both ends: written anew, with %d records", e.Name, n)
		l.broken = l.identify(f)
		return l, nil
	}
	other := &loaded{segment: &segment{number: l.block.number, path: l.path, size: e.Size}}
	if l.block.number == number || other.identify(f) != nil || other.number == 0 {
		return l, nil
	}
	if taken[other.number] {
		return l, nil
	}
	to := filepath.Join(m.dir, segmentName(other.number))
	if err := m.fs.Rename(l.path, to); err != nil {
		return nil, err
	}
	taken[other.number] = true
	m.say("%s is segment %d: renamed", e.Name, other.number)
	other.path = to
	return other, nil
}

// mend puts the ends, the damaged stretches and the index of a segment in order.
func (m *mender) mend(l *loaded, sealed bool) error {
	f, err := m.fs.Open(l.path, true)
	if err != nil {
		return err
	}
	defer f.Close()
	name := filepath.Base(l.path)
	if l.read(f); l.scan.err != nil && !errors.Is(l.scan.err, io.EOF) {
		return nil // it is left as it is, and Check tells of it
	}
	changed := l.lame
	if l.lame {
		if err := l.mend(m.fs); err != nil {
			return err
		}
		m.say("%s: an end was damaged, written anew from the other", name)
	}
	for _, b := range l.scan.bad {
		changed = true
		if err := m.keep(f, b, fmt.Sprintf("%s.%d", name, b.from)); err != nil {
			return err
		}
		m.say("%s: %d damaged bytes at %d copied to the folder %s and marked", name, b.to-b.from, b.from, asideName)
	}
	if err := heal(f, l.salt, l.scan.bad); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	stored, indexErr := newReader(m.fs, m.dir).readIndex(f, l.block)
	var r Report
	if indexErr == nil && l.block.sealed() {
		r.compare(l.path, stored, l.index, false)
	}
	if sealed && (!l.block.sealed() || indexErr != nil || !r.Clean()) {
		changed = true
		x := l.index.listing(0, 0)
		if indexErr == nil && l.block.sealed() {
			x.sealedAt, x.written = stored.sealedAt, stored.written
		}
		x.move(l.block.shift)
		if _, err := seal(f, l.block, x, l.end); err != nil {
			return err
		}
		m.say("%s: the index was missing or wrong, written anew from %d stills", name, len(x.list))
	}
	if !changed {
		return nil
	}
	return f.Sync()
}

// aside moves a file of the ring's folder out of the way, under the name as, or one like it.
func (m *mender) aside(name, as string) error {
	to, err := m.free(as)
	if err != nil {
		return err
	}
	if err := m.fs.Rename(filepath.Join(m.dir, name), to); err != nil {
		return err
	}
	return m.fs.SyncDir(filepath.Dir(to))
}

// free is a path in the folder aside where nothing is.
func (m *mender) free(name string) (string, error) {
	dir := filepath.Join(m.dir, asideName)
	if err := m.fs.MakeDir(dir); err != nil {
		return "", err
	}
	list, err := m.fs.List(dir)
	if err != nil {
		return "", err
	}
	to := name
	for n := 2; slices.ContainsFunc(list, func(e vfs.Entry) bool { return e.Name == to }); n++ {
		to = name + "." + strconv.Itoa(n)
	}
	return filepath.Join(dir, to), nil
}

// keep copies a stretch of a segment aside, if there is anything in it.
func (m *mender) keep(f io.ReaderAt, b span, name string) error {
	p := make([]byte, b.to-b.from)
	if _, err := f.ReadAt(p, int64(b.from)); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(bytes.Trim(p, "\x00")) == 0 {
		return nil
	}
	to, err := m.free(name)
	if err != nil {
		return err
	}
	out, err := m.fs.Create(to, int64(len(p)))
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := out.WriteAt(p, 0); err != nil {
		return err
	}
	return errors.Join(out.Sync(), m.fs.SyncDir(filepath.Dir(to)))
}

// salvage copies the stills of wrecks into the ring, where it lacks them, and moves the wrecks aside.
func (m *mender) salvage(wrecks []*loaded) error {
	o := m.opts
	o.MaxBytes, o.MinFree, o.MaxAge, o.Registerer = 1<<62, -1, 0, nil
	for _, l := range wrecks { // out of Open's sight, which might delete an empty one
		if err := m.fs.Rename(l.path, l.path+wreckSuffix); err != nil {
			return err
		}
	}
	r, err := Open(m.dir, o)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, l := range wrecks { // a wreck that must stay keeps its name
		r.next = max(r.next, l.number+1)
	}
	for _, l := range wrecks {
		name := filepath.Base(l.path)
		r.SetEra(l.era)
		n, had, err := m.copyStills(r, l)
		if err == nil {
			err = r.Flush()
		}
		if err != nil {
			// It stays what it was.
			m.say("%s: its stills cannot be copied: %v", name, err)
			if err := m.fs.Rename(l.path+wreckSuffix, l.path); err != nil {
				return err
			}
			continue
		}
		if err := m.aside(name+wreckSuffix, name); err != nil {
			return err
		}
		m.say("%s cannot be used any more: %d of its stills copied, %d were there already; moved to the folder %s", name, n, had, asideName)
	}
	return r.Close()
}

const wreckSuffix = ".wreck"

// copyStills appends a wreck's stills and gaps to the ring.
func (m *mender) copyStills(r *Ring, l *loaded) (copied, had int, err error) {
	f, err := m.fs.Open(l.path+wreckSuffix, false)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	_, err = wreckRecords(f, l.size, func(h record, _ uint32, camera, body []byte) error {
		k := seriesKey{string(camera), h.stream}
		switch {
		case h.kind == typeGap && len(body) >= 8:
			for _, g := range r.gaps[k.camera] {
				if g.from == h.time+l.shift {
					return nil // the ring's own is the later word
				}
			}
			g := gapNote{from: h.time + l.shift, to: shifted(int64(le.Uint64(body)), l.shift), reason: string(body[8:])}.gap(k.camera)
			return r.Gap(g.Camera, g.From, g.To, g.Reason)
		case h.kind != typeStill || checkKind(k.kind) != nil:
			return nil
		}
		if s := r.series[k]; s != nil {
			if _, found := s.find(At, h.time+l.shift); found {
				had++
				return nil
			}
		}
		copied++
		return r.Append(Still{k.camera, k.kind, nanosTime(h.time + l.shift), body})
	})
	return copied, had, err
}
