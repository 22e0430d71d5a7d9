package plane

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// number is what the values of cells and pixels are made of.
type number interface{ ~uint8 | ~uint16 }

// fence is written around what a fast version may write to, and must still be there afterwards.
const fence = 0xA5

// fenced returns a copy of values inside a larger slice, at any alignment, and a check that nothing
// around it was written to.
func fenced[T number](t *testing.T, r *rand.Rand, values []T) ([]T, func()) {
	first := 32 + r.IntN(16)
	all := make([]T, first+len(values)+64)
	for i := range all {
		all[i] = fence
	}
	copy(all[first:], values)
	return all[first : first+len(values) : first+len(values)], func() {
		for i, v := range all {
			if i < first || i >= first+len(values) {
				require.EqualValues(t, fence, v, "value %d beside a slice of %d was written to", i-first, len(values))
			}
		}
	}
}

// fill returns n values of which many are at the ends of the scale.
func fill[T number](r *rand.Rand, n int, top uint32) []T {
	values := make([]T, n)
	for i := range values {
		switch r.IntN(6) {
		case 0:
			values[i] = T(r.UintN(uint(min(top, 3)) + 1))
		case 1:
			values[i] = T(top - uint32(r.UintN(uint(min(top, 3))+1)))
		default:
			values[i] = T(r.UintN(uint(top) + 1))
		}
	}
	return values
}

// near returns values that differ from those of v by less than by, most of them.
func near(r *rand.Rand, v []uint16, by int) []uint16 {
	w := make([]uint16, len(v))
	for i := range w {
		w[i] = uint16(max(0, min(65535, int(v[i])+r.IntN(2*by+1)-by)))
		if r.IntN(20) == 0 {
			w[i] = uint16(r.UintN(65536))
		}
	}
	return w
}

// exposures returns any exposure, often a small change, sometimes one beyond what vectors compute.
func exposures(r *rand.Rand) Exposure {
	switch r.IntN(5) {
	case 0:
		return Exposure{Gain: GainOne}
	case 1:
		return Exposure{Gain: GainOne + int32(r.IntN(200)-100), Offset: int32(r.IntN(2000) - 1000)}
	case 2:
		return Exposure{Gain: int32(r.IntN(1 << 18)), Offset: int32(r.IntN(1<<27) - 1<<26)}
	case 3:
		return Exposure{Gain: []int32{0, 1, 65535, 65536, 32768}[r.IntN(5)],
			Offset: []int32{0, -1 << 24, 1 << 24, 1<<24 - 1, 1 - 1<<24, 65535, -65535}[r.IntN(7)]}
	}
	return Exposure{Gain: int32(r.IntN(4*GainOne + 1)), Offset: int32(r.IntN(1<<18) - 1<<17)}
}

func TestMeansIsPlain(t *testing.T) { everyWidth(t, testMeans) }

func testMeans(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 350 {
		side := []int{1, 1, 2, 2, 2, 3, 4, 5, 7, 16, 200, 257, 258}[r.IntN(13)]
		w, h := 1+r.IntN(max(2, 82/side)), 1+r.IntN(max(1, 20/side))
		if r.IntN(10) == 0 && side < 10 {
			w += 600 / side
		}
		stride := w*side + r.IntN(5)
		luma, _ := fenced(t, r, fill[uint8](r, (h*side-1)*stride+w*side, 255))
		want := make([]uint16, w*h)
		got, check := fenced(t, r, fill[uint16](r, w*h, 65535))
		meansPlain(luma, stride, side, w, h, want)
		Means(luma, stride, side, w, h, got)
		require.Equal(t, want, got, "side %d, %dx%d, stride %d", side, w, h, stride)
		check()
	}
}

func TestMeansPlain(t *testing.T) {
	got := make([]uint16, 2)
	meansPlain([]byte{10, 20, 30, 1, 1, 40, 50, 60, 2, 2, 70, 80, 90, 3, 3}, 5, 3, 1, 1, got)
	require.EqualValues(t, 50*256, got[0])
	meansPlain([]byte{0, 255, 255, 255}, 2, 2, 1, 1, got)
	require.EqualValues(t, 3*255*64, got[0])
}

func TestExposeIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 500 {
		e, cells := exposures(r), fill[uint16](r, r.IntN(70), 65535)
		got, check := fenced(t, r, cells)
		exposePlain(cells, e)
		Expose(got, e)
		require.Equal(t, cells[:len(cells):len(cells)], got, "%+v", e)
		check()
	}
}

func TestClassifyIsPlain(t *testing.T) { everyWidth(t, testClassify) }

