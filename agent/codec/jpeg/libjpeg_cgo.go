//go:build cgo

package jpeg

import (
	"bytes"
	"fmt"
	"image"

	pixiv "github.com/pixiv/go-libjpeg/jpeg"

	"vmsbridge/agent/codec/planar"
)

// linked is go-libjpeg behind the rules that its traps ask for: options are never nil (it
// dereferences them), the size is known before anything is allocated, readers and writers are
// bytes.Reader and bytes.Buffer (any that returns an error makes it loop for ever), and planes to
// encode are padded and edged (it reads whole coding units).
type linked struct{}

func libjpeg() implementation { return linked{} }

func (linked) describe() (name, version, path string) { return "libjpeg", "", "" }

func (linked) decode(data []byte, h Header) (planar.Image, error) {
	// A second opinion: our reading of the header must be libjpeg's, or the size limit would mean
	// nothing.
	config, err := pixiv.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return planar.Image{}, err
	}
	if config.Width != h.Width || config.Height != h.Height {
		return planar.Image{}, fmt.Errorf("libjpeg reads its size as %dx%d, not %dx%d", config.Width, config.Height,
			h.Width, h.Height)
	}
	if h.HorizontalRatio == 4 {
		return standard{}.decode(data, h) // go-libjpeg does not know 4:1:1
	}
	m, err := pixiv.Decode(bytes.NewReader(data), &pixiv.DecoderOptions{})
	if err != nil {
		return planar.Image{}, err
	}
	return fromDecoded(m)
}

func (linked) encode(m *image.YCbCr, quality int) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(m.Y) / 8)
	if err := pixiv.Encode(&out, m, &pixiv.EncoderOptions{Quality: quality, DCTMethod: pixiv.DCTISlow}); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
