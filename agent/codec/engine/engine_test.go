package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/avcodec"
	"vmsbridge/agent/codec/planar"
	"vmsbridge/agent/codec/testclip"
)

var engine = New(Options{})

func open(t testing.TB, f Format, lumaPixels int) *Decoder {
	if _, err := engine.library(); err != nil && f != MJPEG {
		t.Skipf("%v: %s", err, avcodec.Hint)
	}
	d, err := engine.Open(f, lumaPixels)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

// feed decodes a clip with presentation places as times.
func feed(t testing.TB, d *Decoder, clip testclip.Clip) []Picture {
	var all []Picture
	for i, au := range clip.Units {
		got, err := d.Decode(au, int64(clip.Order(i)))
		require.NoError(t, err)
		all = append(all, got...)
	}
	got, err := d.Flush()
	require.NoError(t, err)
	return append(all, got...)
}

func expandedLuma(v byte) int { return min(255, max(0, (int(v)-16)*255/219)) }

func expandedChroma(v byte) int { return min(255, max(0, 128+(int(v)-128)*255/224)) }

func at(p planar.Plane, x, y int) int { return int(p.Pix[y*p.Stride+x]) }

// The chain that a user sees: pictures of known brightness and colour, coded by ffmpeg, as luma and
// as a still that is decoded again. Limited range must come out expanded, full range as it is.
func TestColoursAndRange(t *testing.T) {
	for _, c := range []struct {
		format Format
		pixels string
		full   bool
	}{
		{H264, "yuv420p", false}, {H264, "yuv420p", true}, {H264, "yuv422p", false}, {H264, "yuv444p", false}, {H264,
			"yuv420p10le", false},
		{H265, "yuv420p", false}, {H265, "yuv420p", true}, {H265, "yuv420p10le", false}, {H265, "yuv420p10le",
			true}, {H265, "gray", false},
		{MJPEG, "yuvj420p", true}, {MJPEG, "yuvj422p", true}, {MJPEG, "yuvj444p", true},
	} {
		t.Run(fmt.Sprintf("%s/%s/full=%v", c.format, c.pixels, c.full), func(t *testing.T) {
			const W, H = 482, 274
			clip := testclip.Make(t, testclip.Spec{Codec: string(c.format), Width: W, Height: H, Frames: 2,
				PixFmt: c.pixels, Full: c.full})
			d := open(t, c.format, W*H/4)
			pictures := feed(t, d, clip)
			require.Len(t, pictures, 2)
			luma := expandedLuma
			chroma := expandedChroma
			if c.full {
				luma, chroma = func(v byte) int { return int(v) }, func(v byte) int { return int(v) }
			}
			for i, p := range pictures {
				require.Equal(t, []int{241, 137}, []int{p.LumaWidth, p.LumaHeight})
				for _, where := range spots(241, 137) {
					x, y := where[0], where[1]
					require.InDelta(t, luma(clip.Spec.Luma(i, 2*x, 2*y)), int(p.Luma[y*241+x]), 5, "reduced luma at %v",
						where)
				}
				for _, maxWidth := range []int{0, W, 200, 2000} {
					data, err := d.Still(p.PTS, maxWidth, 95)
					require.NoError(t, err)
					m, err := engine.jpeg().Decode(data)
					require.NoError(t, err)
					w, h := planar.FitWidth(W, H, maxWidth)
					require.Equal(t, []int{w, h}, []int{m.Width, m.Height})
					for _, where := range spots(w, h) {
						x, y := where[0], where[1]
						require.InDelta(t, luma(clip.Spec.Luma(i, x*W/w, y*H/h)), at(m.Y, x, y), 5,
							"still %d wide, luma at %v", maxWidth, where)
						cx, cy := x*m.Cb.Width/w, y*m.Cb.Height/h
						cb, cr := testclip.Chroma(cx, cy, m.Cb.Width, m.Cb.Height)
						wantCb, wantCr := chroma(cb), chroma(cr)
						if c.pixels == "gray" {
							wantCb, wantCr = 128, 128
						}
						require.InDelta(t, wantCb, at(m.Cb, cx, cy), 6, "still %d wide, Cb at %v", maxWidth, where)
						require.InDelta(t, wantCr, at(m.Cr, cx, cy), 6, "still %d wide, Cr at %v", maxWidth, where)
					}
				}
			}
		})
	}
}

// spots are places away from the edges of the block.
func spots(w, h int) [][2]int {
	return [][2]int{{2, 2}, {w / 2, h / 2}, {w - 3, 4}, {5, h - 3}, {w - 3, h - 3}, {w / 4, h / 4}}
}

func TestStillKeepsTheLastFour(t *testing.T) {
	for _, f := range []Format{H264, H265, MJPEG} {
		t.Run(string(f), func(t *testing.T) {
			clip := testclip.Make(t, testclip.Spec{Codec: string(f), Width: 64, Height: 64, Frames: 6})
			d := open(t, f, 0)
			for _, p := range feed(t, d, clip) {
				require.Nil(t, p.Luma, "none was asked for")
				require.Equal(t, []int{64, 64, 0, 0}, []int{p.Width, p.Height, p.LumaWidth, p.LumaHeight})
			}
			for pts := range int64(6) {
				data, err := d.Still(pts, 0, 90)
				if pts < 2 {
					require.ErrorIs(t, err, ErrGone)
					continue
				}
				require.NoError(t, err)
				if f == MJPEG {
					require.Equal(t, clip.Units[pts], data, "the camera's own")
					continue
				}
				m, err := engine.jpeg().Decode(data)
				require.NoError(t, err)
				require.InDelta(t, expandedLuma(testclip.Block(int(pts))), at(m.Y, 32, 32), 5)
			}
			_, err := d.Still(99, 0, 90)
			require.ErrorIs(t, err, ErrGone)
		})
	}
}

// Pictures that were ready when an access unit failed come with the next call.
func TestPicturesBehindAnError(t *testing.T) {
	clip := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 64, Height: 64, Frames: 2})
	d := open(t, H264, 100)
	frames, err := d.video.Decode(clip.Units[0], 1)
	require.NoError(t, err)
	rest, err := d.video.Flush()
	require.NoError(t, err)
	got, err := d.take(append(frames, rest...), fmt.Errorf("spoilt"))
	require.ErrorContains(t, err, "spoilt")
	require.Empty(t, got)
	got, err = d.Decode(clip.Units[0], 2)
	require.NoError(t, err)
	rest2, err := d.Flush()
	require.NoError(t, err)
	got = append(got, rest2...)
	require.Len(t, got, 2)
	require.EqualValues(t, 1, got[0].PTS)
}

