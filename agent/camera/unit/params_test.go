package unit

import (
	"bytes"
	"testing"

	"github.com/bluenviron/mediacommon/v2/pkg/bits"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera/clip"
)

func TestGolomb(t *testing.T) {
	for _, tc := range []struct {
		in   []byte
		want uint32
		ok   bool
	}{
		{[]byte{0x80}, 0, true}, {[]byte{0x40}, 1, true}, {[]byte{0x60}, 2, true}, {[]byte{0x20}, 3, true},
		{[]byte{0x01, 0x00}, 127, true}, {[]byte{0x01}, 0, false}, {nil, 0, false}, {[]byte{0, 0, 0, 0, 0, 0, 0, 0}, 0,
			false},
		{[]byte{0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE}, 1<<32 - 2, true},
	} {
		got, ok := golomb(tc.in)
		require.Equal(t, tc.ok, ok, "%x", tc.in)
		if ok {
			require.Equal(t, tc.want, got, "%x", tc.in)
		}
	}
}

// Our reading agrees with mediacommon's wherever both can.
func FuzzGolomb(f *testing.F) {
	f.Add([]byte{0x20, 1})
	f.Add([]byte{0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, ok := golomb(b)
		pos := 0
		want, err := bits.ReadGolombUnsigned(b, &pos)
		if ok && err == nil {
			require.Equal(t, want, got)
		}
		require.True(t, !ok || err == nil, "%x", b)
	})
}

func TestParameterSets(t *testing.T) {
	h := clip.Load(t, "plain.h264")
	p := newParams(H264)
	require.False(t, p.complete())
	p.absorb(h.Units[0]...)
	require.True(t, p.complete())
	require.Equal(t, []int{160, 120}, []int{p.width, p.height})
	require.False(t, p.reorder, "the SPS says that there are no B-frames")
	first, changed := p.prefix()
	require.True(t, changed)
	_, changed = p.prefix()
	require.False(t, changed)
	p.absorb(h.Units[0]...)
	_, changed = p.prefix()
	require.False(t, changed, "the same sets again")
	second := append([]byte(nil), h.Find(8)...)
	second[1] = 0x40 | second[1]>>2 // another id
	p.absorb(second)
	both, changed := p.prefix()
	require.True(t, changed)
	require.True(t, bytes.HasPrefix(both, first))
	require.Len(t, p.sets, 3)

	p = newParams(H265)
	p.absorb(clip.Load(t, "open.h265").Units[0]...)
	require.True(t, p.complete())
	require.Equal(t, []int{160, 120}, []int{p.width, p.height})
	require.True(t, p.reorder)

	p = newParams(H264)
	p.absorb(clip.Load(t, "bframes.h264").Units[0]...)
	require.True(t, p.reorder)
}

// A camera cannot make us keep endless parameter sets.
func TestParameterSetsAreBounded(t *testing.T) {
	p := newParams(H264)
	for id := range 1000 {
		p.absorb([]byte{0x68, byte(id >> 8), byte(id), 0x80}, make([]byte, 100_000))
	}
	require.LessOrEqual(t, len(p.sets), maxParameterSets)
	big := make([]byte, maxParameterSetBytes+1)
	big[0], big[1] = 0x67, 0x80
	p.absorb(big)
	require.False(t, p.complete())
}

func FuzzParameterSets(f *testing.F) {
	for _, name := range []string{"plain.h264", "bframes.h264", "small.h264"} {
		f.Add(false, clip.Load(f, name).Find(7))
		f.Add(false, clip.Load(f, name).Find(8))
	}
	for _, typ := range []byte{32, 33, 34} {
		f.Add(true, clip.Load(f, "open.h265").Find(typ))
	}
	// an H.265 SPS with chroma_format_idc 4, for which mediacommon's Width would index out of range
	f.Add(true, []byte{0x42, 1, 1, 1, 0x60, 0, 0, 3, 0, 0x90, 0, 0, 3, 0, 0, 3, 0, 0x1E, 0x94, 0xA0, 0x50, 0x16, 0x59,
		0x59})
	f.Fuzz(func(t *testing.T, isH265 bool, nal []byte) {
		codec := H264
		if isH265 {
			codec = H265
		}
		p := newParams(codec)
		p.absorb(nal)
		require.True(t, p.width == 0 && p.height == 0 || p.width >= 8 && p.height >= 8 && p.width <= 1<<15 &&
			p.height <= 1<<15)
		_, _ = p.prefix()
		_ = look(codec, [][]byte{nal, nal})
		_, _ = recoveryPoint(nal)
	})
}

