package stills

import (
	"path/filepath"
	"time"

	"vmsbridge/storage/vfs"
)

// revive gives a segment that has lost both ends new ones, if there are records in it. Nobody knows its salt without the ends, but
// what it adds to the checksums of the headers can be seen (see wreckRecords), and a salt that adds the same serves as well: no record is
// touched. It happens when a power cut comes before a new segment's first flush, too.
func (r *reader) revive(e vfs.Entry, number uint64) (records int, err error) {
	if e.Size < minSegmentBytes || e.Size > maxSegmentBytes {
		return 0, nil
	}
	f, err := r.fs.Open(filepath.Join(r.dir, e.Name), false)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b := newBlock(number, quiet, e.Size, time.Unix(0, 0))
	salted, err := wreckRecords(f, e.Size-blockBytes, func(record, uint32, []byte, []byte) error { records++; return nil })
	if err != nil || records == 0 {
		return 0, err
	}
	b.salt = saltThatAdds(salted)
	w, err := r.fs.Open(filepath.Join(r.dir, e.Name), true)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	if _, err := w.WriteAt(b.encode(headMagic), 0); err != nil {
		return 0, err
	}
	if _, err := w.WriteAt(b.encode(footMagic), e.Size-blockBytes); err != nil {
		return 0, err
	}
	return records, w.Sync()
}