func TestUnsupported(t *testing.T) {
	none := New(Options{})
	none.libErr, none.tried = &avcodec.MissingError{}, time.Now()
	for _, f := range []Format{H264, H265} {
		_, err := none.Open(f, 100)
		var u *UnsupportedError
		require.ErrorAs(t, err, &u)
		require.Equal(t, f, u.Format)
		require.ErrorContains(t, err, "apt install libavcodec59")
	}
	d, err := none.Open(MJPEG, 100)
	require.NoError(t, err, "MJPEG works without libavcodec")
	d.Close()
	c := none.Capabilities()
	require.False(t, c.H264.OK)
	require.Contains(t, c.H265.Hint, "apt install")
	require.True(t, c.JPEG.OK)

	_, err = none.Open("av1", 100)
	require.ErrorContains(t, err, "switch the camera to H.264")

	none.tried = time.Now().Add(-time.Hour) // and now it is looked for again
	if _, err := engine.library(); err == nil {
		d, err := none.Open(H264, 100)
		require.NoError(t, err)
		d.Close()
	}
}

func TestCapabilities(t *testing.T) {
	c := engine.Capabilities()
	if _, err := engine.library(); err != nil {
		t.Skipf("%v: %s", err, avcodec.Hint)
	}
	require.True(t, c.H264.OK)
	require.True(t, c.H265.OK)
	require.Equal(t, "libavcodec", c.H264.Library)
	require.Regexp(t, `^\d+\.\d+\.\d+$`, c.H264.Version)
	require.Contains(t, c.H264.Path, "libavcodec.so")
	require.NotEmpty(t, c.JPEG.Library)
}

