//go:build cgo && (amd64 || arm64)

package worker

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vmsbridge/agent/codec/engine"
	"vmsbridge/agent/codec/steady"
	"vmsbridge/agent/codec/testclip"
)

// byFiles is what the loop in C answers to requests, and how many of them took no step of Go. Files
// stand for the pipes.
func byFiles(t testing.TB, requests []byte, e *engine.Engine, before func([]byte)) (replies []byte, served int,
	err error) {
	replies, served, _, err = byFilesAnd(t, nil, requests, e, before)
	return replies, served, err
}

// byFilesAnd is byFiles with memory for pictures, and says how many stills took no step of Go.
func byFilesAnd(t testing.TB, shared, requests []byte, e *engine.Engine, before func([]byte)) (replies []byte,
	served, stills int, err error) {
	var files [2]*os.File
	for i := range files {
		fd, ferr := unix.MemfdCreate("pipe", 0)
		require.NoError(t, ferr)
		files[i] = os.NewFile(uintptr(fd), "pipe")
	}
	_, ferr := files[0].WriteAt(requests, 0)
	require.NoError(t, ferr)
	loop := steady.New(files[0], files[1], shared, e.Functions(), before != nil)
	require.NotNil(t, loop)
	err = serve(loop, files[1], e, before, loop)
	served, stills = loop.Served(), loop.Stills()
	loop.Close()
	require.NoError(t, files[0].Close())
	_, ferr = files[1].Seek(0, io.SeekStart)
	require.NoError(t, ferr)
	replies, ferr = io.ReadAll(files[1])
	require.NoError(t, ferr)
	require.NoError(t, files[1].Close())
	return replies, served, stills, err
}

func video(t testing.TB) *engine.Engine {
	e := engine.New(engine.Options{PictureBytes: 8 << 20})
	e.Load(true)
	if e.Functions().FramePTS == 0 {
		t.Skip("libavcodec is not there, or its frames are not as expected: scripts/deps installs it")
	}
	return e
}

// film is requests that open a decoder, feed clips to it one after the other, and ask for stills.
func film(number uint32, f engine.Format, luma int, spoil func(i int, au []byte) []byte,
	clips ...testclip.Clip) (requests []byte, units int) {
	requests = AppendOpen(nil, number, f, luma)
	for _, c := range clips {
		for _, au := range c.Units {
			if spoil != nil {
				au = spoil(units, bytes.Clone(au))
			}
			lumaFrom := []int64{math.MinInt64, int64(units), int64(units + 1), int64(units - 2)}[units%4]
			requests = AppendDecode(requests, number, au, int64(units), lumaFrom)
			if units%5 == 4 {
				requests = AppendStill(requests, number, int64(units-2), 160, 70)
				requests = AppendStill(requests, number, int64(units), 0, 70)
			}
			units++
		}
	}
	requests = AppendFrame(requests, Flush, number)
	return AppendFrame(requests, Close, number), units
}

// The loop in C answers byte for byte what the one in Go does, and serves by itself what comes all
// the time.
func TestBothLoopsAnswerTheSame(t *testing.T) {
	e := video(t)
	clip := func(s testclip.Spec) testclip.Clip {
		if s.Width == 0 {
			s.Width, s.Height = 320, 180
		}
		s.Frames = 24
		return testclip.Make(t, s)
	}
	plain := clip(testclip.Spec{Codec: "h264", Keyint: 8})
	for _, c := range []struct {
		name   string
		format engine.Format
		luma   int
		clips  []testclip.Clip
		spoil  func(i int, au []byte) []byte
		least  int // served without Go
	}{
		{"h264", engine.H264, 14_400, []testclip.Clip{plain}, nil, 22},
		{"h264 without luma", engine.H264, 0, []testclip.Clip{plain}, nil, 22},
		{"h265", engine.H265, 14_400, []testclip.Clip{clip(testclip.Spec{Codec: "h265", Keyint: 8})}, nil, 22},
		{"B-frames", engine.H264, 14_400, []testclip.Clip{clip(testclip.Spec{Codec: "h264", BFrames: 2, Keyint: 12})},
			nil, 15},
		{"full range", engine.H264, 14_400, []testclip.Clip{clip(testclip.Spec{Codec: "h264", Full: true,
			PixFmt: "yuvj420p", Keyint: 8})}, nil, 22},
		{"4:2:2", engine.H264, 14_400, []testclip.Clip{clip(testclip.Spec{Codec: "h264", PixFmt: "yuv422p",
			Keyint: 8})}, nil, 22},
		{"ten bits", engine.H264, 14_400, []testclip.Clip{clip(testclip.Spec{Codec: "h264", PixFmt: "yuv420p10le",
			Keyint: 8})}, nil, 0},
		{"another shape", engine.H264, 57_600, []testclip.Clip{clip(testclip.Spec{Codec: "h264", Width: 352,
			Height: 288, Keyint: 8})}, nil, 22},
		{"other sizes and ranges on the way", engine.H264, 14_400, []testclip.Clip{plain,
			clip(testclip.Spec{Codec: "h264", Width: 352, Height: 288, Keyint: 8}), plain,
			clip(testclip.Spec{Codec: "h264", Full: true, PixFmt: "yuvj420p", Keyint: 8}),
			clip(testclip.Spec{Codec: "h264", PixFmt: "yuv420p10le", Keyint: 8}), plain}, nil, 80},
		{"damaged", engine.H264, 14_400, []testclip.Clip{plain, plain, plain}, func(i int, au []byte) []byte {
			switch i % 7 {
			case 3:
				au[len(au)/2] ^= 0x55
			case 4:
				return au[:max(len(au)/3, 1)]
			case 5:
				return []byte("rubbish")
			}
			return au
		}, 20},
		{"too many units", engine.H264, 14_400, []testclip.Clip{plain}, func(i int, au []byte) []byte {
			if i == 9 {
				return append(au, bytes.Repeat([]byte{0, 0, 1, 0x0c}, 4097)...)
			}
			return au
		}, 20},
		{"a set that asks for too much", engine.H264, 14_400, []testclip.Clip{plain,
			clip(testclip.Spec{Codec: "h264", Width: 1280, Height: 720, QP: 40, Keyint: 24}), plain}, nil, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			requests, units := film(3, c.format, c.luma, c.spoil, c.clips...)
			var want bytes.Buffer
			require.NoError(t, Serve(bytes.NewReader(requests), &want, e, nil))
			got, served, err := byFiles(t, requests, e, nil)
			require.NoError(t, err)
			t.Logf("%d of %d access units took no step of Go", served, units)
			require.GreaterOrEqual(t, served, c.least)
			require.Equal(t, want.Len(), len(got))
			require.True(t, bytes.Equal(want.Bytes(), got), "other replies")
			seen := 0
			looked, _, err := byFiles(t, requests, e, func([]byte) { seen++ })
			require.NoError(t, err)
			require.True(t, bytes.Equal(got, looked))
			require.Equal(t, units, seen, "each access unit is looked at once")
		})
	}
}

