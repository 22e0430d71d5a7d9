package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/engine"
	"vmsbridge/agent/codec/testclip"
)

// script is requests in, replies out, by one Serve.
func script(t *testing.T, before func([]byte), requests ...[]byte) ([]Frame, error) {
	t.Helper()
	var out bytes.Buffer
	err := Serve(bytes.NewReader(bytes.Join(requests, nil)), &out, engine.New(engine.Options{}), before)
	var replies []Frame
	for {
		f, rerr := ReadFrame(&out, nil, MaxReply)
		if rerr == io.EOF {
			return replies, err
		}
		require.NoError(t, rerr)
		replies = append(replies, f)
	}
}

func TestServe(t *testing.T) {
	clip := testclip.Make(t, testclip.Spec{Codec: "mjpeg", Width: 320, Height: 180, Frames: 2})
	var seen int
	replies, err := script(t, func([]byte) { seen++ },
		AppendFrame(nil, Hello, 0),
		AppendFrame(nil, Capabilities, 0),
		AppendOpen(nil, 7, engine.MJPEG, 14_400),
		AppendDecode(nil, 7, clip.Units[0], -5, math.MinInt64),
		AppendDecode(nil, 7, []byte("rubbish"), 6, math.MinInt64),
		AppendDecode(nil, 8, clip.Units[0], 6, math.MinInt64),
		AppendDecode(nil, 7, clip.Units[1], math.MaxInt64, math.MinInt64),
		AppendStill(nil, 7, -5, 160, 70),
		AppendStill(nil, 7, 4, 160, 70),
		AppendFrame(nil, Flush, 7),
		AppendFrame(nil, Close, 7),
		AppendFrame(nil, Close, 7),
		AppendStill(nil, 7, -5, 160, 70),
		AppendOpen(nil, 9, "vp9", 0),
	)
	require.NoError(t, err)
	var kinds []Kind
	for _, r := range replies {
		kinds = append(kinds, r.Kind)
	}
	require.Equal(t, []Kind{OK, OK, OK, Pictures, Failed, Failed, Pictures, OK, Gone, Pictures, OK, OK, Failed,
		Unsupported}, kinds)
	require.Equal(t, 3, seen, "access units for an open decoder")
	require.NoError(t, ParseHello(replies[0].Body))
	c, err := ParseCapabilities(replies[1].Body)
	require.NoError(t, err)
	require.True(t, c.JPEG.OK)
	pictures, err := ParsePictures(replies[3].Body)
	require.NoError(t, err)
	require.Len(t, pictures, 1)
	p := pictures[0]
	require.Equal(t, []int{-5, 320, 180, 160, 90, 14_400},
		[]int{int(p.PTS), p.Width, p.Height, p.LumaWidth, p.LumaHeight, len(p.Luma)})
	require.EqualValues(t, 7, replies[3].Decoder)
	require.ErrorContains(t, ParseError(replies[4]), "start-of-image")
	require.ErrorContains(t, ParseError(replies[5]), "not open")
	require.Equal(t, []byte{0xff, 0xd8}, replies[7].Body[:2])
	require.ErrorIs(t, ParseError(replies[8]), engine.ErrGone)
	unsupported, ok := errors.AsType[*engine.UnsupportedError](ParseError(replies[13]))
	require.True(t, ok)
	require.Equal(t, engine.Format("vp9"), unsupported.Format)
}

// Each of these ends the process: the other side does not keep to the format.
func TestServeGivesUp(t *testing.T) {
	huge := AppendFrame(nil, Decode, 1)
	binary.LittleEndian.PutUint32(huge, MaxRequest+1)
	stained := AppendFrame(nil, Hello, 0)
	stained[6] = 1
	for name, bad := range map[string][]byte{
		"a length beyond the limit":   huge,
		"bytes that must be zero":     stained,
		"a kind that is no request":   AppendFrame(nil, Pictures, 0),
		"kind 0":                      AppendFrame(nil, 0, 0),
		"open without a format's end": AppendFrame(nil, Open, 2, []byte{1}),
		"open twice":                  AppendOpen(nil, 1, engine.MJPEG, 0),
		"decode without a time":       AppendFrame(nil, Decode, 1, []byte{1, 2, 3}),
		"still of a wrong length":     AppendFrame(nil, Still, 1, make([]byte, 12)),
		"cut in the header":           AppendFrame(nil, Hello, 0)[:5],
		"cut in the body":             AppendDecode(nil, 1, make([]byte, 50), 1, math.MinInt64)[:30],
	} {
		t.Run(name, func(t *testing.T) {
			replies, err := script(t, nil, AppendOpen(nil, 1, engine.MJPEG, 0), bad)
			require.ErrorIs(t, err, ErrBroken)
			require.Len(t, replies, 1)
		})
	}
}

func TestPicturesRoundTrip(t *testing.T) {
	in := []engine.Picture{
		{PTS: math.MinInt64, Width: 640, Height: 360, Luma: []byte{1, 2, 3, 4, 5, 6}, LumaWidth: 3, LumaHeight: 2},
		{PTS: 9, Width: 7680, Height: 4320},
		{PTS: 10, Width: 1, Height: 1, Luma: []byte{255}, LumaWidth: 1, LumaHeight: 1},
	}
	f, err := ReadFrame(bytes.NewReader(AppendPictures(nil, 3, in)), nil, MaxReply)
	require.NoError(t, err)
	out, err := ParsePictures(f.Body)
	require.NoError(t, err)
	require.Equal(t, in, out)
	_ = append(out[0].Luma, 99)
	require.EqualValues(t, 9, out[1].PTS, "appending to one picture's luma does not reach the next")
}

