package jpeg

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"

	"vmsbridge/agent/codec/planar"
)

// standard is the standard library: always there, strict about damage, slow.
type standard struct{}

func (standard) describe() (name, version, path string) { return "image/jpeg", "", "" }

func (standard) decode(data []byte, _ Header) (planar.Image, error) {
	m, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return planar.Image{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fromDecoded(m)
}

func (standard) encode(m *image.YCbCr, quality int) ([]byte, error) {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, m, &jpeg.Options{Quality: quality}); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
