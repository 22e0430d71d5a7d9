package jpeg

import (
	"bytes"
	"encoding/binary"
	stdjpeg "image/jpeg"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/planar"
)

// good is a small JPEG by the standard library.
func good(t require.TestingT) []byte {
	data, err := standard{}.encode(planar.YCbCr420(ramp(48, 32), 48, 32), 75)
	require.NoError(t, err)
	return data
}

// at is where a marker's code is.
func at(data []byte, marker byte) int { return bytes.Index(data, []byte{0xff, marker}) + 1 }

var damages = []struct {
	name  string
	spoil func(b []byte) []byte
	want  string // part of the message; "": accepted
}{
	{"untouched", func(b []byte) []byte { return b }, ""},
	{"padded after the end", func(b []byte) []byte { return append(b, 0, 0, 0, 0xff, 0xd9) }, ""},
	{"fill bytes before a marker", func(b []byte) []byte {
		i := at(b, 0xc4) - 1
		return append(b[:i:i], append([]byte{0xff, 0xff}, b[i:]...)...)
	}, ""},
	{"empty", func([]byte) []byte { return nil }, "start-of-image"},
	{"text", func([]byte) []byte { return []byte("HTTP/1.1 404 Not Found") }, "start-of-image"},
	{"only the start", func(b []byte) []byte { return b[:2] }, "start-of-image"},
	{"end missing", func(b []byte) []byte { return b[:len(b)-2] }, "end-of-image"},
	{"cut in its data", func(b []byte) []byte { return b[:len(b)-40] }, "end-of-image"},
	{"cut in its headers", func(b []byte) []byte { return b[:at(b, 0xc0)+5] }, "does not fit"},
	{"no frame", func(b []byte) []byte { return []byte{0xff, 0xd8, 0xff, 0xd9} }, "no frame header"},
	{"no scan", func(b []byte) []byte {
		return append(b[:at(b, 0xda)-1:at(b, 0xda)-1], 0xff, 0xd9)
	}, "no picture data"},
	{"segment of length 1", func(b []byte) []byte { b[at(b, 0xdb)+2] = 1; return b }, "does not fit"},
	{"65535x65535", func(b []byte) []byte { return resize(b, 65535, 65535) }, "more than 40 megapixels"},
	{"8000x5001", func(b []byte) []byte { return resize(b, 8000, 5001) }, "more than 40 megapixels"},
	{"8000x5000", func(b []byte) []byte { return resize(b, 8000, 5000) }, ""}, // the data is not looked at
	{"0x32", func(b []byte) []byte { return resize(b, 0, 32) }, "size is 0x32"},
	{"48x0", func(b []byte) []byte { return resize(b, 48, 0) }, "size is 48x0"},
	{"progressive", func(b []byte) []byte { b[at(b, 0xc0)] = 0xc2; return b }, "SOF2"},
	{"lossless", func(b []byte) []byte { b[at(b, 0xc0)] = 0xc3; return b }, "SOF3"},
	{"arithmetic", func(b []byte) []byte { b[at(b, 0xc0)] = 0xc9; return b }, "SOF9"},
	{"12 bits", func(b []byte) []byte { b[at(b, 0xc0)+3] = 12; return b }, "12 bits"},
	{"4 components", func(b []byte) []byte { b[at(b, 0xc0)+8] = 4; return b }, "4 colour"},
	{"wrong frame length", func(b []byte) []byte { b[at(b, 0xc0)+8] = 1; return b }, "wrong length"},
	{"subsampling 3x1", func(b []byte) []byte { b[at(b, 0xc0)+10] = 0x31; return b }, "subsampling"},
	{"chroma above luma", func(b []byte) []byte {
		b[at(b, 0xc0)+13] = 0x22
		b[at(b, 0xc0)+10] = 0x11
		return b
	}, "subsampling"},
	{"zero sampling", func(b []byte) []byte { b[at(b, 0xc0)+13] = 0; b[at(b, 0xc0)+16] = 0; return b }, "subsampling"},
	{"two frames", func(b []byte) []byte {
		i := at(b, 0xc0) - 1
		frame := bytes.Clone(b[i : i+19])
		return append(b[:i:i], append(frame, b[i:]...)...)
	}, "two frame headers"},
	{"second start", func(b []byte) []byte {
		i := at(b, 0xc4) - 1
		return append(b[:i:i], append([]byte{0xff, 0xd8}, b[i:]...)...)
	}, "second start-of-image"},
	{"scan before frame", func(b []byte) []byte {
		i, j := at(b, 0xc0)-1, at(b, 0xda)-1
		return append(b[:i:i], b[j:]...)
	}, "before the frame header"},
	{"a hundred scans", func(b []byte) []byte {
		i := at(b, 0xda) - 1
		scan := bytes.Clone(b[i : len(b)-2])
		for range 100 {
			b = append(b[:len(b)-2], append(scan, 0xff, 0xd9)...)
		}
		return b
	}, "more than 3 scans"},
}

func resize(b []byte, w, h int) []byte {
	i := at(b, 0xc0)
	binary.BigEndian.PutUint16(b[i+4:], uint16(h))
	binary.BigEndian.PutUint16(b[i+6:], uint16(w))
	return b
}

func TestCheck(t *testing.T) {
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			h, err := Check(d.spoil(good(t)))
			if d.want == "" {
				require.NoError(t, err)
				require.Equal(t, []int{3, 2, 2}, []int{h.Components, h.HorizontalRatio, h.VerticalRatio})
				return
			}
			require.ErrorContains(t, err, d.want)
		})
	}
}

// No implementation is asked for what Check refuses, so that none allocates for it.
func TestHugeHeaderIsRefusedAtOnce(t *testing.T) {
	huge := resize(good(t), 65500, 65500)
	each(t, func(t *testing.T, c *Codec, _ string) {
		allocated := testing.AllocsPerRun(5, func() {
			_, err := c.Decode(huge)
			require.ErrorContains(t, err, "megapixels")
		})
		require.Less(t, allocated, 200.0)
	})
}

func TestCheckAllocatesNothing(t *testing.T) {
	data := good(t)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = Check(data) }))
}

// FuzzCheck: what is accepted has sane numbers, and the standard library agrees on the size.
func FuzzCheck(f *testing.F) {
	for _, d := range damages {
		f.Add(d.spoil(good(f)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := Check(data)
		if err != nil {
			return
		}
		require.True(t, h.Width > 0 && h.Height > 0 && h.Width*h.Height <= planar.MaxPixels, "%+v", h)
		if config, err := stdjpeg.DecodeConfig(bytes.NewReader(data)); err == nil {
			require.Equal(t, []int{config.Width, config.Height}, []int{h.Width, h.Height})
		}
	})
}

// FuzzDecode: no implementation dies of what Check lets through.
func FuzzDecode(f *testing.F) {
	for _, d := range damages {
		f.Add(d.spoil(good(f)))
	}
	all := implementations(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := Check(data); err != nil || h.Width*h.Height > 1<<20 {
			return
		}
		for _, impl := range all {
			if m, err := (&Codec{impl}).Decode(data); err == nil {
				require.NoError(t, m.Check())
				_ = planar.Luma(m, 1, 1)
			}
		}
	})
}
