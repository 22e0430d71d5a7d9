package segment

import (
	"path/filepath"
	"time"

	"vmsbridge/storage/vfs"
)

// Revive gives a segment that has lost both ends new ones, if there are records in it. Nobody knows
// its salt without the ends, but what it adds to the checksums of the headers can be seen (see
// WreckRecords), and a salt that adds the same serves as well: no record is touched. It happens
// when a power cut comes before a new segment's first flush, too.
func (r *Reader) Revive(e vfs.Entry, number uint64) (records int, err error) {
	if e.Size < MinSegmentBytes || e.Size > MaxSegmentBytes {
		return 0, nil
	}
	f, err := r.FS.Open(filepath.Join(r.Dir, e.Name), false)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b := NewBlock(number, Quiet, e.Size, time.Unix(0, 0))
	salted, err := WreckRecords(f, e.Size-BlockBytes,
		func(Record, uint32, []byte, []byte) error { records++; return nil })
	if err != nil || records == 0 {
		return 0, err
	}
	b.Salt = SaltThatAdds(salted)
	w, err := r.FS.Open(filepath.Join(r.Dir, e.Name), true)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	if _, err := w.WriteAt(b.Encode(HeadMagic), 0); err != nil {
		return 0, err
	}
	if _, err := w.WriteAt(b.Encode(FootMagic), e.Size-BlockBytes); err != nil {
		return 0, err
	}
	return records, w.Sync()
}