func testClassify(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	seen := map[byte]int{}
	for range 1000 {
		n, e := r.IntN(100), exposures(r)
		before, _ := fenced(t, r, fill[uint16](r, n, 65535))
		now, _ := fenced(t, r, before)
		copy(now, near(r, before, 3000))
		if r.IntN(2) == 0 {
			for i := range now {
				now[i] = uint16(max(0, min(65535, e.Apply(before[i])+int32(r.IntN(6000))-3000)))
			}
		}
		background, _ := fenced(t, r, near(r, now, 3000))
		noise, _ := fenced(t, r, fill[uint16](r, n, uint32([]int{300, 600, 11520, 65535}[r.IntN(4)])))
		contrast := int32([]int{0, 1, 512, 1536, 65535, 65536, 100_000, -1}[r.IntN(8)])
		want := make([]byte, n)
		got, check := fenced(t, r, make([]byte, n))
		classifyPlain(now, before, e, background, noise, contrast, want)
		Classify(now, before, e, background, noise, contrast, got)
		require.Equal(t, want, got, "%+v, contrast %d", e, contrast)
		check()
		for _, f := range got {
			seen[f]++
		}
	}
	for f := range byte(4) {
		require.Greater(t, seen[f], 1000, "flags %d hardly occurred", f)
	}
}

// memory returns a Memory of n cells, and a check that nothing beside it was written to.
func memory(t *testing.T, r *rand.Rand, now []uint16, twigCap int32) (Memory, func()) {
	n := len(now)
	background, a := fenced(t, r, near(r, now, 2000))
	noise, b := fenced(t, r, fill[uint16](r, n, uint32(twigCap)))
	stay, c := fenced(t, r, fill[uint16](r, n, MaxStay))
	still, d := fenced(t, r, fill[uint16](r, n, MaxStay))
	parked, e := fenced(t, r, fill[uint8](r, n, 255))
	return Memory{background, noise, stay, still, parked}, func() { a(); b(); c(); d(); e() }
}

// clone copies m.
func (m Memory) clone() Memory {
	return Memory{append([]uint16{}, m.Background...), append([]uint16{}, m.Noise...), append([]uint16{}, m.Stay...),
		append([]uint16{}, m.Still...), append([]uint8{}, m.Parked...)}
}

func TestLearnIsPlain(t *testing.T) { everyWidth(t, testLearn) }

func testLearn(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	for range 1000 {
		n, e := r.IntN(80), exposures(r)
		p := Pace{
			Background: []int32{0, 1, 3276, 32768, int32(r.IntN(32769))}[r.IntN(5)], Up: []int32{0, 2621, 32768,
				int32(r.IntN(32769))}[r.IntN(4)],
			Down: []int32{0, 655, 32768, int32(r.IntN(32769))}[r.IntN(4)], Absorb: uint16(r.IntN(MaxStay)), Ms: uint16(
				r.IntN(501)),
			NoiseCap: []int32{2304, 1024, 65535}[r.IntN(3)], TwigCap: []int32{11520, 1024, 65535}[r.IntN(3)],
		}
		now, _ := fenced(t, r, fill[uint16](r, n, 65535))
		before, _ := fenced(t, r, near(r, now, 2000))
		flags, _ := fenced(t, r, fill[uint8](r, n, 3))
		solid, _ := fenced(t, r, fill[uint8](r, n, 1))
		held, _ := fenced(t, r, fill[uint8](r, n, 2))
		for _, b := range [][]byte{flags, held} {
			if r.IntN(3) == 0 {
				clear(b)
			}
		}
		got, check := memory(t, r, now, 65535)
		want := got.clone()
		learnPlain(now, before, e, flags, solid, held, want, p)
		Learn(now, before, e, flags, solid, held, got, p)
		require.Equal(t, want, got.clone(), "%+v, %+v", e, p)
		check()
	}
}

func TestSumIsPlain(t *testing.T) { everyWidth(t, testSum) }

func testSum(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for i := range 600 {
		n, e := r.IntN(60), exposures(r)
		if i%20 == 0 {
			n = 900 + r.IntN(3000)
		}
		x, _ := fenced(t, r, fill[uint16](r, n, 65535))
		y, _ := fenced(t, r, x)
		for k := range y {
			y[k] = uint16(max(0, min(65535, e.Apply(x[k])+int32(r.IntN(4000))-2000)))
		}
		limit := int32([]int{0, 384, 2560, 12800, 32767, 32768, 65535, -1}[r.IntN(8)])
		var want Moments
		sumPlain(x, y, e, limit, &want)
		require.Equal(t, want, Sum(x, y, e, limit), "%d points, %+v, limit %d", n, e, limit)
	}
	// The largest sums that there are.
	x, y := make([]uint16, 3000), make([]uint16, 3000)
	for i := range x {
		x[i], y[i] = 65535, 254*256
	}
	var want Moments
	sumPlain(x, y, Exposure{Gain: GainOne}, 32767, &want)
	require.Equal(t, want, Sum(x, y, Exposure{Gain: GainOne}, 32767))
	require.Equal(t, int64(3000)*4095*4095, want.XX)
}

func TestCompareIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for range 500 {
		columns, rows := []int{8, 8, 1 + r.IntN(20)}[r.IntN(3)], r.IntN(12)
		if r.IntN(10) == 0 {
			rows = 60 + r.IntN(10)
		}
		pitch := columns + r.IntN(9)
		x, _ := fenced(t, r, fill[uint16](r, max(0, (rows-1)*pitch+columns), 65535))
		y, _ := fenced(t, r, fill[uint16](r, len(x), 65535))
		var want Likeness
		likePlain(x, y, pitch, columns, rows, &want)
		require.Equal(t, want, Compare(x, y, pitch, columns, rows), "%dx%d of %d", columns, rows, pitch)
	}
}

