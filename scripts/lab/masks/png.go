package masks

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// encoder codes masks as PNG (ISO/IEC 15948): 8-bit gray, no filter, the fastest compression.
// image/png chooses a filter for each row, which takes up to eight times as long and makes pictures
// of two values hardly smaller. The zero value is ready; not safe for concurrent use.
type encoder struct {
	raw []byte
	z   *zlib.Writer
}

// encode codes width x height bytes. The result is the caller's.
func (e *encoder) encode(pix []byte, width, height int) ([]byte, error) {
	const noFilter = 0
	e.raw = e.raw[:0]
	for y := range height {
		e.raw = append(e.raw, noFilter)
		e.raw = append(e.raw, pix[y*width:][:width]...)
	}
	var data bytes.Buffer
	if e.z == nil {
		var err error
		if e.z, err = zlib.NewWriterLevel(&data, zlib.BestSpeed); err != nil {
			return nil, fmt.Errorf("code mask: %w", err)
		}
	} else {
		e.z.Reset(&data)
	}
	if _, err := e.z.Write(e.raw); err != nil {
		return nil, fmt.Errorf("code mask: %w", err)
	}
	if err := e.z.Close(); err != nil {
		return nil, fmt.Errorf("code mask: %w", err)
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(width))
	header = binary.BigEndian.AppendUint32(header, uint32(height))
	header = append(header, 8, 0, 0, 0, 0) // bits; gray; deflate; the usual filters; not interlaced
	out := append(make([]byte, 0, data.Len()+64), "\x89PNG\r\n\x1a\n"...)
	out = chunk(out, "IHDR", header)
	out = chunk(out, "IDAT", data.Bytes())
	return chunk(out, "IEND", nil), nil
}

// chunk appends a part of the file: length, name, data, and the CRC of name and data.
func chunk(out []byte, name string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	from := len(out)
	out = append(append(out, name...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[from:]))
}
