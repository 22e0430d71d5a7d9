// Package clip is for tests only: short encoded streams, drawn and encoded for this
// (testdata/README.md), as what a camera sends. The tests of agent/camera play them, those of its
// rooms take them apart.
//
//	c := clip.Load(t, "plain.h264")
//	for _, nalus := range c.Units { … }
//	sps := c.Find(7)
package clip

import (
	"bytes"
	"embed"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed testdata
var files embed.FS

// Clip is a short encoded stream in decode order.
type Clip struct {
	Codec string     // "h264", "h265" or "mjpeg"
	Units [][][]byte // NAL units; for MJPEG one "NAL unit", the JPEG
	Order []int      // the presentation number of each picture
}

// Load reads a clip of testdata. It is the caller's.
func Load(t testing.TB, name string) Clip {
	t.Helper()
	b, err := files.ReadFile(path.Join("testdata", name))
	require.NoError(t, err)
	c := Clip{Codec: path.Ext(name)[1:]}
	if c.Codec == "mjpeg" {
		for part := range bytes.SplitSeq(b, []byte{0xFF, 0xD8}) {
			if len(part) > 0 {
				c.Units = append(c.Units, [][]byte{append([]byte{0xFF, 0xD8}, part...)})
			}
		}
	} else {
		var au [][]byte
		for part := range bytes.SplitSeq(b, []byte{0, 0, 1}) { // every unit starts with a delimiter
			part = bytes.TrimRight(part, "\x00")
			if len(part) == 0 {
				continue
			}
			if (c.kind(part) == 9 && c.Codec == "h264" || c.kind(part) == 35 && c.Codec == "h265") && au != nil {
				c.Units = append(c.Units, au)
				au = nil
			}
			au = append(au, part)
		}
		c.Units = append(c.Units, au)
	}
	for i := range c.Units {
		c.Order = append(c.Order, i)
	}
	switch name {
	case "bframes.h264":
		c.Order = []int{0, 3, 1, 2, 6, 4, 5, 9, 7, 8, 10, 13, 11, 12, 16, 14, 15, 19, 17, 18}
	case "open.h265":
		c.Order = []int{0, 3, 2, 1, 6, 5, 4, 9, 8, 7, 10, 13, 12, 11, 16, 15, 14, 19, 18, 17}
	}
	return c
}

// kind is the type of a NAL unit.
func (c Clip) kind(n []byte) byte {
	if c.Codec == "h264" {
		return n[0] & 0x1F
	}
	return n[0] >> 1 & 0x3F
}

// Find returns the first NAL unit of a type, nil if there is none.
func (c Clip) Find(typ byte) []byte {
	for _, au := range c.Units {
		for _, n := range au {
			if c.Codec != "mjpeg" && c.kind(n) == typ {
				return n
			}
		}
	}
	return nil
}
