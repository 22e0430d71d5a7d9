package pipeline

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec"
	"vmsbridge/motion"
	"vmsbridge/storage/stills"
)

type shelf []stills.Still

func (s *shelf) Append(st stills.Still) error { *s = append(*s, st); return nil }

func (s shelf) times(k stills.Kind) (out []int) {
	for _, st := range s {
		if st.Kind == k {
			out = append(out, int(st.Time.Sub(epoch).Milliseconds()))
		}
	}
	return out
}

type flash struct{}

func (flash) Still(context.Context, codec.Picture, int) ([]byte, error) { return []byte{0xff}, nil }

func TestRecorderKeepsTheFirstPictureOfASpanThatIsConfirmedLater(t *testing.T) {
	var kept shelf
	r := &recorder{camera: "c", album: &kept, dev: flash{}, m: NewMetrics(prometheus.NewRegistry()), fail: func(err error) { t.Error(err) },
		pace: pace{quiet: 10 * time.Second, motion: 500 * time.Millisecond, main: 2 * time.Second, previewWidth: 640, mainToo: true}}
	for ms := 0; ms <= 30000; ms += 100 {
		var res motion.Result
		switch {
		case ms >= 12000 && ms < 12300:
			res.Candidate = true // dismissed
		case ms >= 15000 && ms < 15300:
			res.Candidate = true
		case ms == 15300:
			res.Moving = true
			res.Changes = []motion.Change{{Kind: motion.Began, Start: at(15000), Last: at(15300)}}
		case ms > 15300 && ms < 18000:
			res.Moving = true
		}
		r.Picture(t.Context(), codec.Picture{}, at(ms), res)
	}
	require.Equal(t, []int{0, 10000, 15000, 15500, 16000, 16500, 17000, 17500, 27500}, kept.times(stills.Preview))
	require.Equal(t, []int{15000, 17000}, kept.times(stills.Main))
}

func TestRecorderKeepsThePictureOfASpanThatBeginsAtOnce(t *testing.T) {
	var kept shelf
	r := &recorder{camera: "c", album: &kept, dev: flash{}, m: NewMetrics(prometheus.NewRegistry()), fail: func(err error) { t.Error(err) },
		pace: pace{quiet: 10 * time.Second, motion: 500 * time.Millisecond, main: 2 * time.Second}}
	r.Picture(t.Context(), codec.Picture{}, at(0), motion.Result{})
	r.Picture(t.Context(), codec.Picture{}, at(100), motion.Result{Moving: true, Changes: []motion.Change{{Kind: motion.Began, Start: at(100)}}})
	require.Equal(t, []int{0, 100}, kept.times(stills.Preview))
	require.Empty(t, kept.times(stills.Main), "another stream makes them")
}

func TestDueAfterAClockThatStepsBack(t *testing.T) {
	require.True(t, due(at(-3600_000), at(0), 10*time.Second))
	require.False(t, due(at(450), at(0), 500*time.Millisecond))
	require.True(t, due(at(475), at(0), 500*time.Millisecond))
}

func TestRecorderKeepsTheFirstPictureOfASpanThatIsConfirmedMuchLater(t *testing.T) {
	for _, wait := range []int{300, 2000, 20_000} { // of something small, creeping; with a min_duration
		var kept shelf
		r := &recorder{camera: "c", album: &kept, dev: flash{}, m: NewMetrics(prometheus.NewRegistry()), fail: func(err error) { t.Error(err) },
			pace: pace{quiet: 10 * time.Second, motion: 500 * time.Millisecond, main: 2 * time.Second, mainToo: true}}
		for ms := 0; ms < 12_000+wait; ms += 100 {
			r.Picture(t.Context(), codec.Picture{}, at(ms), motion.Result{Candidate: ms >= 11_700}) // a leaf, and then the thing itself
			require.LessOrEqual(t, len(r.previews)+len(r.mains), maxPreviews+maxMains)
		}
		r.Picture(t.Context(), codec.Picture{}, at(12_000+wait), motion.Result{Moving: true, Changes: []motion.Change{{Kind: motion.Began, Start: at(12_000)}}})
		if wait <= 2000 {
			require.Contains(t, kept.times(stills.Preview), 12_000, "confirmed after %d ms", wait)
		}
		first := func(k stills.Kind) int {
			return slices.IndexFunc(kept.times(k), func(ms int) bool { return ms >= 12_000 && ms < 12_500 })
		}
		require.GreaterOrEqual(t, first(stills.Preview), 0, "confirmed after %d ms: %v", wait, kept.times(stills.Preview))
		if wait <= 2000 {
			require.GreaterOrEqual(t, first(stills.Main), 0, "confirmed after %d ms: %v", wait, kept.times(stills.Main))
		}
		last := 12_000
		for _, ms := range kept.times(stills.Preview) {
			if ms > last {
				require.LessOrEqual(t, ms-last, 500, "previews in motion, confirmed after %d ms: %v", wait, kept.times(stills.Preview))
				last = ms
			}
		}
	}
}

func TestRecorderKeepsStillsOfARegionsSpanThatBeginsWhileSomethingMoves(t *testing.T) {
	var kept shelf
	r := &recorder{camera: "c", album: &kept, dev: flash{}, m: NewMetrics(prometheus.NewRegistry()), fail: func(err error) { t.Error(err) },
		pace: pace{quiet: 10 * time.Second, motion: 500 * time.Millisecond, main: 2 * time.Second, mainToo: true}}
	for ms := 0; ms <= 1900; ms += 100 {
		res := motion.Result{Moving: true}
		switch ms {
		case 0:
			res.Changes = []motion.Change{{Kind: motion.Began, Start: at(0)}}
		case 900:
			res.Changes = []motion.Change{{Kind: motion.Began, Region: "door", Start: at(600)}}
		}
		r.Picture(t.Context(), codec.Picture{}, at(ms), res)
	}
	require.Equal(t, []int{0, 500, 900, 1400, 1900}, kept.times(stills.Preview))
	require.Equal(t, []int{0, 900}, kept.times(stills.Main), "what begins has a full-resolution still of its own")
}