// A panic of ours is that stream's error.
func TestPanicIsAnError(t *testing.T) {
	d := open(t, MJPEG, 100)
	d.jpegs = nil
	clip := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 64, Height: 64, Frames: 1})
	_, err := d.Decode(clip.Units[0], 1)
	require.ErrorContains(t, err, "internal error")
}

// FuzzDecode: random bytes as access units of any format, then a good one.
func FuzzDecode(f *testing.F) {
	if _, err := engine.library(); err != nil {
		f.Skipf("%v: %s", err, avcodec.Hint)
	}
	r := rand.New(rand.NewPCG(1, 1))
	rubbish := make([]byte, 300)
	for i := range rubbish {
		rubbish[i] = byte(r.Uint32())
	}
	for i := range uint8(3) {
		f.Add(i, rubbish)
		f.Add(i, []byte{0, 0, 0, 1, 0x67, 0x42, 0, 0x1f, 0xff, 0xff, 0xff, 0xff})
		f.Add(i, []byte{0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, 0xff, 0xff, 0xff, 0xff, 3})
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		if len(data) == 0 || len(data) > 1<<16 {
			return
		}
		d, err := engine.Open([]Format{H264, H265, MJPEG}[which%3], 400)
		require.NoError(t, err)
		defer d.Close()
		half := len(data) / 2
		for i, au := range [][]byte{data, data[:max(1, half)], append(bytes.Clone(data), data...)} {
			pictures, err := d.Decode(au, int64(i))
			if err != nil {
				require.NotContains(t, err.Error(), "internal error")
			}
			for _, p := range pictures {
				require.Len(t, p.Luma, p.LumaWidth*p.LumaHeight)
				if p.Width*p.Height < 1<<20 {
					_, _ = d.Still(p.PTS, 32, 50)
				}
			}
		}
		_, _ = d.Flush()
	})
}

// A decoder that was asked for by name, and gives no pictures any more, is replaced.
func TestADecoderByNameThatGivesNothing(t *testing.T) {
	e := New(Options{Decoders: []string{"h264"}})
	lib, err := e.library()
	if err != nil {
		t.Skipf("%v: %s", err, avcodec.Hint)
	}
	require.Equal(t, "h264", lib.Preferred(avcodec.H264))
	require.Equal(t, "h264", e.Capabilities().H264.Decoder)
	d, err := e.Open(H264, 57_600)
	require.NoError(t, err)
	defer d.Close()
	require.Nil(t, d.Shared(), "it may be replaced")
	clip := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 160, Height: 96, Frames: 8})
	require.Len(t, feed(t, d, clip), 8)
	for range maxBarren {
		require.Equal(t, "h264", d.video.Named())
		_, err = d.Decode([]byte{0, 0, 0, 1, 0x41, 0xff, 0xff}, 9)
	}
	require.ErrorContains(t, err, "decoded in software from now on")
	require.Empty(t, d.video.Named())
	require.Len(t, feed(t, d, clip), 8)
}

// Where none of those that are asked for by name can be used, it says so, and decodes.
func TestDecodersByNameThatAreNotThere(t *testing.T) {
	e := New(Options{Decoders: []string{"h264_nobody"}})
	if _, err := e.library(); err != nil {
		t.Skipf("%v: %s", err, avcodec.Hint)
	}
	c := e.Capabilities()
	require.True(t, c.H264.OK)
	require.Regexp(t, `^decoded in software: h264_nobody cannot be used: .*built without it`, c.H264.Problem)
	require.Contains(t, c.H264.Hint, "decode.decoders")
	require.Empty(t, c.H265.Problem, "nothing was asked for")
}
