package avcodec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/planar"
	"vmsbridge/agent/codec/testclip"
)

// shared is the library under test. To test other versions of libavcodec, name folders that hold
// them:
//
//	VMSBRIDGE_TEST_LIBRARY_DIRS=/opt/ffmpeg-7/lib go test ./agent/codec/avcodec
var shared = sync.OnceValues(func() (*Library, error) {
	return Open(filepath.SplitList(os.Getenv("VMSBRIDGE_TEST_LIBRARY_DIRS")))
})

func library(t testing.TB) *Library {
	lib, err := shared()
	if err != nil {
		t.Skipf("%v: %s", err, Hint)
	}
	require.Empty(t, lib.failed)
	return lib
}

var codecNames = map[Codec]string{H264: "h264", H265: "h265"}

func newDecoder(t testing.TB, c Codec) *Decoder {
	d, err := library(t).NewDecoder(c, true)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

// decodeAll feeds a clip with its presentation places as times.
func decodeAll(t testing.TB, d *Decoder, clip testclip.Clip) []*Frame {
	var frames []*Frame
	t.Cleanup(func() {
		for _, f := range frames {
			f.Close()
		}
	})
	for i, au := range clip.Units {
		got, err := d.Decode(au, int64(clip.Order(i)))
		frames = append(frames, got...)
		require.NoError(t, err)
	}
	got, err := d.Flush()
	frames = append(frames, got...)
	require.NoError(t, err)
	return frames
}

func narrow(p planar.Plane, x, y int) int {
	at := y*p.Stride + x*max(1, p.Step)
	if p.Bits > 8 {
		return (int(p.Pix[at]) | int(p.Pix[at+1])<<8) >> (p.Bits - 8)
	}
	return int(p.Pix[at])
}

func TestPixelFormats(t *testing.T) {
	for _, c := range []struct {
		codec  Codec
		format string
		dx, dy int
		full   bool
	}{
		{H264, "yuv420p", 2, 2, false}, {H264, "yuv420p", 2, 2, true}, {H264, "yuv422p", 2, 1, false}, {H264, "yuv444p",
			1, 1, false},
		{H264, "yuv420p10le", 2, 2, false}, {H264, "yuv420p10le", 2, 2, true}, {H264, "yuv422p10le", 2, 1, false},
		{H265, "yuv420p", 2, 2, false}, {H265, "yuv420p", 2, 2, true}, {H265, "gray", 0, 0, false}, {H265, "yuv422p", 2,
			1, false},
		{H265, "yuv444p", 1, 1, false}, {H265, "yuv420p10le", 2, 2, false}, {H265, "yuv420p10le", 2, 2, true},
	} {
		t.Run(fmt.Sprintf("%s/%s/full=%v", c.codec, c.format, c.full), func(t *testing.T) {
			const w, h = 322, 182 // no multiple of anything
			clip := testclip.Make(t, testclip.Spec{Codec: codecNames[c.codec], Width: w, Height: h, Frames: 2,
				PixFmt: c.format, Full: c.full})
			frames := decodeAll(t, newDecoder(t, c.codec), clip)
			require.Len(t, frames, 2)
			for i, f := range frames {
				m, err := f.Image()
				require.NoError(t, err)
				require.Equal(t, []int{w, h}, []int{m.Width, m.Height})
				require.Equal(t, c.full, m.FullRange)
				require.Equal(t, c.dx == 0, m.Gray())
				for _, at := range [][2]int{{2, 2}, {160, 90}, {319, 5}, {10, 178}} {
					x, y := at[0], at[1]
					require.InDelta(t, int(clip.Spec.Luma(i, x, y)), narrow(m.Y, x, y), 3, "luma at %v", at)
					if c.dx == 0 {
						continue
					}
					cw, ch := (w+c.dx-1)/c.dx, (h+c.dy-1)/c.dy
					require.Equal(t, []int{cw, ch, cw, ch}, []int{m.Cb.Width, m.Cb.Height, m.Cr.Width, m.Cr.Height})
					cb, cr := testclip.Chroma(x/c.dx, y/c.dy, cw, ch)
					require.InDelta(t, int(cb), narrow(m.Cb, x/c.dx, y/c.dy), 4, "Cb at %v", at)
					require.InDelta(t, int(cr), narrow(m.Cr, x/c.dx, y/c.dy), 4, "Cr at %v", at)
				}
			}
		})
	}
}

// Pictures come out in presentation order with their own times, whether those are read from the
// frame or kept beside.
func TestTimes(t *testing.T) {
	for _, codec := range []Codec{H264, H265} {
		for _, b := range []int{0, 1} {
			for _, kept := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/bframes=%d/kept=%v", codec, b, kept), func(t *testing.T) {
					clip := testclip.Make(t, testclip.Spec{Codec: codecNames[codec], Width: 160, Height: 96, Frames: 30,
						BFrames: b, Keyint: 15})
					lib := *library(t)
					if kept {
						lib.ptsOffset = 0
					} else if lib.ptsOffset == 0 {
						t.Skip("this libavcodec keeps its times elsewhere: try one of Debian 12 or 13")
					}
					d, err := lib.NewDecoder(codec, true)
					require.NoError(t, err)
					defer d.Close()
					frames := decodeAll(t, d, clip)
					require.Len(t, frames, 30)
					for i, f := range frames {
						require.EqualValues(t, i, f.PTS)
						m, err := f.Image()
						require.NoError(t, err)
						require.InDelta(t, int(testclip.Block(i)), narrow(m.Y, 80, 48), 3, "picture %d", i)
					}
				})
			}
		}
	}
}

