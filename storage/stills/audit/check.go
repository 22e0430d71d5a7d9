package audit

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"vmsbridge/storage/stills/form"
	"vmsbridge/storage/stills/segment"
	"vmsbridge/storage/vfs"
)

// Check reads every record of the ring in dir, verifies the checksums, and compares the records with the indexes. It changes nothing and
// takes no lock. What is wrong is in the Report, also what the device does not give; the error is that of a folder that cannot be read, or a
// *VersionError.
func Check(fs vfs.FS, dir string) (Report, error) {
	var r Report
	list, err := fs.List(dir)
	if err != nil {
		return r, fmt.Errorf("check stills: %w", err)
	}
	var names []vfs.Entry
	for _, e := range list {
		if _, ok := form.SegmentNumber(e.Name); ok {
			names = append(names, e)
		} else if e.Name != form.LockName {
			r.ForeignFiles = append(r.ForeignFiles, e.Name)
		}
	}
	rd := segment.NewReader(fs, dir)
	for _, e := range names {
		if err := r.segment(rd, e); err != nil {
			return r, fmt.Errorf("check stills: %w", err)
		}
	}
	return r, nil
}

// segment looks at one segment.
func (r *Report) segment(rd *segment.Reader, e vfs.Entry) error {
	path := filepath.Join(rd.Dir, e.Name)
	f, err := rd.FS.Open(path, false)
	if segment.Exhausted(err) {
		return err
	}
	r.Segments++
	r.Bytes += e.Size
	if err != nil {
		r.add(path, -1, "segment cannot be opened: %v", err)
		return nil
	}
	defer f.Close()
	number, _ := form.SegmentNumber(e.Name)
	l := segment.NewFound(rd.Dir, e, number)
	if err := l.Identify(f); err != nil {
		if newer, ok := errors.AsType[*form.VersionError](err); ok {
			newer.Path = path
			return newer
		}
		r.add(path, -1, "segment cannot be read: %v", err)
		return nil
	}
	if !l.Whole || l.Lame {
		r.add(path, -1, "segment is cut off, or one of its ends is damaged")
	}
	// What the records say.
	l.Draft = form.NewDraft(l.Block.Version)
	s := segment.Records(f, l.Salt, l.Limit, func(rec form.Record, at uint32, camera, body []byte) {
		if rec.Type < form.TypeStill || rec.Type > form.TypePruned {
			r.add(path, int64(at), "record is of the unknown type %d", rec.Type)
		}
		l.Draft.AddRecord(rec, at, camera, body)
	})
	refused := s.Err != nil && !errors.Is(s.Err, io.EOF)
	if refused {
		r.add(path, -1, "the device does not give all of it: %v", s.Err)
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
		return nil
	}
	x, err := rd.ReadIndex(f, l.Block)
	if err != nil {
		r.add(path, int64(l.Block.IndexAt), "%v", err)
		return nil
	}
	r.Problems = append(r.Problems, Compare(path, x, l.Draft, refused || s.Damaged+s.Torn > 0 || s.Skipped > 0)...)
	return nil
}