// A still in full size is made in C, of any size and quality, and has the bytes of Go's. One that
// is to be shrunk, of another kind of pictures, or not kept is for Go.
func TestStillsOfBothLoops(t *testing.T) {
	e := video(t)
	widths := []int{0, 2000, -1, 40} // the last one shrinks
	for _, c := range []struct {
		testclip.Spec
		stills int
	}{
		{testclip.Spec{Codec: "h264", Width: 320, Height: 180}, 3},
		{testclip.Spec{Codec: "h264", Width: 66, Height: 50}, 3}, // blocks that are not whole
		{testclip.Spec{Codec: "h264", Width: 96, Height: 64, Full: true, PixFmt: "yuvj420p"}, 3},
		{testclip.Spec{Codec: "h265", Width: 98, Height: 66}, 3},
		{testclip.Spec{Codec: "h264", Width: 96, Height: 64, PixFmt: "yuv422p"}, 0},
	} {
		c.Frames = 6
		clip := testclip.Make(t, c.Spec)
		for _, quality := range []int{0, 1, 50, 80, 95, 100, 255} {
			requests := AppendOpen(nil, 2, engine.Format(c.Codec), 768)
			for i, au := range clip.Units {
				requests = AppendDecode(requests, 2, au, int64(i), math.MinInt64)
			}
			for _, w := range widths {
				requests = AppendStill(requests, 2, int64(len(clip.Units)-2), w, quality)
			}
			requests = AppendStill(requests, 2, 0, 0, quality) // long gone
			var want bytes.Buffer
			require.NoError(t, Serve(bytes.NewReader(requests), &want, e, nil))
			got, _, stills, err := byFilesAnd(t, nil, requests, e, nil)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want.Bytes(), got), "%+v in quality %d", c.Spec, quality)
			require.Equal(t, c.stills, stills, "%+v in quality %d", c.Spec, quality)
		}
	}
}

// Pictures that are placed in shared memory are those that would come through the pipe, which takes
// what has no room there.
func TestPicturesInSharedMemory(t *testing.T) {
	e := video(t)
	clip := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 320, Height: 180, Frames: 24, Keyint: 8})
	requests, _ := film(3, engine.H264, 14_400, nil, clip)
	more := bytes.Clone(requests) // as if no reply were read until all are there
	for at := 0; at < len(more); {
		f, size, err := ParseFrame(more[at:], MaxRequest)
		require.NoError(t, err)
		if f.Kind == Decode {
			more[at+4] = byte(DecodeMore)
		}
		at += size
	}
	const luma = 160*90 + pictureBytes
	for _, c := range []struct {
		name          string
		requests      []byte
		bytes         int // that are shared
		least, most   int // placed
		first, beyond bool
	}{
		{"one after the other", requests, luma, 22, 24, true, false},
		{"together", more, 10 * luma, 10, 21, false, true},
		{"no room", more, luma - 1, 1, 12, false, true}, // those without luma have some
	} {
		t.Run(c.name, func(t *testing.T) {
			var want bytes.Buffer
			require.NoError(t, Serve(bytes.NewReader(c.requests), &want, e, nil))
			shared, err := unix.Mmap(-1, 0, c.bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
			require.NoError(t, err)
			defer func() { require.NoError(t, unix.Munmap(shared)) }()
			got, served, _, err := byFilesAnd(t, shared[:c.bytes], c.requests, e, nil)
			require.NoError(t, err)
			placed, size := 0, 0
			for at, rest := 0, want.Bytes(); at < len(got); at += size {
				var f, wanted Frame
				f, size, err = ParseFrame(got[at:], MaxReply)
				require.NoError(t, err)
				wanted, n, err := ParseFrame(rest, MaxReply)
				require.NoError(t, err)
				rest = rest[n:]
				if f.Kind == Placed {
					placed++
					require.False(t, c.first && binary.LittleEndian.Uint32(f.Body) != 0, "not from the beginning")
					if c.first { // the next one lies in the same place
						continue
					}
				}
				f, _, err = Place(f, shared[:c.bytes], nil)
				require.NoError(t, err)
				require.Equal(t, wanted, f)
			}
			require.GreaterOrEqual(t, placed, c.least)
			require.LessOrEqual(t, placed, c.most)
			require.Equal(t, c.beyond, placed < served, "through the pipe")
		})
	}
}

