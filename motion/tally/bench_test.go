//go:build unix

package tally

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// processor is the time that the processor spent on this process: what else the machine does counts
// less than on the clock.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Run with: go test ./motion/tally -bench . -run '^$' -count 6 | benchstat -
//
// The loops over the 960 samples of a picture: the plain reference beside the version that is used.
func BenchmarkLoop(b *testing.B) {
	const samples = 960
	r := rand.New(rand.NewPCG(1, 2))
	x, y, skip, to := make([]uint16, samples), make([]uint16, samples), make([]uint16, samples), make([]uint16, samples)
	for i := range x {
		x[i] = uint16(r.UintN(50_000))
		y[i] = x[i] + uint16(r.UintN(900))
		if r.IntN(10) == 0 {
			skip[i] = None
		}
	}
	run := func(do, impl string, f func()) {
		b.Run(fmt.Sprintf("do=%s/impl=%s", do, impl), func(b *testing.B) {
			b.ReportAllocs()
			began := processor(b)
			for b.Loop() {
				f()
			}
			spent := float64(processor(b)-began) / float64(b.N)
			b.ReportMetric(spent, "cpu-ns/op")
			b.ReportMetric(spent/samples, "cpu-ns/cell")
		})
	}
	found := 0
	run("steps", "plain", func() { stepsPlain(x, y, skip, to) })
	run("steps", "fast", func() { Steps(x, y, skip, to) })
	run("at-most", "plain", func() { found += atMostPlain(y, skip, 20_000) })
	run("at-most", "fast", func() { found += AtMost(y, skip, 20_000) })
	run("without", "plain", func() { withoutPlain(to, y, skip) })
	run("without", "fast", func() { Without(to, y, skip) })
	require.NotZero(b, found)
}
