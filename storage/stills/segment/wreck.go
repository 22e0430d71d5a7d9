package segment

import (
	"errors"
	"io"
)

// WreckRecords reads the records of a segment whose ends, and with them the salt, are lost: a
// record is one whose checksum of camera and body fits, and whose header could be true. It looks at
// what stands before size, twice: a checksum is linear, so what the salt adds to that of a header
// is the same in all of a segment; that on which most headers agree is salted, and the others are
// damaged.
func WreckRecords(f io.ReaderAt, size int64, each func(h Record, at uint32, camera,
	body []byte) error) (salted uint32, err error) {
	votes, most := map[uint32]int{}, 0
	err = possibleRecords(f, size, func(_ Record, s, _ uint32, _, _ []byte) error { votes[s]++; return nil })
	if err != nil {
		return 0, err
	}
	for s, n := range votes {
		if n > most || n == most && s < salted {
			salted, most = s, n
		}
	}
	return salted, possibleRecords(f, size, func(h Record, s, at uint32, camera, body []byte) error {
		if s != salted {
			return nil
		}
		return each(h, at, camera, body)
	})
}

// possibleRecords reads what could be records. salted is what the salt adds to the header's
// checksum, if the header is as it was.
func possibleRecords(f io.ReaderAt, size int64, each func(h Record, salted, at uint32, camera,
	body []byte) error) error {
	p := make([]byte, windowBytes)
	var body []byte
	for at := int64(BlockBytes); at+RecordHead <= size; {
		n, err := f.ReadAt(p[:min(windowBytes, size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n < RecordHead {
			return nil
		}
		next := at + int64(n-RecordHead+1+Align-1)&^(Align-1)
		for i := 0; i+RecordHead <= n; i += Align {
			place := uint32(at) + uint32(i)
			h, salted, ok := Unsalted(p[i:n], place, size-at-int64(i))
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
			if err := each(h, salted, place, body[:h.Camera], body[h.Camera:]); err != nil {
				return err
			}
			next = at + int64(i) + int64(h.Size())
			break
		}
		at = next
	}
	return nil
}
