package stills

import (
	"errors"
	"hash/crc32"
	"io"
	"path/filepath"
	"time"

	"vmsbridge/storage/vfs"
)

// revive gives a segment that has lost both ends new ones, if there are records in it; without the ends nobody knows its
// salt, so the records get new headers as well. It happens when a power cut comes before a new segment's first flush, too. Whatever moment a crash picks,
// the records are found: first the headers are made durable, then the ends.
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
	type header struct {
		record
		at uint32
	}
	var heads []header
	err = wreckRecords(f, e.Size-blockBytes, func(h record, at uint32, _, _ []byte) error {
		heads = append(heads, header{h, at})
		return nil
	})
	if err != nil || len(heads) == 0 {
		return 0, err
	}
	w, err := r.fs.Open(filepath.Join(r.dir, e.Name), true)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	for _, h := range heads {
		var p [recordHead]byte
		h.encode(p[:], b.salt, h.at)
		if _, err := w.WriteAt(p[:], int64(h.at)); err != nil {
			return 0, err
		}
	}
	if err := w.Sync(); err != nil {
		return 0, err
	}
	if _, err := w.WriteAt(b.encode(headMagic), 0); err != nil {
		return 0, err
	}
	if _, err := w.WriteAt(b.encode(footMagic), e.Size-blockBytes); err != nil {
		return 0, err
	}
	return len(heads), w.Sync()
}

// wreckRecords reads the records of a segment whose ends, and with them the salt, are lost: a record is one whose checksum
// of camera and body fits, and whose header could be true. It looks at what stands before size.
func wreckRecords(f io.ReaderAt, size int64, each func(h record, at uint32, camera, body []byte) error) error {
	p := make([]byte, windowBytes)
	var body []byte
	for at := int64(blockBytes); at+recordHead <= size; {
		n, err := f.ReadAt(p[:min(windowBytes, size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n < recordHead {
			return nil
		}
		next := at + int64(n-recordHead+1+align-1)&^(align-1)
		for i := 0; i+recordHead <= n; i += align {
			h, ok := wreckRecord(p[i:n], size-at-int64(i))
			if !ok {
				continue
			}
			if cap(body) < int(h.length) {
				body = make([]byte, h.length)
			}
			body = body[:h.length]
			if _, err := f.ReadAt(body, at+int64(i)+recordHead); err != nil || crc32.Checksum(body, castagnoli) != h.crc {
				continue
			}
			if err := each(h, uint32(at)+uint32(i), body[:h.camera], body[h.camera:]); err != nil {
				return err
			}
			next = at + int64(i) + int64(h.size())
			break
		}
		at = next
	}
	return nil
}

// wreckRecord reads a header without its checksum; room is what there is for the record.
func wreckRecord(p []byte, room int64) (record, bool) {
	if le.Uint32(p) != recordMagic {
		return record{}, false
	}
	h := record{length: le.Uint32(p[4:]), time: int64(le.Uint64(p[8:])), kind: p[16], stream: Kind(p[17]), camera: p[18], crc: le.Uint32(p[24:])}
	return h, recordHead+int64(h.length) <= room && uint32(h.camera) <= h.length && h.camera > 0 && h.kind >= typeStill && h.kind <= typePruned
}
