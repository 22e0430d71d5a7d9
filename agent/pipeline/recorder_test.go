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

// flash is a decoder that keeps as many pictures as one does.
type flash struct {
	newest []int64
	made   int // JPEGs
}

func (f *flash) Still(_ context.Context, p codec.Picture, _ int) ([]byte, error) {
	if f.made++; !slices.Contains(f.newest, p.PTS) {
		return nil, codec.ErrGone
	}
	return []byte{0xff}, nil
}

// look has a recorder look at the last of so many pictures that came, as a pipeline does.
func look(t *testing.T, r *recorder, ms, pictures int, res motion.Result) {
	f := r.dev.(*flash)
	for i := range pictures {
		pts := int64(ms - pictures + 1 + i)
		if f.newest = append(f.newest, pts); len(f.newest) > codec.Kept {
			f.newest = f.newest[1:]
		}
		r.Came(1)
		if i == pictures-1 {
			r.Picture(t.Context(), codec.Picture{PTS: pts, Width: 640, Luma: make([]byte, 1)}, at(ms), res)
		}
		r.Seen(t.Context())
	}
}

func TestRecorderKeepsTheFirstPictureOfASpanThatIsConfirmedLater(t *testing.T) {
	var kept shelf
	r := &recorder{camera: "c", album: &kept, dev: &flash{}, m: NewMetrics(prometheus.NewRegistry()),
		fail: func(err error) { t.Error(err) },
		pace: pace{quiet: 10 * time.Second, motion: 500 * time.Millisecond, main: 2 * time.Second, previewWidth: 640,
			mainToo: true}}
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
		look(t, r, ms, 1, res)
	}
	require.Equal(t, []int{0, 10000, 15000, 15500, 16000, 16500, 17000, 17500, 27500}, kept.times(stills.Preview))
	require.Equal(t, []int{15000, 17000}, kept.times(stills.Main))
	require.Equal(t, 9, r.dev.(*flash).made, "one for each moment: a preview of this size is the other still, too")
}

// Of what comes to nothing as long as the decoder keeps the pictures, no JPEG is made; what lasts
// longer is there when it is confirmed, also where not all pictures that are decoded are looked at.
func TestRecorderMakesNoStillOfWhatComesToNothing(t *testing.T) {
	for _, between := range []int{1, 2, 3, 4, 7} { // pictures decoded for one that is looked at
		var kept shelf
		f := &flash{}
		r := &recorder{camera: "c", album: &kept, dev: f, m: NewMetrics(prometheus.NewRegistry()),
			fail: func(err error) { t.Error(err) },
			pace: pace{quiet: 10 * time.Second, motion: 500 * time.Millisecond, main: 2 * time.Second,
				previewWidth: 320, mainToo: true}}
		look(t, r, 0, between, motion.Result{})
		require.Equal(t, 1, f.made)
		short := (codec.Kept - 1) / between
		for i := range 5 {
			for k := range short {
				look(t, r, 1000*(i+1)+100*k, between, motion.Result{Candidate: true})
			}
			look(t, r, 1000*(i+1)+500, between, motion.Result{})
		}
		require.Equal(t, 1, f.made, "%d decoded for one", between)
		for long := range 12 {
			begin := 8000 + 100_000*long
			kept = nil
			look(t, r, begin-1000, between, motion.Result{})
			for k := range long {
				look(t, r, begin+100*k, between, motion.Result{Candidate: true})
			}
			look(t, r, begin+100*long, between, motion.Result{Moving: true,
				Changes: []motion.Change{{Kind: motion.Began, Start: at(begin)}}})
			require.Contains(t, kept.times(stills.Preview), begin, "%d decoded for one, confirmed after %d", between,
				long)
			require.Contains(t, kept.times(stills.Main), begin, "%d decoded for one, confirmed after %d", between, long)
			for k := range 10 {
				look(t, r, begin+5000+100*k, between, motion.Result{})
			}
			f.made = 1
		}
	}
}

// A decoder that was lost has no pictures any more: nobody asks it for them.
func TestRecorderForgetsWhatTheDecoderLost(t *testing.T) {
	var kept shelf
	r := &recorder{camera: "c", album: &kept, dev: &flash{}, m: NewMetrics(prometheus.NewRegistry()),
		fail: func(err error) { t.Error(err) },
		pace: pace{quiet: 10 * time.Second, motion: 500 * time.Millisecond, main: 2 * time.Second, mainToo: true}}
	look(t, r, 0, 1, motion.Result{})
	look(t, r, 100, 1, motion.Result{Candidate: true})
	r.dev.(*flash).newest = nil
	r.Lost()
	look(t, r, 200, 1, motion.Result{Candidate: true})
	look(t, r, 300, 1, motion.Result{Moving: true, Changes: []motion.Change{{Kind: motion.Began, Start: at(100)}}})
	require.Equal(t, []int{0, 200}, kept.times(stills.Preview))
}

