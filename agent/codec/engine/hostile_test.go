package engine

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/avcodec"
)

// coder writes H.264 by hand: ITU-T H.264 §7.3. An encoder makes no stream that contradicts itself.
type coder struct {
	bytes []byte
	free  int // bits of the last byte
}

func (c *coder) u(n int, v uint) {
	for i := n - 1; i >= 0; i-- {
		if c.free == 0 {
			c.bytes, c.free = append(c.bytes, 0), 8
		}
		c.free--
		c.bytes[len(c.bytes)-1] |= byte(v>>i&1) << c.free
	}
}

func (c *coder) ue(values ...uint) {
	for _, v := range values {
		n := bits.Len(v + 1)
		c.u(2*n-1, v+1)
	}
}

// unit is what was written as a NAL unit behind a start code.
func (c *coder) unit(head ...byte) []byte {
	c.u(1, 1)
	out, zeros := append([]byte{0, 0, 0, 1}, head...), 0
	for _, b := range c.bytes {
		if zeros == 2 && b <= 3 {
			out, zeros = append(out, 3), 0
		}
		out = append(out, b)
		if zeros++; b != 0 {
			zeros = 0
		}
	}
	return out
}

// promise is a sequence parameter set and a picture parameter set of that number.
type promise struct {
	id, width, height, references int
	cut                           bool // its last part is announced and missing
}

func (p promise) sets() []byte {
	var s, q coder
	s.u(24, 77<<16|51) // Main profile, level 5.1
	s.ue(uint(p.id), 4, 0, 12, uint(p.references))
	s.u(1, 0)
	s.ue(uint(p.width/16-1), uint(p.height/16-1))
	s.u(3, 0b110) // whole pictures, no cropping
	if p.cut {
		s.u(1, 1)
	} else {
		s.u(1, 0)
	}
	q.ue(uint(p.id), uint(p.id))
	q.u(2, 0)
	q.ue(0, 0, 0)
	q.u(3, 0)
	q.ue(0, 0, 0)
	q.u(3, 0b100)
	return append(s.unit(0x67), q.unit(0x68)...)
}

// picture is one of a single grey, with that order; a keyframe, or one that repeats the one before.
func (p promise) picture(key bool, number, order int) []byte {
	var s coder
	blocks := uint(p.width / 16 * p.height / 16)
	if key {
		s.ue(0, 7, uint(p.id))
		s.u(8, 0)
		s.ue(0)
		s.u(16, uint(order&0xffff))
		s.u(2, 0)
	} else {
		s.ue(0, 5, uint(p.id))
		s.u(8, uint(number&0xff))
		s.u(16, uint(order&0xffff))
		s.u(3, 0)
	}
	s.ue(0, 1) // the same quantizer, no loop filter
	if !key {
		s.ue(blocks)
		return s.unit(0x41)
	}
	for range blocks {
		s.u(8, 0b00100111) // predicted from its neighbours, and nothing added
	}
	return s.unit(0x65)
}

// promiseH265 is the parameter sets of H.265: ITU-T H.265 §7.3.
func (p promise) setsH265() []byte {
	profile := func(c *coder) { // Main, level 5.1
		c.u(8, 1)
		c.u(32, 0x60000000)
		c.u(16, 0x9000)
		c.u(32, 0)
		c.u(8, 153)
	}
	var v, s, q coder
	v.u(32, 0x0c01ffff) // one layer, one sub-layer
	profile(&v)
	v.u(1, 1)
	v.ue(uint(p.references-1), 0, 0)
	v.u(6, 0)
	v.ue(0)
	v.u(2, 0)
	s.u(8, 1)
	profile(&s)
	s.ue(0, 1, uint(p.width), uint(p.height))
	s.u(1, 0)
	s.ue(0, 0, 4)
	s.u(1, 1)
	s.ue(uint(p.references-1), 0, 0)
	s.ue(0, 3, 0, 3, 0, 0) // blocks of 8 to 64, transforms of 4 to 32
	s.u(4, 0)
	s.ue(0)
	s.u(5, 0)
	q.ue(0, 0)
	q.u(7, 0)
	q.ue(0, 0, 0)
	q.u(3, 0)
	q.ue(0, 0)
	q.u(10, 0)
	q.ue(0)
	q.u(2, 0)
	return slices.Concat(v.unit(32<<1, 1), s.unit(33<<1, 1), q.unit(34<<1, 1))
}

// pictureH265 is a keyframe, or a picture that names so many that were never sent, before it and
// behind it. Of its blocks there is nothing.
func (p promise) pictureH265(key bool, order, missing int) []byte {
	var s coder
	if key {
		s.u(2, 0b10)
		s.ue(0, 2, 0)
		return append(s.unit(19<<1, 1), 0x55, 0x55, 0x55, 0x55)
	}
	s.u(1, 1)
	s.ue(0, 1)
	s.u(8, uint(order&0xff))
	s.u(1, 0)
	s.ue(uint(missing), uint(missing))
	for range 2 * missing {
		s.ue(0)
		s.u(1, 1)
	}
	s.u(1, 0)
	s.ue(0, 0)
	return append(s.unit(1<<1, 1), 0x55, 0x55, 0x55, 0x55)
}