func TestParsePicturesDistrusts(t *testing.T) {
	good := AppendPictures(nil, 0, []engine.Picture{{Width: 4, Height: 4, Luma: make([]byte, 16), LumaWidth: 4,
		LumaHeight: 4}})[headerBytes:]
	put := func(at int, v uint32) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	_, err := ParsePictures(good)
	require.NoError(t, err)
	for name, bad := range map[string][]byte{
		"cut": good[:30], "cut in the head": good[:10], "more": append(bytes.Clone(good), 1), "width 0": put(8, 0),
		"huge":          put(8, 1<<31),
		"luma too wide": put(16, 5), "luma without height": put(20, 0),
		"overflow": append(put(16, 1<<31)[:20], 0, 0, 0, 128),
	} {
		_, err := ParsePictures(bad)
		require.ErrorIs(t, err, ErrBroken, name)
	}
}

// Where a reply lies is believed within what is shared, and what lies there is copied.
func TestPlaceDistrusts(t *testing.T) {
	shared := []byte("0123456789")
	at := func(at, n uint32) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, at), n)
	}
	f, room, err := Place(Frame{Kind: Placed, Decoder: 7, Body: at(4, 6)}, shared, []byte("ab"))
	require.NoError(t, err)
	require.Equal(t, Frame{Kind: Pictures, Decoder: 7, Body: []byte("456789")}, f)
	require.Equal(t, "ab456789", string(room))
	shared[5] = 'x'
	require.Equal(t, "456789", string(f.Body))
	for name, bad := range map[string][]byte{
		"behind the end": at(4, 7), "far away": at(1<<31, 1), "overflow": at(math.MaxUint32, math.MaxUint32),
		"cut": at(4, 6)[:7], "more": append(at(4, 6), 0), "empty": nil,
	} {
		_, _, err := Place(Frame{Kind: Placed, Body: bad}, shared, nil)
		require.ErrorIs(t, err, ErrBroken, name)
	}
	_, _, err = Place(Frame{Kind: Placed, Body: at(0, 1)}, nil, nil)
	require.ErrorIs(t, err, ErrBroken, "nothing is shared")
}

func TestReadFrameAllocatesOnlyWhatComes(t *testing.T) {
	header := AppendFrame(nil, OK, 0)
	binary.LittleEndian.PutUint32(header, 1<<31)
	_, err := ReadFrame(bytes.NewReader(header), nil, MaxReply)
	require.ErrorIs(t, err, ErrBroken)
	buf := make([]byte, 100)
	f, err := ReadFrame(bytes.NewReader(AppendFrame(nil, OK, 0, []byte("abc"))), buf, MaxReply)
	require.NoError(t, err)
	require.Same(t, &buf[0], &f.Body[0])
}

// FuzzReply: the agent reads anything that a process may send.
func FuzzReply(f *testing.F) {
	f.Add(AppendPictures(nil, 1, []engine.Picture{{PTS: 1, Width: 4, Height: 4, Luma: make([]byte, 16), LumaWidth: 4,
		LumaHeight: 4}}))
	f.Add(AppendHello(nil))
	f.Add(AppendError(nil, 1, engine.ErrGone))
	f.Add(AppendError(nil, 1, &engine.UnsupportedError{Format: "x", Reason: "y", Hint: "z"}))
	f.Add(AppendFrame(nil, Failed, 3, []byte("no")))
	f.Add(AppendCapabilities(nil, engine.Capabilities{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		for r := bytes.NewReader(data); ; {
			frame, err := ReadFrame(r, nil, 1<<20)
			if err != nil {
				return
			}
			_ = ParseError(frame)
			_ = ParseHello(frame.Body)
			_, _ = ParseCapabilities(frame.Body)
			pictures, err := ParsePictures(frame.Body)
			if err != nil {
				continue
			}
			for _, p := range pictures {
				require.Len(t, p.Luma, p.LumaWidth*p.LumaHeight)
			}
			require.Equal(t, frame.Body, append([]byte(nil), AppendPictures(nil, 0, pictures)[headerBytes:]...))
		}
	})
}

// FuzzServe: a process reads anything, and decodes anything in any format, without ending other
// than by an error.
func FuzzServe(f *testing.F) {
	open := func(format engine.Format) []byte { return AppendOpen(nil, 1, format, 1000) }
	f.Add(bytes.Join([][]byte{AppendFrame(nil, Hello, 0), open(engine.MJPEG),
		AppendDecode(nil, 1, []byte{0xff, 0xd8, 0xff, 0xd9}, 3, math.MinInt64), AppendStill(nil, 1, 3, 10, 10)}, nil))
	f.Add(bytes.Join([][]byte{open(engine.H264), AppendDecode(nil, 1, []byte{0, 0, 0, 1, 0x67, 1, 2, 3}, 3,
		math.MinInt64),
		AppendFrame(nil, Flush, 1), AppendFrame(nil, Close, 1)}, nil))
	f.Add(bytes.Join([][]byte{open(engine.H265), AppendDecode(nil, 1, []byte{0, 0, 0, 1, 0x40, 1, 2, 3}, 3,
		math.MinInt64),
		AppendFrame(nil, Flush, 1)}, nil))
	e := engine.New(engine.Options{})
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := Serve(bytes.NewReader(data), io.Discard, e, nil); err != nil {
			require.ErrorIs(t, err, ErrBroken)
		}
	})
}
