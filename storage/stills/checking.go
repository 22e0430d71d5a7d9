package stills

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"vmsbridge/storage/vfs"
)

// check reads every record of the ring in dir, verifies the checksums, and compares the records with the indexes. It changes nothing and
// takes no lock. What is wrong is in the Report, also what the device does not give; the error is that of a folder that cannot be read, or a
// *VersionError.
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

// segment looks at one segment.
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
	l := newLoaded(rd.dir, e, number)
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
	l.draft = newDraft(l.block.version)
	s := scanRecords(f, l.salt, l.limit, func(rec record, at uint32, camera, body []byte) {
		if rec.kind < typeStill || rec.kind > typePruned {
			r.add(path, int64(at), "record is of the unknown type %d", rec.kind)
		}
		l.draft.addRecord(rec, at, camera, body)
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
	r.Stills += l.draft.stills
	r.Notes += len(l.draft.notes)
	if !l.block.sealed() {
		r.Unsealed++
		return nil
	}
	x, err := rd.readIndex(f, l.block)
	if err != nil {
		r.add(path, int64(l.block.indexAt), "%v", err)
		return nil
	}
	r.Problems = append(r.Problems, compare(path, x, l.draft, refused || s.damaged+s.torn > 0 || s.skipped > 0)...)
	return nil
}
