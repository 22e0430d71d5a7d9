package tamper_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion/tamper"
	"vmsbridge/scripts/harness"
)

// sent is what an encoder sends of a place in which nothing moves, rate pictures a second: fresh
// tells, for a time in seconds and the number of the picture, which share of 144 places changes.
func sent(t *testing.T, rate, seconds int, fresh func(at float64, i, _ int) float64) []found {
	t.Helper()
	f := newFilm(3, 0)
	f.see()
	luma := append([]byte(nil), f.take(0)...)
	r := rand.New(rand.NewPCG(9, 9))
	w := newWatcher(t, tamper.Config{})
	for i := range seconds * rate {
		at := float64(i) / float64(rate)
		for b := range 40 {
			if r.Float64() >= fresh(at, i, b) {
				continue
			}
			for range 20 {
				x, y := b%8*40+r.IntN(40), b/8*36+r.IntN(36)
				luma[y*viewWidth+x] = byte(max(2, min(253, int(luma[y*viewWidth+x])+1-2*r.IntN(2))))
			}
		}
		w.step(picture(luma, at))
	}
	w.take(w.Gap(), float64(seconds))
	return w.spans
}

// A thrifty encoder repeats a quiet place from keyframe to keyframe, however long that takes: it
// has not frozen.
func TestOnlyKeyframesAreNotFrozen(t *testing.T) {
	rates := []int{2, 3, 5, 10, 25}
	if harness.Race { // scripts/test runs all of them without the race detector
		rates = rates[1:3]
	}
	for _, rate := range rates {
		for _, every := range []int{2, 7, 10, 30} {
			t.Run(fmt.Sprintf("%d a second, a keyframe every %d s", rate, every), func(t *testing.T) {
				require.Empty(t, sent(t, rate, 150, func(at float64, i, _ int) float64 {
					switch {
					case i%(every*rate) == 0:
						return 1
					case at < 3:
						return 0.1 // what it still refines
					case i%(every*rate) == 1:
						return 0.07
					}
					return 0.005
				}))
			})
		}
	}
}

// Where noise changes every picture, a source that freezes is found though the encoder refines the
// last picture for seconds, and sends keyframes of it.
func TestAFreezeThatIsRefined(t *testing.T) {
	for _, rate := range []int{2, 3, 4, 5, 10, 25} {
		t.Run(fmt.Sprintf("%d a second", rate), func(t *testing.T) {
			spans := sent(t, rate, 120, func(at float64, i, _ int) float64 {
				switch {
				case at < 60 || at >= 95, i%(7*rate) == 0:
					return 1
				case at < 61:
					return 0.6
				case at < 64:
					return 0.1
				}
				return 0.01
			})
			require.Len(t, spans, 1)
			require.Equal(t, tamper.Frozen, spans[0].reason)
			require.InDelta(t, 61, spans[0].start, 2)
			require.LessOrEqual(t, spans[0].told, 73.0)
			require.InDelta(t, 95, spans[0].ended, 3)
		})
	}
}

// What changes a few places at once, or right after a keyframe, is no clock: when that ceases,
// nothing has stopped.
func TestWhatAnEncoderRefinesIsNoClock(t *testing.T) {
	require.Empty(t, sent(t, 3, 150, func(at float64, i, block int) float64 {
		first, changed := 0, [6]int{40, 3, 1, 0, 0, 0} // blocks
		if at >= 60 && at < 95 {
			// two thirds of a second, and four, as beats are that come late
			first, changed = 10, [6]int{0, 10, 0, 0, 0, 10}
		}
		if block >= first && block < first+changed[i%6] {
			return 1
		}
		return 0
	}))
}

// What changes about once a second, but does not keep time, is no clock either.
func TestAClockKeepsTime(t *testing.T) {
	sometimes := func(at float64, i, block int) float64 {
		if block == 5 && at < 60 && (i%11 == 0 || i%11 == 2 || i%11 == 6 || i%11 == 9) {
			return 1
		}
		return 0
	}
	require.Empty(t, sent(t, 3, 90, sometimes))
	spans := sent(t, 3, 90, func(at float64, i, block int) float64 {
		if block == 5 && at < 60 && i%3 == 0 {
			return 1
		}
		return 0
	})
	require.Len(t, spans, 1, "a clock that stops")
	require.Equal(t, tamper.Frozen, spans[0].reason)
}