func TestDespeckleIsPlain(t *testing.T) { everyWidth(t, testDespeckle) }

func testDespeckle(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 3))
	for range 800 {
		w, h := 1+r.IntN(50), 1+r.IntN(12)
		flags, _ := fenced(t, r, make([]byte, w*h))
		mask, want := make([]byte, w*h), make([]byte, w*h)
		share := r.IntN(11)
		for i := range flags {
			if r.IntN(10) < share {
				flags[i] = byte(r.UintN(4))
			}
			if r.IntN(8) != 0 {
				mask[i] = 255
			}
		}
		var d Despeckler
		d.Resize(w, h)
		d.Run(mask, mask, make([]byte, w*h)) // leaves something to clear
		got, check := fenced(t, r, fill[uint8](r, w*h, 255))
		count := despecklePlain(flags, mask, w, h, want)
		require.Equal(t, count, d.Run(flags, mask, got), "%dx%d", w, h)
		require.Equal(t, want, got, "%dx%d", w, h)
		check()
	}
}

func TestBlocksArePlain(t *testing.T) { everyWidth(t, testBlocks) }

func testBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 5))
	for range 500 {
		w, h := 1+r.IntN(60), 1+r.IntN(30)
		flags, _ := fenced(t, r, fill[uint8](r, w*h, 3))
		solid, _ := fenced(t, r, fill[uint8](r, w*h, 1))
		across, all := Blocks(w, h)
		got, again, counted, ones := make([]Block, all), make([]Block, all), make([]Block, 0, all),
			make([]Block, 0, all)
		for y := 0; y < h; y += BlockSide {
			for x := 0; x < w; x += BlockSide {
				columns, rows, at := min(BlockSide, w-x), min(BlockSide, h-y), y*w+x
				ones = append(ones, blockPlain(flags[at:], nil, w, columns, rows))
				counted = append(counted, blockPlain(flags[at:], solid[at:], w, columns, rows))
			}
		}
		require.Equal(t, all, len(ones), "%dx%d, %d across", w, h, across)
		CountFlags(flags, w, h, got)
		require.Equal(t, ones, got, "%dx%d", w, h)
		CountSolid(flags, solid, w, h, again)
		require.Equal(t, counted, again, "%dx%d", w, h)
	}
}

func TestSmoothIsPlain(t *testing.T) { everyWidth(t, testSmooth) }

func testSmooth(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 6))
	for range 500 {
		n := r.IntN(60)
		a, _ := fenced(t, r, fill[uint16](r, n, 65535))
		b, _ := fenced(t, r, fill[uint16](r, n, 65535))
		c, _ := fenced(t, r, near(r, a, 3))
		want := make([]uint16, n)
		got, check := fenced(t, r, make([]uint16, n))
		smoothPlain(want, a, b, c)
		Smooth(got, a, b, c)
		require.Equal(t, want, got)
		check()
	}
}

func TestCountDownIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 3))
	for range 300 {
		want := fill[uint8](r, r.IntN(50), 255)
		got, check := fenced(t, r, want)
		countDownPlain(want)
		CountDown(got)
		require.Equal(t, want[:len(want):len(want)], got)
		check()
	}
}

func TestWearIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 500 {
		n := r.IntN(90)
		flags, _ := fenced(t, r, fill[uint8](r, n, 3))
		passing, _ := fenced(t, r, fill[uint8](r, n, 1))
		want := fill[uint8](r, n, 255)
		got, check := fenced(t, r, want)
		if r.IntN(3) == 0 {
			clear(flags)
		}
		up, down := uint8(r.UintN(256)), uint8(r.UintN(256))
		wearPlain(want, flags, passing, up, down)
		Wear(got, flags, passing, up, down)
		require.Equal(t, want[:n:n], got, "up %d, down %d", up, down)
		check()
	}
}

func TestShareIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	for range 300 {
		n := r.IntN(70)
		from, _ := fenced(t, r, fill[uint16](r, n, 65535))
		want := make([]uint16, n)
		got, check := fenced(t, r, make([]uint16, n))
		share := uint16(r.UintN(65536))
		sharePlain(want, from, share)
		Share(got, from, share)
		require.Equal(t, want, got, "share %d", share)
		check()
	}
}

func TestSlopesArePlain(t *testing.T) { everyWidth(t, testSlopes) }

func testSlopes(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	for range 300 {
		points := make([]Point, r.IntN(400))
		for i := range points {
			v := func() int32 { return int32(r.IntN(1<<18+1) - 1<<17) }
			points[i] = Point{v(), v(), v(), v()}
			if r.IntN(20) == 0 {
				points[i] = Point{1 << 17, 1 << 17, -1 << 17, -1 << 17}
			}
		}
		var want Slopes
		slopesPlain(points, &want)
		require.Equal(t, want, SumSlopes(points))
	}
}
