package tamper_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion/tamper"
)

// repeats is what a thrifty encoder sends of a quiet place: in every picture some blocks of 40x36
// are new, and the others those of the picture before. fresh tells how many percent of the pictures
// change a block; a block that is nil everywhere changes nothing.
func repeats(t *testing.T, seconds int, fresh func(second, block int) int) []found {
	t.Helper()
	f := newFilm(3, 0)
	f.see()
	luma := append([]byte(nil), f.take(0)...)
	r := rand.New(rand.NewPCG(7, 7))
	w := newWatcher(t, tamper.Config{})
	for i := range seconds * 10 {
		for b := range 40 {
			if r.IntN(100) >= fresh(i/10, b) {
				continue
			}
			for range 20 {
				x, y := b%8*40+r.IntN(40), b/8*36+r.IntN(36)
				luma[y*viewWidth+x] = byte(max(2, min(253, int(luma[y*viewWidth+x])+1-2*r.IntN(2))))
			}
		}
		w.step(picture(luma, float64(i)/10))
	}
	w.take(w.Gap(), float64(seconds))
	return w.spans
}

// Where an encoder repeats some of every picture, the picture is frozen when it repeats all of it,
// though a clock runs on in it or keyframes come; not when something smooth and bright hides a part
// of the view, when a place becomes quieter, or when only keyframes ever changed it.
func TestRest(t *testing.T) {
	clock := func(second, block int) int {
		if block == 6 {
			return 100
		}
		return 0
	}
	for _, c := range []struct {
		name   string
		frozen bool
		after  func(second, block int) int
	}{
		{name: "frozen", frozen: true, after: func(_, _ int) int { return 0 }},
		{name: "frozen, the clock runs on", frozen: true, after: clock},
		{name: "a van hides a half", after: func(_, block int) int { return block % 2 * 40 }},
		{name: "quieter", after: func(_, _ int) int { return 20 }},
		{name: "as it was", after: func(_, _ int) int { return 40 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			spans := repeats(t, 70, func(second, block int) int {
				if second >= 20 && second < 50 {
					return c.after(second, block)
				}
				return 40
			})
			if !c.frozen {
				require.Empty(t, spans)
				return
			}
			require.Len(t, spans, 1)
			require.Equal(t, tamper.Frozen, spans[0].reason)
			require.InDelta(t, 20, spans[0].start, 1.5)
			require.LessOrEqual(t, spans[0].told, 30.0)
			require.InDelta(t, 50, spans[0].ended, 3)
		})
	}
	t.Run("only keyframes", func(t *testing.T) {
		spans := repeats(t, 70, func(second, _ int) int {
			if second%4 == 0 && second < 40 {
				return 10
			}
			return 0
		})
		require.Empty(t, spans, "they may become rare")
	})
}