func TestRecoveryPoint(t *testing.T) {
	count, ok := recoveryPoint([]byte{6, 6, 1, 0xC0, 0x80})
	require.True(t, ok)
	require.Zero(t, count)
	count, ok = recoveryPoint([]byte{6, 5, 1, 0xAA, 6, 1, 0x30, 0x80}) // after another message
	require.True(t, ok)
	require.Equal(t, 5, count)
	for _, bad := range [][]byte{nil, {6}, {6, 6, 200, 0x80, 0x80}, {6, 255, 255, 255, 255}, {6, 5, 1, 0xAA, 0x80}} {
		_, ok = recoveryPoint(bad)
		require.False(t, ok, "%x", bad)
	}
	found := 0
	for _, au := range clip.Load(t, "refresh.h264").Units {
		if p := look(H264, au); p.randomAccess && p.recovery > 0 {
			found++
		}
	}
	require.NotZero(t, found)
}

func TestJPEGSize(t *testing.T) {
	for _, u := range clip.Load(t, "motion.mjpeg").Units {
		w, h, ok := jpegSize(u[0])
		require.True(t, ok)
		require.Equal(t, []int{160, 120}, []int{w, h})
	}
	w, h, ok := jpegSize([]byte{0xFF, 0xD8, 0xFF, 0xFF, 0xC2, 0, 11, 8, 0xFF, 0xFF, 0xFF, 0xFF, 1})
	require.True(t, ok)
	require.Equal(t, []int{65535, 65535}, []int{w, h})
	for name, bad := range map[string][]byte{
		"empty": nil, "no image": {1, 2, 3, 4, 5}, "cut": {0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0},
		"scan first": {0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 0, 0},
		"length 0":   {0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0, 0, 0, 0},
		"size 0":     {0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 0, 0, 0, 1}, "end": {0xFF, 0xD8, 0xFF, 0xD9},
	} {
		_, _, ok := jpegSize(bad)
		require.False(t, ok, name)
	}
}

func FuzzJPEGSize(f *testing.F) {
	f.Add(clip.Load(f, "motion.mjpeg").Units[0][0][:700])
	f.Add([]byte{0xFF, 0xD8, 0xFF, 0xFF, 0xC2, 0, 11, 8, 0xFF, 0xFF, 0xFF, 0xFF, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		w, h, ok := jpegSize(b)
		require.Equal(t, ok, w > 0 && h > 0)
		require.LessOrEqual(t, max(w, h), 65535)
	})
}

// RASL pictures after the CRA at which decoding starts refer to pictures that never came.
func TestLeadingPicturesOfFirstCRA(t *testing.T) {
	c := clip.Load(t, "open.h265")
	cra, rasl, trail := []byte{21 << 1, 1, 0x80, 1}, []byte{9 << 1, 1, 0x80, 1}, []byte{1 << 1, 1, 0x80, 1}
	b := NewBuilder(H265, 0, &Counts{}, c.Units[0]...)
	var got []AccessUnit
	for i, n := range [][]byte{trail, cra, rasl, trail, cra, rasl} {
		u, ok := b.Build(Coded{nalus: [][]byte{n}, RTP: uint32(i) * 3000, arrival: int64(i+1) * millis(33)})
		require.Equal(t, i > 0, ok, "nothing before the first random access point")
		if ok {
			got = append(got, u)
		}
	}
	require.Equal(t, []bool{true, false, false, true, false},
		[]bool{got[0].RandomAccess, got[1].RandomAccess, got[2].RandomAccess, got[3].RandomAccess, got[4].RandomAccess})
	require.Equal(t, []bool{false, true, false, false, false},
		[]bool{got[0].Damaged, got[1].Damaged, got[2].Damaged, got[3].Damaged, got[4].Damaged})
}

func millis(v float64) int64 { return int64(v * 1e6) }
