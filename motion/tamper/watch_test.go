package tamper_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
	"vmsbridge/motion/tamper"
)

func newWatcher(t testing.TB, c tamper.Config) *watcher {
	inner, err := tamper.New(c)
	require.NoError(t, err)
	return &watcher{Watch: inner}
}

// run shows the watch the film from one time to another, two pictures a second.
func (w *watcher) run(f *film, from, to float64, do func(f *film)) {
	for at := from; at < to; at += 0.5 {
		f.see()
		if do != nil {
			do(f)
		}
		w.step(picture(f.take(2), at))
	}
}

func TestConfigIsChecked(t *testing.T) {
	_, err := tamper.New(tamper.Config{Accept: -1})
	require.ErrorContains(t, err, "negative")
}

// A view that was turned for good is the normal one after a while; a covered one never is.
func TestNewViewsAreAccepted(t *testing.T) {
	w, f := newWatcher(t, tamper.Config{Accept: time.Minute}), newFilm(1, 2)
	w.run(f, 0, 30, nil)
	f.x += 260
	w.run(f, 30, 150, nil)
	require.Len(t, w.spans, 1)
	require.Equal(t, tamper.Turned, w.spans[0].reason)
	require.True(t, w.spans[0].accepted)
	require.InDelta(t, 95, w.spans[0].ended, 10)
	f.x -= 260
	w.run(f, 150, 170, nil)
	require.Len(t, w.spans, 1, "the view of before is known too")
	w.run(f, 170, 400, func(f *film) { veil(f, 90, 1) })
	require.Len(t, w.spans, 2)
	require.Equal(t, tamper.Covered, w.spans[1].reason)
	require.Zero(t, w.spans[1].ended)
	f.x += 260
	w.run(f, 400, 420, nil)
	require.NotZero(t, w.spans[1].ended)
	require.Len(t, w.spans, 2)
}

// Who cuts the cable, turns the camera and plugs it in again is found; who only cuts the cable ends
// the span.
func TestReconnects(t *testing.T) {
	w, f := newWatcher(t, tamper.Config{}), newFilm(1, 2)
	w.run(f, 0, 30, nil)
	w.take(w.Gap(), 30)
	w.run(f, 90, 120, nil)
	require.Empty(t, w.spans, "a reconnect is no tampering")
	w.take(w.Gap(), 120)
	w.run(f, 150, 160, func(f *film) { veil(f, 60, 1) })
	require.Len(t, w.spans, 1)
	require.LessOrEqual(t, w.spans[0].told, 160.0)
	w.take(w.Gap(), 160)
	require.Equal(t, 160.0, w.spans[0].ended)
	w.run(f, 200, 210, func(f *film) { veil(f, 60, 1) })
	require.Len(t, w.spans, 2, "it is still covered")
}

// Clocks step, pictures are short, sizes change: no span is ever left open, starts after its end,
// or is made of that.
func TestOddPictures(t *testing.T) {
	w, f := newWatcher(t, tamper.Config{}), newFilm(1, 2)
	w.run(f, 0, 30, nil)
	require.Nil(t, w.Step(motion.Picture{}))
	require.Nil(t, w.Step(motion.Picture{Luma: make([]byte, 10), Width: 320, Height: 180, Stride: 320,
		Time: epoch.Add(time.Hour)}))
	w.run(f, -3600, -3570, nil)
	require.Empty(t, w.spans, "the clock was set back")
	w.run(f, 50_000, 50_030, nil)
	require.Empty(t, w.spans, "and forth")
	w.run(f, 50_030, 50_040, func(f *film) { veil(f, 60, 1) })
	require.Len(t, w.spans, 1)
	f.see()
	w.step(motion.Picture{Luma: f.take(2), Width: 160, Height: 90, Stride: 320, Time: epoch.Add(50_040 * time.Second)})
	require.NotZero(t, w.spans[0].ended, "another size is another view")
	for _, size := range [][2]int{{1, 1}, {31, 19}, {32, 20}, {33, 700}, {700, 33}, {1920, 1080}} {
		luma := make([]byte, size[0]*size[1])
		for i := range 12 {
			for j := range luma {
				luma[j] = byte(j*7 + i*j%5)
			}
			w.step(motion.Picture{Luma: luma, Width: size[0], Height: size[1], Stride: size[0],
				Time: epoch.Add(50_041*time.Second + time.Duration(i)*700*time.Millisecond)})
		}
	}
}

func TestDoubtIsTheStartOfTheSpan(t *testing.T) {
	w, f := newWatcher(t, tamper.Config{}), newFilm(1, 2)
	w.run(f, 0, 30, nil)
	_, doubts := w.Doubt()
	require.False(t, doubts)
	w.run(f, 30, 32, func(f *film) { veil(f, 60, 1) })
	since, doubts := w.Doubt()
	require.True(t, doubts)
	w.run(f, 32, 40, func(f *film) { veil(f, 60, 1) })
	require.Equal(t, offset(since), w.spans[0].start)
	reason, last := w.Open()
	require.Equal(t, tamper.Covered, reason)
	require.Equal(t, 39.5, offset(last))
}

// The watch allocates nothing, whatever it sees.
func TestStepAllocatesNothing(t *testing.T) {
	w, f := newWatcher(t, tamper.Config{}), newFilm(1, 2)
	at := 0.0
	step := func() {
		at += 0.25
		w.Step(picture(f.luma, at))
	}
	f.see()
	f.take(2)
	step()
	for name, do := range map[string]func(){"as it is": func() {}, "covered": func() { veil(f, 60, 1) },
		"turned": func() { f.look(260, 0) }} {
		f.see()
		do()
		f.take(2)
		require.Zero(t, testing.AllocsPerRun(200, step), name)
	}
}

// go test -bench Step -benchmem ./motion/tamper. What one picture costs, by how many come in a
// second: two of them are looked at, the others only compared with the one before.
func BenchmarkStep(b *testing.B) {
	f := newFilm(1, 2)
	f.see()
	pictures := [][]byte{append([]byte(nil), f.take(2)...), append([]byte(nil), f.take(2)...)}
	for _, rate := range []float64{2, 10, 30} {
		b.Run(fmt.Sprintf("rate=%v/size=320x180", rate), func(b *testing.B) {
			w := newWatcher(b, tamper.Config{})
			b.SetBytes(int64(len(f.luma)))
			b.ReportAllocs()
			at := 0.0
			for i := 0; b.Loop(); i++ {
				at += 1 / rate
				w.Step(picture(pictures[i%2], at))
			}
		})
	}
	b.Run("rate=10/size=320x180/still", func(b *testing.B) {
		w := newWatcher(b, tamper.Config{})
		b.SetBytes(int64(len(f.luma)))
		at := 0.0
		for b.Loop() {
			at += 0.1
			w.Step(picture(pictures[0], at))
		}
	})
}

// TestLightThatDriftsIsNoNoise: where an encoder repeats what is quiet bit by bit, a cloud changes
// every block of every picture for a while; when it has passed, the picture is no more frozen than
// before.
func TestLightThatDriftsIsNoNoise(t *testing.T) {
	f := newFilm(3, 0)
	inner, err := tamper.New(tamper.Config{})
	require.NoError(t, err)
	w := &watcher{Watch: inner}
	for i := range 400 {
		at := float64(i) / 10
		f.see()
		f.light(1-0.2*min(1, max(0, at-4)/12), 1)
		w.step(picture(f.take(0), at))
	}
	w.take(w.Gap(), 40)
	require.Empty(t, w.spans)
}