// A picture that is kept for stills has given way before the next one needs memory: a stream whose
// pictures refer to one takes no more than those that are kept.
func TestKeptPicturesGiveWay(t *testing.T) {
	e := video(t)
	for _, f := range []engine.Format{engine.H264, engine.H265} {
		clip := testclip.Make(t, testclip.Spec{Codec: string(f), Width: 320, Height: 180, Frames: 24, Keyint: 8})
		requests, _ := film(3, f, 14_400, nil, clip)
		requests = requests[:len(requests)-2*headerBytes] // it stays open
		for name, loop := range map[string]bool{"Go": false, "C": true} {
			s := server{engine: e, decoders: map[uint32]*engine.Decoder{}}
			in, err := os.CreateTemp(t.TempDir(), "")
			require.NoError(t, err)
			defer in.Close()
			_, err = in.WriteAt(requests, 0)
			require.NoError(t, err)
			out, err := os.CreateTemp(t.TempDir(), "")
			require.NoError(t, err)
			defer out.Close()
			var from io.Reader = in
			if loop {
				s.loop = steady.New(in, out, nil, e.Functions(), false)
				defer s.loop.Close()
				from = s.loop
			}
			require.NoError(t, s.serve(from, out))
			require.EqualValues(t, steady.Kept, s.decoders[3].Shared().Budget.Holds, "%s in %s", f, name)
			s.closeAll()
		}
	}
}

// A reply that nobody reads ends the loop, and so does a request that is cut off.
func TestTheLoopEnds(t *testing.T) {
	e := video(t)
	clip := testclip.Make(t, testclip.Spec{Codec: "h264", Width: 320, Height: 180, Frames: 6})
	requests, _ := film(1, engine.H264, 14_400, nil, clip)
	for _, cut := range []int{5, 14, 2000, len(requests) / 2, len(requests) - 30} {
		var want bytes.Buffer
		wantErr := Serve(bytes.NewReader(requests[:cut]), &want, e, nil)
		got, _, err := byFiles(t, requests[:cut], e, nil)
		require.Equal(t, wantErr, err)
		require.True(t, bytes.Equal(want.Bytes(), got))
	}
	inRead, inWrite, err := os.Pipe()
	require.NoError(t, err)
	outRead, outWrite, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, outRead.Close())
	go func() {
		_, _ = inWrite.Write(requests[len(AppendOpen(nil, 1, engine.H264, 0)):])
		_ = inWrite.Close()
	}()
	require.ErrorContains(t, ServeFiles(inRead, outWrite, nil, e, nil), "broken pipe")
}

// What one loop answers to damaged requests and streams, the other answers too.
func TestBothLoopsMeetDamage(t *testing.T) {
	e := video(t)
	r := rand.New(rand.NewPCG(5, 6))
	for _, codec := range []string{"h264", "h265"} {
		clip := testclip.Make(t, testclip.Spec{Codec: codec, Width: 64, Height: 48, Frames: 12, Keyint: 4, QP: 30})
		whole, _ := film(1, engine.Format(codec), 768, nil, clip, clip)
		allServed := 0
		for round := range 300 {
			requests := bytes.Clone(whole)
			for range 1 + r.IntN(3) {
				at := r.IntN(len(requests) - 40)
				switch r.IntN(4) {
				case 0:
					requests[at] ^= 1 << r.IntN(8)
				case 1:
					requests[at] = byte(r.Uint32())
				case 2:
					copy(requests[at:], requests[r.IntN(len(requests)-40):][:1+r.IntN(39)])
				case 3:
					requests = append(requests[:at], requests[at+1+r.IntN(39):]...)
				}
			}
			var want bytes.Buffer
			wantErr := Serve(bytes.NewReader(requests), &want, e, nil)
			got, served, err := byFiles(t, requests, e, nil)
			allServed += served
			require.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err), "%s, round %d", codec, round)
			require.Equal(t, want.Len(), len(got), "%s, round %d", codec, round)
		}
		require.Greater(t, allServed, 1000, "without Go")
	}
}
