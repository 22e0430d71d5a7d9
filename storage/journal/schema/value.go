package schema

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
)

// Every value but those of the indexes begins with a tag: which bucket it is of and the version of
// its form.
const (
	tagEvent  = 0x11
	tagEntry  = 0x21
	tagParked = 0x31
	tagMeta   = 0x41 // the owner's bytes, not JSON
	tagChange = 0x51
)

// valueHead is the tag and the CRC-32C of all that follows it.
const valueHead = 1 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged says that a value's checksum or form is wrong.
var ErrDamaged = errors.New("stored value is damaged")

// seal makes a stored value: the tag, the checksum, whatever prefix holds, and v as JSON.
func seal(tag byte, prefix []byte, v any) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, valueHead, 1024))
	buf.Write(prefix)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	b := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	b[0] = tag
	return resum(b), nil
}

// resum sets the checksum of a value.
func resum(b []byte) []byte {
	binary.BigEndian.PutUint32(b[1:], crc32.Checksum(b[valueHead:], castagnoli))
	return b
}

// verified checks a stored value's tag and checksum, and returns what follows them.
func verified(tag byte, b []byte) ([]byte, error) {
	switch {
	case len(b) < valueHead:
		return nil, fmt.Errorf("%w: %d bytes", ErrDamaged, len(b))
	case b[0] != tag:
		return nil, fmt.Errorf("%w: tag %#x, want %#x", ErrDamaged, b[0], tag)
	case crc32.Checksum(b[valueHead:], castagnoli) != binary.BigEndian.Uint32(b[1:]):
		return nil, fmt.Errorf("%w: checksum differs", ErrDamaged)
	}
	return b[valueHead:], nil
}

// unseal checks a stored value without a head and decodes it into v. It keeps nothing of b.
func unseal(tag byte, b []byte, v any) error {
	body, err := verified(tag, b)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return nil
}