func TestTimeHeap(t *testing.T) {
	var h timeHeap
	for _, v := range []int64{5, -3, 9, 9, 0} {
		h.push(v)
	}
	h.remove(9)
	h.remove(77)
	var got []int64
	for len(h) > 0 {
		got = append(got, h.pop())
	}
	require.Equal(t, []int64{-3, 0, 5, 9}, got)
	for i := range int64(1000) {
		h.push(i)
	}
	require.Len(t, h, maxFrames, "it does not grow")
	require.EqualValues(t, 1000-maxFrames, h.pop(), "the oldest were dropped")
}

// Frames outlive their decoder.
func TestFramesStayAfterClose(t *testing.T) {
	clip := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 160, Height: 96, Frames: 3})
	d, err := library(t).NewDecoder(H264, true)
	require.NoError(t, err)
	frames := decodeAll(t, d, clip)
	d.Close()
	d.Close()
	for i, f := range frames {
		m, err := f.Image()
		require.NoError(t, err)
		require.InDelta(t, int(testclip.Block(i)), narrow(m.Y, 80, 48), 3)
	}
}

// After Flush, the decoder starts anew with a keyframe; without one nothing comes out.
func TestFlushForgets(t *testing.T) {
	for _, codec := range []Codec{H264, H265} {
		clip := testclip.Make(t, testclip.Spec{Codec: codecNames[codec], Width: 160, Height: 96, Frames: 8})
		d := newDecoder(t, codec)
		require.Len(t, decodeAll(t, d, clip), 8)
		require.Len(t, decodeAll(t, d, clip), 8, "again from the keyframe")
		var n int
		for i, au := range clip.Units[1:] {
			frames, _ := d.Decode(au, int64(i))
			n += len(frames)
			for _, f := range frames {
				f.Close()
			}
		}
		require.Zero(t, n, "%s: pictures without a keyframe", codec)
	}
}

// A picture of more than 40 megapixels is refused by its parameter sets, before memory is taken for
// it. The files are the first bytes of one picture of ffmpeg's color source by libx264 and libx265.
func TestTooLarge(t *testing.T) {
	for codec, name := range map[Codec]string{H264: "7008x6000.264", H265: "7000x6000.265"} {
		t.Run(string(codec), func(t *testing.T) {
			huge, err := os.ReadFile(filepath.Join("testdata", name))
			require.NoError(t, err)
			d := newDecoder(t, codec)
			before := resident(t)
			frames, err := d.Decode(huge, 1)
			require.Empty(t, frames)
			require.Error(t, err)
			require.Less(t, resident(t)-before, 20<<20, "memory taken")
			clip := testclip.Make(t, testclip.Spec{Codec: codecNames[codec], Width: 160, Height: 96, Frames: 2})
			require.Len(t, decodeAll(t, d, clip), 2, "usable afterwards")
		})
	}
}

// resident is this process's memory in bytes.
func resident(t testing.TB) int {
	b, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	var size, pages int
	_, err = fmt.Sscan(string(b), &size, &pages)
	require.NoError(t, err)
	return pages * os.Getpagesize()
}