// A stream that promises little and then delivers much takes no more memory than 256 MiB, whether
// it is refused or decoded: its references come in another order than it says, its size changes
// with every keyframe, its parameter sets cannot be read to the end, or are many.
func TestStreamsThatDeliverMore(t *testing.T) {
	const limit, most = 128 << 20, 256 << 20
	large := promise{width: 4096, height: 2304, references: 1}
	for name, c := range map[string]struct {
		format Format
		stream func(n int) []byte // access unit n
		refuse string             // what it is refused with; "": it is not
	}{
		"pictures in reverse": {H264, func(n int) []byte {
			if n == 0 {
				return append(large.sets(), large.picture(true, 0, 0)...)
			}
			return large.picture(false, n, 4000-2*n)
		}, "4096x2304 with 11 at one time take 210 MB of memory, and this machine allows a stream 192 MB"},
		"another size each time": {H264, func(n int) []byte {
			p := promise{width: 1280 + 256*(n%6), height: 720 + 272*(n%6), references: 1 + n%3}
			p.width, p.height = p.width/16*16, p.height/16*16
			return append(p.sets(), p.picture(true, 0, 0)...)
		}, ""},
		"cut off parameter set": {H264, func(n int) []byte {
			p := promise{width: 7680, height: 5120, references: 16, cut: true}
			if n == 0 {
				return append(p.sets(), p.picture(true, 0, 0)...)
			}
			return p.picture(false, n, 2*n)
		}, "7680x5120 with 16 to refer to take 1673 MB of memory, and this machine allows a stream 128 MB"},
		"small ones around a large one": {H264, func(n int) []byte {
			small := promise{width: 320, height: 240, references: 1}
			large := promise{id: 1, width: 7680, height: 5120, references: 16}
			au := append(large.sets(), small.sets()...)
			return append(au, large.picture(true, 0, 0)...)
		}, "7680x5120 with 16 to refer to take 1673 MB of memory, and this machine allows a stream 128 MB"},
		"31 sets of large pictures": {H264, func(n int) []byte {
			p := promise{id: n % 31, width: 4096, height: 2160 / 16 * 16, references: 1}
			return append(p.sets(), p.picture(true, 0, 0)...)
		}, ""},
		"H.265 that names what was never sent": {H265, func(n int) []byte {
			if n == 0 {
				return append(large.setsH265(), large.pictureH265(true, 0, 0)...)
			}
			return large.pictureH265(false, 20*n, 15)
		}, "4096x2304 with 11 at one time take 210 MB of memory, and this machine allows a stream 192 MB"},
		"H.265 that names one more each time": {H265, func(n int) []byte {
			if n%16 == 0 {
				return append(large.setsH265(), large.pictureH265(true, 0, 0)...)
			}
			return large.pictureH265(false, 20*n, n%16)
		}, "4096x2304 with 11 at one time take 210 MB of memory, and this machine allows a stream 192 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			e := New(Options{PictureBytes: limit})
			if _, err := e.library(); err != nil {
				t.Skipf("%v: %s", err, avcodec.Hint)
			}
			d, err := e.Open(c.format, 57_600)
			require.NoError(t, err)
			defer d.Close()
			before, worst, pictures := resident(t), 0, 0
			var refused error
			for n := range 120 {
				got, err := d.Decode(c.stream(n), int64(n))
				pictures += len(got)
				worst = max(worst, resident(t)-before)
				var unsupported *UnsupportedError
				if errors.As(err, &unsupported) {
					refused = err
					require.Less(t, d.video.Shared().Budget.Bytes, int64(limit), "what a refused stream had is freed")
				}
			}
			t.Logf("%d pictures, %d MiB at most, refused: %v", pictures, worst>>20, refused)
			require.Less(t, worst, most)
			if c.refuse == "" {
				require.NoError(t, refused)
				require.Positive(t, pictures)
				return
			}
			require.ErrorContains(t, refused, c.refuse)
		})
	}
}

// A decoder that is closed or flushed leaves no memory of pictures behind.
func TestPicturesAreFreed(t *testing.T) {
	e := New(Options{PictureBytes: 512 << 20})
	if _, err := e.library(); err != nil {
		t.Skipf("%v: %s", err, avcodec.Hint)
	}
	large := promise{width: 4096, height: 2304, references: 1}
	key := append(large.sets(), large.picture(true, 0, 0)...)
	before := 0
	for n := range 16 {
		d, err := e.Open(H264, 57_600)
		require.NoError(t, err)
		pictures, err := d.Decode(key, 0)
		require.NoError(t, err)
		if n%2 == 0 {
			more, err := d.Flush()
			require.NoError(t, err)
			pictures = append(pictures, more...)
			require.Len(t, pictures, 1)
		}
		d.Close()
		if n == 1 {
			before = resident(t)
		}
	}
	require.Less(t, resident(t)-before, 64<<20, "one has 20 MB")
}

// resident is this process's memory in bytes.
func resident(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	var size, pages int
	_, err = fmt.Sscan(string(b), &size, &pages)
	require.NoError(t, err)
	return pages * os.Getpagesize()
}
