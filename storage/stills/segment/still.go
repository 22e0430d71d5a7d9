package segment

import (
	"errors"
	"fmt"
	"io"
)

// ErrDamaged is what a record that is not as it was written reads as.
var ErrDamaged = errors.New("still is damaged")

// ReadStill reads the still of key from its segment's file and verifies it. want is where it is and
// of what time as the record has it, without the segment's shift. What is not as it was written is
// an ErrDamaged; the result is the caller's.
func (s *File) ReadStill(f io.ReaderAt, key Key, want Entry) (jpeg []byte, err error) {
	// With the size in the index, one read is enough; one that is wrong shows below.
	p := make([]byte, RecordHead+len(key.Camera)+int(want.Size))
	if _, err := f.ReadAt(p, int64(want.Place)); err != nil {
		return nil, readError(err)
	}
	h, err := DecodeRecord(p, s.Salt, want.Place, s.Limit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if p = p[RecordHead:]; len(p) != int(h.Length) { // the index does not say
		p = make([]byte, h.Length)
		if _, err := f.ReadAt(p, int64(want.Place)+RecordHead); err != nil {
			return nil, readError(err)
		}
	}
	camera, body, err := h.Payload(p)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if h.Type != TypeStill || string(camera) != key.Camera || h.Kind != key.Kind || h.Time != want.Time {
		return nil, fmt.Errorf("%w: another record is in its place", ErrDamaged)
	}
	return body, nil
}

// readError tells a file that ends too early, which is damage, from trouble of the device.
func readError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