// Damage ends in errors or wrong pictures, and the next keyframe heals it.
func TestDamaged(t *testing.T) {
	for _, codec := range []Codec{H264, H265} {
		t.Run(string(codec), func(t *testing.T) {
			clip := testclip.Make(t, testclip.Spec{Codec: codecNames[codec], Width: 320, Height: 180, Frames: 20,
				BFrames: 1, Keyint: 10})
			d := newDecoder(t, codec)
			r := rand.New(rand.NewPCG(1, 2))
			errs := 0
			for round := range 60 {
				for i, au := range clip.Units {
					bad := bytes.Clone(au)
					switch r.IntN(5) {
					case 0:
						bad = bad[:1+r.IntN(len(bad)-1)]
					case 1:
						for range 1 + r.IntN(20) {
							bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
						}
					case 2:
						bad = make([]byte, 1+r.IntN(2000))
						for j := range bad {
							bad[j] = byte(r.Uint32())
						}
					case 3:
						continue
					}
					frames, err := d.Decode(bad, int64(round*100+i))
					if err != nil {
						errs++
					}
					for _, f := range frames {
						if m, err := f.Image(); err == nil {
							_ = planar.Luma(m, 1, 1)
						}
						f.Close()
					}
				}
			}
			require.Positive(t, errs)
			_, _ = d.Flush()
			require.Len(t, decodeAll(t, d, clip), 20, "healed")
		})
	}
}

func TestDecodeRefusesSizes(t *testing.T) {
	d := newDecoder(t, H264)
	_, err := d.Decode(nil, 1)
	require.ErrorContains(t, err, "0 bytes")
	_, err = d.Decode(make([]byte, MaxAccessUnit+1), 1)
	require.ErrorContains(t, err, "16777217 bytes")
	_, err = d.Decode(bytes.Repeat([]byte{0, 0, 1, 0x65}, MaxUnits+1), 1)
	require.ErrorContains(t, err, "4097 NAL units")
}

// The test must be able to refuse: wrong pictures, wrong size, a codec that is not there.
func TestSelfTestRefuses(t *testing.T) {
	lib := *library(t)
	ok := tests[0]
	require.NoError(t, lib.decodes(ok, "", func(int, *Frame) {}))

	wrong := ok
	wrong.luma = slices.Clone(ok.luma)
	wrong.luma[2]++
	require.ErrorContains(t, lib.decodes(wrong, "", func(int, *Frame) {}), "picture 2: it was decoded wrongly")

	missing := ok
	missing.luma = append(slices.Clone(ok.luma), 0)
	require.ErrorContains(t, lib.decodes(missing, "", func(int, *Frame) {}), "3 pictures came out, not 4")

	other := ok
	other.clip = bytes.Join(testclip.Make(t, testclip.Spec{Codec: "h264", Width: 160, Height: 96, Frames: 3}).Units,
		nil)
	require.ErrorContains(t, lib.decodes(other, "", func(int, *Frame) {}), "160x96, not 64x64")

	absent := ok
	absent.codec = "no-such-codec"
	require.ErrorContains(t, lib.decodes(absent, "", func(int, *Frame) {}), "built without it")

	lib.failed = map[Codec]error{H265: fmt.Errorf("did not pass")}
	_, err := lib.NewDecoder(H265, true)
	require.ErrorContains(t, err, "did not pass")
}

// What is found in a folder but is no libavcodec is named; nothing found is said plainly.
func TestOpenNamesWhatItTried(t *testing.T) {
	_, err := open(nil)
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	require.EqualError(t, err, "no libavcodec with a version from 58 to 62 was found")

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "libavcodec.so.61"), []byte("not a library"), 0o600))
	_, err = open([]string{dir})
	require.ErrorAs(t, err, &missing)
	require.Len(t, missing.Tried, 1)
	require.ErrorContains(t, err, filepath.Join(dir, "libavcodec.so.61"))

	lib := library(t)
	if lib.Path == "" {
		t.Skip("the file of the libavcodec found here is not known: name its folder in VMSBRIDGE_TEST_LIBRARY_DIRS")
	}
	// The right library under a wrong number.
	wrong := "libavcodec.so.58"
	if strings.HasPrefix(lib.Version, "58.") {
		wrong = "libavcodec.so.62"
	}
	dir = t.TempDir()
	require.NoError(t, os.Symlink(lib.Path, filepath.Join(dir, wrong)))
	_, err = open([]string{dir})
	require.ErrorContains(t, err, wrong)
}

