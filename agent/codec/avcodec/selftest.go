package avcodec

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"hash/crc32"
	"unsafe"
)

// The clips of the test: three pictures of 64×64, coded in the order I P B and shown I B P, made by
//
//	ffmpeg -f lavfi -i testsrc2=s=64x64:r=10 -vf noise=alls=8:allf=t+u -frames:v 3 \
//	  -pix_fmt yuv420p -c:v libx264 -qp 30 \
//	  -x264-params aud=1:keyint=30:bframes=1:b-adapt=0:scenecut=0:b-pyramid=none
//
// libx265 likewise,
//
// without the encoder's SEI. Decoding is exact in both standards, so the checksums hold for every
// correct decoder.
var (
	//go:embed selftest/h264.264
	clipH264 []byte
	//go:embed selftest/h265.265
	clipH265 []byte
)

// test is a clip and the CRC-32 (IEEE) of each picture's luma in presentation order.
type test struct {
	codec     Codec
	clip      []byte
	delimiter []byte // the start of each access unit
	luma      []uint32
}

var tests = []test{
	{H264, clipH264, []byte{0, 0, 0, 1, 0x09}, []uint32{0xcc55d4b5, 0x6683b53d, 0xa9b90cfe}},
	{H265, clipH265, []byte{0, 0, 0, 1, 0x46}, []uint32{0x23c151ca, 0x217e1527, 0xf9a365e6}},
}

// testTimes are fed in coding order. Their odd values are hardly anywhere else in a structure by
// chance. inOrder is the presentation order.
var (
	testTimes = []int64{1_763_721_600_000_001, 1_763_721_600_083_337, 1_763_721_600_041_669}
	inOrder   = []int64{testTimes[0], testTimes[2], testTimes[1]}
)

const testSize = 64

// test decodes the clips and compares. It notes the codecs that fail, and whether presentation
// times come back in AVFrame.pts. An error if any codec failed.
func (l *Library) test() error {
	l.ptsOffset = uintptr(framePTS)
	for _, t := range tests {
		if err := l.decodes(t, "", func(i int, f *Frame) {
			if f.PTS != inOrder[i] {
				l.ptsOffset = 0
			}
		}); err != nil {
			l.failed[t.codec] = err
		}
	}
	var all []error
	for _, t := range tests {
		if err := l.failed[t.codec]; err != nil {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// decodes has one clip decoded, by libavcodec's own decoder if name is "", without skipping
// anything that would make the result depend on the version. The pictures of a named one are in
// memory of its own, which is not counted.
func (l *Library) decodes(t test, name string, each func(i int, f *Frame)) error {
	dec, err := l.open(t.codec, name, nil)
	if err != nil {
		return err
	}
	defer dec.Close()
	budget := &dec.shared.Budget
	budget.Most, budget.Eighths = 1<<20, 12
	var frames []*Frame
	defer func() {
		for _, f := range frames {
			f.Close()
		}
	}()
	for i, au := range bytes.Split(t.clip, t.delimiter)[1:] {
		got, err := dec.Decode(append(bytes.Clone(t.delimiter), au...), testTimes[i])
		frames = append(frames, got...)
		if err != nil {
			return fmt.Errorf("test clip: %w", err)
		}
	}
	got, err := dec.Flush()
	frames = append(frames, got...)
	if err != nil {
		return fmt.Errorf("test clip: %w", err)
	}
	if len(frames) != len(t.luma) {
		return fmt.Errorf("test clip of %s: %d pictures came out, not %d", t.codec, len(frames), len(t.luma))
	}
	for i, f := range frames {
		if err := f.matches(t.luma[i], name == ""); err != nil {
			return fmt.Errorf("test clip of %s: picture %d: %w", t.codec, i, err)
		}
		each(i, f)
	}
	const picture = testSize * testSize * 12 / 8
	if name == "" && (budget.Bytes < picture || budget.Bytes > int64(len(t.luma)+1)*picture) {
		return fmt.Errorf("test clip of %s: its pictures count as %d bytes, not some times %d", t.codec, budget.Bytes,
			picture)
	}
	return nil
}

// matches looks at the picture with nothing taken on trust: the fields must make sense before a
// byte is read through them. ours is libavcodec's own decoder: of any other, pixels may come in
// pairs.
func (f *Frame) matches(want uint32, ours bool) error {
	if w, h := f.Size(); w != testSize || h != testSize {
		return fmt.Errorf("its size reads as %dx%d, not %dx%d: this library's structures are laid out differently", w,
			h, testSize, testSize)
	}
	data := *(*unsafe.Pointer)(unsafe.Add(f.ptr, frameData))
	if stride := f.int32(frameLinesize); data == nil || stride < testSize || stride > 16*testSize ||
		ours && f.int32(frameFormat) != 0 {
		return fmt.Errorf("its stride reads as %d and its format as %d: this library's structures are laid out "+
			"differently",
			stride, f.int32(frameFormat))
	}
	m, err := f.Image()
	if err != nil {
		return err
	}
	sum := crc32.NewIEEE()
	for y := range m.Height {
		_, _ = sum.Write(m.Y.Pix[y*m.Y.Stride:][:m.Width])
	}
	if sum.Sum32() != want {
		return fmt.Errorf("it was decoded wrongly (checksum %08x, not %08x)", sum.Sum32(), want)
	}
	return nil
}