func TestRecorderKeepsThePictureOfASpanThatBeginsAtOnce(t *testing.T) {
	var kept shelf
	r := &recorder{camera: "c", album: &kept, dev: &flash{}, m: NewMetrics(prometheus.NewRegistry()),
		fail: func(err error) { t.Error(err) },
		pace: pace{quiet: 10 * time.Second, motion: 500 * time.Millisecond, main: 2 * time.Second}}
	look(t, r, 0, 1, motion.Result{})
	look(t, r, 100, 1, motion.Result{Moving: true, Changes: []motion.Change{{Kind: motion.Began, Start: at(100)}}})
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
		r := &recorder{camera: "c", album: &kept, dev: &flash{}, m: NewMetrics(prometheus.NewRegistry()),
			fail: func(err error) { t.Error(err) },
			pace: pace{quiet: 10 * time.Second, motion: 500 * time.Millisecond, main: 2 * time.Second, mainToo: true}}
		for ms := 0; ms < 12_000+wait; ms += 100 {
			look(t, r, ms, 1, motion.Result{Candidate: ms >= 11_700}) // a leaf, and then the thing itself
			require.LessOrEqual(t, len(r.held.previews)+len(r.held.mains), maxPreviews+maxMains)
			require.Less(t, len(r.held.pictures), codec.Kept)
		}
		look(t, r, 12_000+wait, 1,
			motion.Result{Moving: true, Changes: []motion.Change{{Kind: motion.Began, Start: at(12_000)}}})
		if wait <= 2000 {
			require.Contains(t, kept.times(stills.Preview), 12_000, "confirmed after %d ms", wait)
		}
		first := func(k stills.Kind) int {
			return slices.IndexFunc(kept.times(k), func(ms int) bool { return ms >= 12_000 && ms < 12_500 })
		}
		require.GreaterOrEqual(t, first(stills.Preview), 0, "confirmed after %d ms: %v", wait,
			kept.times(stills.Preview))
		if wait <= 2000 {
			require.GreaterOrEqual(t, first(stills.Main), 0, "confirmed after %d ms: %v", wait, kept.times(stills.Main))
		}
		last := 12_000
		for _, ms := range kept.times(stills.Preview) {
			if ms > last {
				require.LessOrEqual(t, ms-last, 500, "previews in motion, confirmed after %d ms: %v", wait,
					kept.times(stills.Preview))
				last = ms
			}
		}
	}
}

func TestRecorderKeepsStillsOfARegionsSpanThatBeginsWhileSomethingMoves(t *testing.T) {
	var kept shelf
	r := &recorder{camera: "c", album: &kept, dev: &flash{}, m: NewMetrics(prometheus.NewRegistry()),
		fail: func(err error) { t.Error(err) },
		pace: pace{quiet: 10 * time.Second, motion: 500 * time.Millisecond, main: 2 * time.Second, mainToo: true}}
	for ms := 0; ms <= 1900; ms += 100 {
		res := motion.Result{Moving: true}
		switch ms {
		case 0:
			res.Changes = []motion.Change{{Kind: motion.Began, Start: at(0)}}
		case 900:
			res.Changes = []motion.Change{{Kind: motion.Began, Region: "door", Start: at(600)}}
		}
		look(t, r, ms, 1, res)
	}
	require.Equal(t, []int{0, 500, 900, 1400, 1900}, kept.times(stills.Preview))
	require.Equal(t, []int{0, 900}, kept.times(stills.Main), "what begins has a full-resolution still of its own")
}

// The first picture of a span is kept when the decoder was fed several at once, whichever of them
// it is.
func TestRecorderKeepsTheFirstOfPicturesThatCameTogether(t *testing.T) {
	for first := range codec.MaxTogether {
		for confirmed := codec.MaxTogether; confirmed < 12; confirmed++ {
			var kept shelf
			f := &flash{}
			r := &recorder{camera: "c", album: &kept, dev: f, m: NewMetrics(prometheus.NewRegistry()),
				fail: func(err error) { t.Error(err) },
				pace: pace{quiet: 10 * time.Second, motion: 500 * time.Millisecond, main: 2 * time.Second}}
			look(t, r, -100, 1, motion.Result{})
			f.newest = append(f.newest[:0], 0, 100, 200)
			r.Came(codec.MaxTogether)
			for i := range codec.MaxTogether {
				r.Picture(t.Context(), codec.Picture{PTS: int64(100 * i), Width: 640}, at(100*i),
					motion.Result{Candidate: i >= first})
				r.Seen(t.Context())
			}
			for i := codec.MaxTogether; i < confirmed; i++ {
				look(t, r, 100*i, 1, motion.Result{Candidate: true})
			}
			look(t, r, 100*confirmed, 1, motion.Result{Moving: true,
				Changes: []motion.Change{{Kind: motion.Began, Start: at(100 * first)}}})
			require.Contains(t, kept.times(stills.Preview), 100*first, "confirmed at %d", confirmed)
		}
	}
}