// A folder of one's own comes before the system's.
func TestOpenPrefersFolders(t *testing.T) {
	lib := library(t)
	var major int
	_, err := fmt.Sscanf(lib.Version, "%d.", &major)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(lib.Path, filepath.Join(dir, fmt.Sprintf("libavcodec.so.%d", major))))
	got, err := open([]string{dir})
	require.NoError(t, err)
	require.Equal(t, lib.Version, got.Version)
	t.Logf("libavcodec %s from %s, times in the frame: %v", lib.Version, lib.Path, lib.ptsOffset != 0)
}

// Several decoders at once, with the collector running, give what one gives.
func TestManyAtOnce(t *testing.T) {
	clip := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 160, Height: 96, Frames: 20, BFrames: 1})
	lib := library(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			d, err := lib.NewDecoder(H264, true)
			if err != nil {
				t.Error(err)
				return
			}
			defer d.Close()
			for range 3 {
				n := 0
				take := func(frames []*Frame, err error) {
					if err != nil {
						t.Error(err)
					}
					for _, f := range frames {
						m, err := f.Image()
						if err != nil || f.PTS != int64(n) || narrow(m.Y, 80, 48) < int(testclip.Block(n))-3 ||
							narrow(m.Y, 80, 48) > int(testclip.Block(n))+3 {
							t.Errorf("picture %d is wrong: time %d, %v", n, f.PTS, err)
						}
						n++
						f.Close()
					}
				}
				for i, au := range clip.Units {
					take(d.Decode(bytes.Clone(au), int64(clip.Order(i))))
				}
				take(d.Flush())
				if n != 20 {
					t.Errorf("%d pictures", n)
				}
			}
		})
	}
	wg.Wait()
}

// FuzzDecode: whatever the bytes, decoding ends, and what comes out can be read.
func FuzzDecode(f *testing.F) {
	lib := library(f)
	for _, t := range tests {
		f.Add(t.codec == H265, t.clip)
		f.Add(t.codec == H265, t.clip[:len(t.clip)/2])
	}
	f.Fuzz(func(t *testing.T, h265 bool, data []byte) {
		codec := H264
		if h265 {
			codec = H265
		}
		if len(data) == 0 || len(data) > 1<<16 {
			return
		}
		d, err := lib.NewDecoder(codec, true)
		require.NoError(t, err)
		defer d.Close()
		frames, _ := d.Decode(data, 1)
		rest, _ := d.Flush()
		for _, f := range append(frames, rest...) {
			if m, err := f.Image(); err == nil {
				require.NoError(t, m.Check())
				_ = planar.Luma(m, 1, 1)
			}
			f.Close()
		}
	})
}

// A decoder that somebody names is taken if it decodes its codec exactly; of each other one it is
// said why not, and libavcodec's own decodes on.
func TestPrefer(t *testing.T) {
	lib, err := open([]string{""}) // of its own: what is preferred stays
	if err != nil {
		t.Skipf("%v: %s", err, Hint)
	}
	refused := lib.Prefer([]string{"mjpeg", "h264_nobody", "h264_v4l2m2m", "h264", "h264_cuvid", "hevc_v4l2m2m"})
	if lib.Preferred(H264) == "h264_v4l2m2m" {
		t.Skip("this machine decodes H.264 in hardware")
	}
	require.Equal(t, "h264", lib.Preferred(H264))
	require.Empty(t, lib.Preferred(H265))
	for name, why := range map[string]string{
		"mjpeg":        "its name does not begin with h264_ or hevc_",
		"h264_nobody":  "this libavcodec was built without it",
		"h264_v4l2m2m": "open decoder h264",
		"h264_cuvid":   "h264 is taken",
		"hevc_v4l2m2m": "open decoder hevc",
	} {
		require.ErrorContains(t, refused[name], why, name)
	}
	require.Len(t, refused, 5)
	d, err := lib.NewDecoder(H264, true)
	require.NoError(t, err)
	defer d.Close()
	require.Equal(t, "h264", d.Named())
	own, err := lib.NewDecoder(H264, false)
	require.NoError(t, err)
	defer own.Close()
	require.Empty(t, own.Named())
}
