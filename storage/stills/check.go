package stills

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"vmsbridge/storage/vfs"
)

// Report is what Check found.
type Report struct {
	Segments int
	Stills   int
	Notes    int   // gaps, and marks of pruned series
	Bytes    int64 // on disk
	// TornRecords stand at the end of a segment, with a good header and a bad body: a power cut's, and no problem.
	TornRecords int
	// Unsealed segments have no index yet: those being written, and after a crash some more, to which the next start gives one.
	Unsealed     int
	ForeignFiles []string
	Problems     []Problem
	// Repairs has a sentence for each thing that Repair did. Check leaves it empty.
	Repairs []string
}

// Problem is something that is not as it should be.
type Problem struct {
	Path   string
	Offset int64 // -1 where no place is to blame
	What   string
}

func (p Problem) String() string {
	if p.Offset < 0 {
		return p.Path + ": " + p.What
	}
	return fmt.Sprintf("%s: at %d: %s", p.Path, p.Offset, p.What)
}

// Clean says that nothing is wrong.
func (r Report) Clean() bool { return len(r.Problems) == 0 }

// Check reads every record of the ring in dir, verifies the checksums, and compares the records with the indexes. It
// changes nothing and takes no lock: beside a running agent it may meet a segment that is being written or dropped just
// then, and is then not to be taken at its word. What is wrong is in the Report, also what the device does not give; the error is that
// of a folder that cannot be read, or a *VersionError.
func Check(dir string) (Report, error) { return check(vfs.OS, dir) }

func check(fs vfs.FS, dir string) (Report, error) {
	var r Report
	list, err := fs.List(dir)
	if err != nil {
		return r, fmt.Errorf("check stills: %w", err)
	}
	var names []vfs.Entry
	for _, e := range list {
		if _, ok := segmentNumber(e.Name); ok {
			names = append(names, e)
		} else if e.Name != lockName {
			r.ForeignFiles = append(r.ForeignFiles, e.Name)
		}
	}
	rd := newReader(fs, dir)
	for _, e := range names {
		if err := r.segment(rd, e); err != nil {
			return r, fmt.Errorf("check stills: %w", err)
		}
	}
	return r, nil
}

func (r *Report) add(path string, offset int64, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{path, offset, fmt.Sprintf(format, args...)})
}

func (r *Report) segment(rd *reader, e vfs.Entry) error {
	path := filepath.Join(rd.dir, e.Name)
	f, err := rd.fs.Open(path, false)
	if exhausted(err) {
		return err
	}
	r.Segments++
	r.Bytes += e.Size
	if err != nil {
		r.add(path, -1, "segment cannot be opened: %v", err)
		return nil
	}
	defer f.Close()
	number, _ := segmentNumber(e.Name)
	l := &loaded{segment: &segment{number: number, path: path, size: e.Size}}
	if err := l.identify(f); err != nil {
		if newer, ok := errors.AsType[*VersionError](err); ok {
			newer.Path = path
			return newer
		}
		r.add(path, -1, "segment cannot be read: %v", err)
		return nil
	}
	if !l.whole || l.lame {
		r.add(path, -1, "segment is cut off, or one of its ends is damaged")
	}
	// What the records say.
	l.index = newIndex(l.block.version)
	s := scanRecords(f, l.salt, l.limit, func(rec record, at uint32, camera, body []byte) {
		if rec.kind < typeStill || rec.kind > typePruned {
			r.add(path, int64(at), "record is of the unknown type %d", rec.kind)
		}
		l.index.addRecord(rec, at, camera, body)
	})
	refused := s.err != nil && !errors.Is(s.err, io.EOF)
	if refused {
		r.add(path, -1, "the device does not give all of it: %v", s.err)
	}
	if s.damaged > 0 {
		r.add(path, -1, "%d records are damaged", s.damaged)
	}
	if s.skipped > 0 {
		r.add(path, -1, "%d bytes between records belong to none", s.skipped)
	}
	r.TornRecords += s.torn
	r.Stills += l.index.stills
	r.Notes += len(l.index.notes)
	if !l.block.sealed() {
		r.Unsealed++
		return nil
	}
	x, err := rd.readIndex(f, l.block)
	if err != nil {
		r.add(path, int64(l.block.indexAt), "%v", err)
		return nil
	}
	r.compare(path, x, l.index, refused || s.damaged+s.torn > 0 || s.skipped > 0)
	return nil
}

// compare looks for differences between a segment's index and its records. Of a segment with damage, the index may well
// list more.
func (r *Report) compare(path string, stored *listing, found *index, damaged bool) {
	listed := map[seriesKey][]entry{}
	for _, run := range stored.runs {
		listed[run.key] = stored.list[run.lo:run.hi]
	}
	for k, e := range found.series {
		for _, n := range e.list {
			i, ok := search(listed[k], n.time)
			switch {
			case !ok:
				r.add(path, int64(n.place), "still is missing in the index")
			case listed[k][i].place != n.place:
				r.add(path, int64(listed[k][i].place), "index names another place than %d for a still", n.place)
			case stored.version > 1 && listed[k][i].size != n.size:
				r.add(path, int64(n.place), "index gives a still %d bytes, it has %d", listed[k][i].size, n.size)
			}
		}
	}
	if damaged {
		return
	}
	for k, list := range listed {
		for _, n := range list {
			if e := found.series[k]; e == nil || pick(e.list, At, n.time) < 0 {
				r.add(path, int64(n.place), "index lists a still that is not there")
			}
		}
	}
	if len(stored.notes) != len(found.notes) {
		r.add(path, -1, "index lists %d notes, the segment has %d", len(stored.notes), len(found.notes))
	}
}
