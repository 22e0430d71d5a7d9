package stills

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// go test -run '^$' -bench Append -benchtime 20000x ./storage/stills
//
// Beside it a plain sequential writer of the same bytes, which neither checks nor finds nor ever
// drops anything.
func BenchmarkAppend(b *testing.B) {
	const size = 30000
	body := picture(1, size)
	b.Run("impl=ring/size=30kB", func(b *testing.B) {
		r := open(b, b.TempDir(), Options{MaxBytes: 256 << 20})
		b.SetBytes(size)
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			i++
			require.NoError(b, r.Append(Still{"100d4c41", Preview, epoch.Add(time.Duration(i) * time.Second), body}))
		}
	})
	b.Run("impl=write/size=30kB", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "plain"))
		require.NoError(b, err)
		defer f.Close()
		b.SetBytes(size)
		var at, flushed int64
		for b.Loop() {
			_, err := f.WriteAt(body, at%(256<<20))
			require.NoError(b, err)
			if at += size; at-flushed > 16<<20 { // about as often as the ring
				flushed = at
				require.NoError(b, f.Sync())
			}
		}
	})
}

// million is a ring of n small stills of 16 cameras in about n/250 segments.
func million(b *testing.B, n int) (string, Options) {
	dir := b.TempDir()
	opts := Options{MaxBytes: 8 << 30, SegmentBytes: 64 << 10, FlushEvery: time.Hour, MinFree: -1}
	r, err := Open(dir, opts)
	require.NoError(b, err)
	body := picture(1, 180)
	for i := range n {
		require.NoError(b, r.Append(Still{cameras[i%len(cameras)], Preview, epoch.Add(time.Duration(i) * time.Second),
			body}))
	}
	require.NoError(b, r.Close())
	return dir, opts
}

var cameras = []string{"cam-00", "cam-01", "cam-02", "cam-03", "cam-04", "cam-05", "cam-06", "cam-07", "cam-08",
	"cam-09", "cam-10", "cam-11", "cam-12", "cam-13", "cam-14", "cam-15"}

// go test -run '^$' -bench Million/open -benchtime 3x ./storage/stills
// go test -run '^$' -bench Million/find -benchtime 20000x ./storage/stills
func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	dir, opts := million(b, n)
	var r *Ring
	b.Run("open", func(b *testing.B) {
		var before, after runtime.MemStats
		var took time.Duration
		for b.Loop() {
			if r != nil {
				require.NoError(b, r.Close())
				r = nil
			}
			runtime.GC()
			runtime.ReadMemStats(&before)
			began := time.Now()
			var err error
			r, err = Open(dir, opts)
			require.NoError(b, err)
			took = time.Since(began)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(took.Milliseconds()), "ms/open")
		b.ReportMetric(float64(r.Stats().Segments), "segments")
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-heap")
	})
	if r == nil {
		r = open(b, dir, opts)
	} else {
		defer r.Close()
	}
	for _, load := range []bool{false, true} {
		name := "find/load=none"
		if load {
			name = "find/load=append"
		}
		b.Run(name, func(b *testing.B) {
			stop, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				body := picture(2, 30000)
				for i := 0; load; i++ {
					select {
					case <-stop:
						return
					default:
					}
					_ = r.Append(Still{"load", Main, epoch.Add(time.Duration(i) * time.Millisecond), body})
					if i%50 == 0 {
						_ = r.Flush()
					}
				}
			}()
			rng := rand.New(rand.NewPCG(1, 1))
			var took []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				at := epoch.Add(time.Duration(20+rng.IntN(n-20)) * time.Second)
				began := time.Now()
				_, err := r.Find(cameras[rng.IntN(16)], Preview, Before, at)
				took = append(took, time.Since(began))
				require.NoError(b, err)
			}
			close(stop)
			<-done
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}
