package segment

import (
	"errors"
	"io"
	"path/filepath"
	"time"

	"vmsbridge/storage/vfs"
)

// Revive gives a segment that has lost both ends new ones, if there are records in it. Nobody knows
// its salt without the ends, but what it adds to the checksums of the headers can be seen, and a
// salt that adds the same serves as well: no record is touched. It happens when a power cut comes
// before a new segment's first flush, too.
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
	salted, records, err := votes(f, e.Size-BlockBytes)
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

// votes says what the salt adds to the headers' checksums in a file whose records end before size,
// and how many records say so. A record is one whose checksum of camera and body fits, and whose
// header could be true. A checksum is linear, so what the salt adds is the same in all of a
// segment: that on which most headers agree is it, and the others are damaged.
func votes(f io.ReaderAt, size int64) (salted uint32, most int, err error) {
	count := map[uint32]int{}
	p := make([]byte, windowBytes)
	var body []byte
	for at := int64(BlockBytes); at+RecordHead <= size; {
		n, err := f.ReadAt(p[:min(windowBytes, size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, err
		}
		if n < RecordHead {
			break
		}
		next := at + int64(n-RecordHead+1+Align-1)&^(Align-1)
		for i := 0; i+RecordHead <= n; i += Align {
			h, s, ok := Unsalted(p[i:n], uint32(at)+uint32(i), size-at-int64(i))
			if !ok {
				continue
			}
			if cap(body) < int(h.Length) {
				body = make([]byte, h.Length)
			}
			body = body[:h.Length]
			if _, err := f.ReadAt(body, at+int64(i)+RecordHead); err != nil || !h.Holds(body) {
				continue
			}
			count[s]++
			next = at + int64(i) + int64(h.Size())
			break
		}
		at = next
	}
	for s, n := range count {
		if n > most || n == most && s < salted {
			salted, most = s, n
		}
	}
	return salted, most, nil
}
