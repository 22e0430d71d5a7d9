package stills

import (
	"errors"
	"hash/crc32"
	"io"
	"math/bits"
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

// saltThatAdds is a salt that changes the checksum of every header by that much. CRC-32C is linear: the effects of a salt's bits
// are added without carry, and those of the lower 32 make up any change (Gaussian elimination).
func saltThatAdds(change uint32) (salt uint64) {
	var header [recordHead]byte
	var rows [32]struct { // by the highest bit of the effect
		effect uint32
		salt   uint64
	}
	none := headerCRC(header[:], 0, 0)
	for bit := range rows {
		one := uint64(1) << bit
		effect := headerCRC(header[:], one, 0) ^ none
		for effect != 0 {
			row := &rows[bits.Len32(effect)-1]
			if row.effect == 0 {
				row.effect, row.salt = effect, one
				break
			}
			effect, one = effect^row.effect, one^row.salt
		}
	}
	for change != 0 {
		row := rows[bits.Len32(change)-1]
		change, salt = change^row.effect, salt^row.salt
	}
	return salt
}

// wreckRecords reads the records of a segment whose ends, and with them the salt, are lost: a record is one whose checksum
// of camera and body fits, and whose header could be true. It looks at what stands before size, twice: a checksum is linear, so
// what the salt adds to that of a header is the same in all of a segment; that on which most headers agree is salted, and
// the others are damaged.
func wreckRecords(f io.ReaderAt, size int64, each func(h record, at uint32, camera, body []byte) error) (salted uint32, err error) {
	votes, most := map[uint32]int{}, 0
	err = possibleRecords(f, size, func(_ record, s, _ uint32, _, _ []byte) error { votes[s]++; return nil })
	if err != nil {
		return 0, err
	}
	for s, n := range votes {
		if n > most || n == most && s < salted {
			salted, most = s, n
		}
	}
	return salted, possibleRecords(f, size, func(h record, s, at uint32, camera, body []byte) error {
		if s != salted {
			return nil
		}
		return each(h, at, camera, body)
	})
}

// possibleRecords reads what could be records. salted is what the salt adds to the header's checksum, if the header is as it was.
func possibleRecords(f io.ReaderAt, size int64, each func(h record, salted, at uint32, camera, body []byte) error) error {
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
			place := uint32(at) + uint32(i)
			salted := le.Uint32(p[i+28:]) ^ headerCRC(p[i:], 0, place)
			if err := each(h, salted, place, body[:h.camera], body[h.camera:]); err != nil {
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
