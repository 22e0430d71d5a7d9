package main

import (
	"image"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/lab/chart"
)

// What is shown of a span is a picture of it, whatever moved before it began and after it ended.
func TestSightsOfASpan(t *testing.T) {
	second := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	var s sights
	see := func(at, share float64) {
		if s.wants(share) {
			s.add(candidate{chart.Still{At: second(at), Luma: image.NewGray(image.Rect(0, 0, 1, 1))}, share})
		}
	}
	for i := range 100 { // for ten seconds something large moves that is no event
		see(float64(i)/10, 0.5)
	}
	require.LessOrEqual(t, len(s.kept), keptSights)
	see(10, 0.01)
	see(10.1, 0.03)
	see(10.2, 0.02)
	s.begin(second(10)) // confirmed at 10.3
	see(10.3, 0.02)
	see(10.4, 0.04)
	see(10.5, 0.02)
	see(11, 0.3) // after the end, which is known at 12
	require.Equal(t, second(10.4), s.end(second(10.6)).At)
	see(12.5, 0.001)
	s.begin(second(12.5))
	require.Equal(t, second(12.5), s.end(second(13)).At, "not what moved before")
	require.Nil(t, s.end(second(20)).Luma)
	require.False(t, s.wants(0))
}
