package stills

import (
	"errors"
	"fmt"
	"io"

	"vmsbridge/storage/vfs"
)

// errDamaged is what a record that is not as it was written reads as.
var errDamaged = errors.New("still is damaged")

// readStill reads the still of key from its segment's file and verifies it. want is where it is and of what time as the record has
// it, without the segment's shift. What is not as it was written is an errDamaged; the result is the caller's.
func (s *segFile) readStill(f io.ReaderAt, key seriesKey, want entry) (jpeg []byte, err error) {
	// With the size in the index, one read is enough; one that is wrong shows below.
	p := make([]byte, recordHead+len(key.camera)+int(want.size))
	if _, err := f.ReadAt(p, int64(want.place)); err != nil {
		return nil, readError(err)
	}
	h, err := decodeRecord(p, s.salt, want.place, s.limit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if p = p[recordHead:]; len(p) != int(h.length) { // the index does not say
		p = make([]byte, h.length)
		if _, err := f.ReadAt(p, int64(want.place)+recordHead); err != nil {
			return nil, readError(err)
		}
	}
	camera, body, err := h.payload(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if h.kind != typeStill || string(camera) != key.camera || h.stream != key.kind || h.time != want.time {
		return nil, fmt.Errorf("%w: another record is in its place", errDamaged)
	}
	return body, nil
}

// stillSize reads how many bytes the JPEG has whose record is at place.
func stillSize(fs vfs.FS, s *segFile, place uint32) (int, error) {
	f, err := fs.Open(s.path, false)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var head [recordHead]byte
	if _, err := f.ReadAt(head[:], int64(place)); err != nil {
		return 0, err
	}
	h, err := decodeRecord(head[:], s.salt, place, s.limit)
	if err != nil {
		return 0, errors.Join(errDamaged, err)
	}
	return int(h.length) - int(h.camera), nil
}

// readError tells a file that ends too early, which is damage, from trouble of the device.
func readError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}
