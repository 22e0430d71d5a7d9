package engine

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/avcodec"
	"vmsbridge/agent/codec/testclip"
)

// A stream that would take more memory than is allowed is refused by its parameter sets, at its
// start and when they change in between, and is taken again with others. The file is the first
// bytes of a picture of ffmpeg's color source by libx264 with ref=16; libavcodec would take 1.6 GB
// for such a stream.
func TestTooMuchMemory(t *testing.T) {
	huge, err := os.ReadFile(filepath.Join("testdata", "7680x5200-16.264"))
	require.NoError(t, err)
	small := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 640, Height: 352, Frames: 2})
	e := New(Options{PictureBytes: 512 << 20})
	if _, err := e.library(); err != nil {
		t.Skipf("%v: %s", err, avcodec.Hint)
	}
	d, err := e.Open(H264, 57_600)
	require.NoError(t, err)
	defer d.Close()
	refused := func(au []byte) {
		t.Helper()
		pictures, err := d.Decode(au, 1)
		require.Empty(t, pictures)
		var unsupported *UnsupportedError
		require.True(t, errors.As(err, &unsupported), "%v", err)
		require.Contains(t, unsupported.Reason, "7680x5200 with 16 to refer to take")
		require.Contains(t, unsupported.Reason, "allows a stream 512 MB")
		require.Contains(t, unsupported.Hint, "smaller picture")
	}
	accepted := func() {
		t.Helper()
		got, err := d.Decode(small.Units[0], 2)
		require.NoError(t, err)
		rest, err := d.Flush()
		require.NoError(t, err)
		require.Len(t, append(got, rest...), 1)
	}
	refused(huge)
	refused([]byte{0, 0, 1, 0x41, 0x9a}) // what follows without other parameter sets
	accepted()
	refused(huge) // within a running stream
	refused(append(append([]byte(nil), small.Units[0]...), huge...))
	accepted()
}

// What cameras send is taken, on a small machine too; and what is taken for a stream is about what
// is reckoned.
func TestDemand(t *testing.T) {
	for name, c := range map[string]struct {
		w, h, references int
		chroma, moreBits uint32
		megabytes        int64
	}{
		"640x360":                      {640, 360, 4, 1, 0, 4},
		"1080p, H.264, as most do":     {1920, 1080, 4, 1, 0, 37},
		"1080p, all references":        {1920, 1080, 16, 1, 0, 88},
		"4 megapixels":                 {2688, 1520, 4, 1, 0, 74},
		"4K, one reference":            {3840, 2160, 1, 1, 0, 100},
		"4K, H.265, level 5.1":         {3840, 2160, 6, 1, 0, 184},
		"12 megapixels, H.265":         {4000, 3000, 6, 1, 0, 267},
		"12 megapixels, H.265, 10 bit": {4000, 3000, 6, 1, 2, 456},
		"one to refuse":                {7680, 5200, 16, 1, 0, 1699},
	} {
		require.Equal(t, c.megabytes, demanded(c.w, c.h, c.references, c.chroma, c.moreBits).bytes>>20, name)
	}
	require.Zero(t, demanded(1<<20, 1<<20, 16, 1, 0).bytes, "libavcodec refuses it")
}
