package stills

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// Check reads every record of the ring in dir, verifies the checksums, and compares the records
// with the indexes. It changes nothing and takes no lock: beside a running agent it may meet a
// segment that is being written or dropped just then, and is then not to be taken at its word. What
// is wrong is in the Report, also what the device does not give; the error is that of a folder that
// cannot be read, or a *segment.VersionError.
func Check(dir string) (Report, error) { return check(vfs.OS, dir) }

func check(fs vfs.FS, dir string) (Report, error) {
	var r Report
	list, err := fs.List(dir)
	if err != nil {
		return r, fmt.Errorf("check stills: %w", err)
	}
	var names []vfs.Entry
	var dropped []uint64
	for _, e := range list {
		if n, ok := segment.DroppedNumber(e.Name); ok {
			dropped = append(dropped, n)
		}
		if _, ok := segment.SegmentNumber(e.Name); ok {
			names = append(names, e)
		} else if segment.IsForeign(e.Name) {
			r.ForeignFiles = append(r.ForeignFiles, e.Name)
		}
	}
	rd := segment.NewReader(fs, dir)
	var there []present
	for _, e := range names {
		p, err := r.segment(rd, e)
		if err != nil {
			return r, fmt.Errorf("check stills: %w", err)
		}
		there = append(there, p)
	}
	r.judge(there)
	r.missing(fs, dir, there, dropped)
	return r, nil
}

// missing tells of the segments that are lost.
func (r *Report) missing(fs vfs.FS, dir string, there []present, dropped []uint64) {
	m, err := segment.ReadManifest(fs, dir)
	if err != nil {
		r.add(filepath.Join(dir, segment.ManifestName), -1, "%v", err)
	}
	var list []uint64
	for _, p := range there {
		list = append(list, p.numbers[:]...)
	}
	r.Missing = append(m.Lost, missed(m, list, dropped)...)
	for _, n := range r.Missing {
		r.add(filepath.Join(dir, segment.SegmentName(n)), -1,
			"the segment is not there, and was not dropped: its stills are lost")
	}
}

// segment looks at one segment.
func (r *Report) segment(rd *segment.Reader, e vfs.Entry) (p present, _ error) {
	path := filepath.Join(rd.Dir, e.Name)
	number, _ := segment.SegmentNumber(e.Name)
	p.numbers = [2]uint64{number}
	f, err := rd.FS.Open(path, false)
	if segment.Exhausted(err) {
		return p, err
	}
	r.Segments++
	r.Bytes += e.Size
	if err != nil {
		r.add(path, -1, "segment cannot be opened: %v", err)
		return p, nil
	}
	defer f.Close()
	l := segment.NewFound(rd.Dir, e, number)
	err = l.Identify(f)
	p.numbers[1] = l.Block.Number
	if err != nil {
		if newer, ok := errors.AsType[*segment.VersionError](err); ok {
			newer.Path = path
			return p, newer
		}
		if empty, eerr := segment.IsEmpty(rd.FS, path); eerr == nil && empty {
			p.doubt(path, -1, "segment cannot be read: %v", err)
			return p, nil
		}
		r.add(path, -1, "segment cannot be read: %v", err)
		return p, nil
	}
	if l.Lame {
		const what = "segment is cut off, or one of its ends is damaged"
		cut := e.Size < int64(l.Block.Capacity)
		if empty, err := segment.IsEmpty(rd.FS, path); err == nil && empty || !cut && !l.Block.Sealed() {
			p.doubt(path, -1, what)
		} else {
			r.add(path, -1, what)
		}
	}
	// What the records say.
	l.Draft = segment.NewDraft()
	s := segment.Records(f, l.Salt, l.Limit, func(rec segment.Record, at uint32, camera, body []byte) {
		if rec.Type < segment.TypeStill || rec.Type > segment.TypePruned {
			r.add(path, int64(at), "record is of the unknown type %d", rec.Type)
		}
		l.Draft.AddRecord(rec, at, camera, body)
	})
	refused := s.Err != nil && !errors.Is(s.Err, io.EOF)
	if refused {
		r.add(path, -1, "the device does not give all of it: %v", s.Err)
	}
	p.oldest, p.newest = extent(l.Draft)
	if !l.Block.Sealed() && !refused && cutOff(s, l.Draft) {
		p.doubt(path, int64(s.Bad[0].From), "%d bytes and records of the last seconds are damaged",
			len(s.Bad)+s.Damaged)
		s.Damaged, s.Skipped = 0, 0
	}
	if s.Damaged > 0 {
		r.add(path, -1, "%d records are damaged", s.Damaged)
	}
	if s.Skipped > 0 {
		r.add(path, -1, "%d bytes between records belong to none", s.Skipped)
	}
	r.TornRecords += s.Torn
	r.Stills += l.Draft.Stills
	r.Notes += len(l.Draft.Notes)
	if !l.Block.Sealed() {
		r.Unsealed++
		return p, nil
	}
	x, err := rd.ReadIndex(f, l.Block)
	if err != nil && s.Damaged == 0 && s.Skipped == 0 {
		p.index = true
		p.doubt(path, int64(l.Block.IndexAt), "%v", err)
		return p, nil
	}
	if err != nil {
		r.add(path, int64(l.Block.IndexAt), "%v", err)
		return p, nil
	}
	r.Problems = append(r.Problems, compare(path, x, l.Draft, refused || s.Damaged+s.Torn > 0 || s.Skipped > 0)...)
	return p, nil
}
