package stills

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFindLooksIntoOnePart gives the answers of looking into all of them, as long as the parts follow each other; and notices
// when they do not, and when they do again.
func TestFindLooksIntoOnePart(t *testing.T) {
	x := newMemIndex()
	key := seriesKey{"cam", Preview}
	rng := rand.New(rand.NewPCG(1, 9))
	var segments []*indexed
	install := func(times ...int64) {
		l := &listing{runs: []run{{key: key, lo: 0, hi: uint32(len(times))}}}
		for i, at := range times {
			l.list = append(l.list, entry{time: at, place: uint32(i+8) * align})
		}
		segments = append(segments, &indexed{segFile: segFile{number: uint64(len(segments) + 1)}})
		x.install(segments[len(segments)-1], l)
	}
	at := int64(0)
	for range 20 {
		var times []int64
		for range 1 + rng.IntN(4) {
			at += 1 + rng.Int64N(3)
			times = append(times, at)
		}
		install(times...)
	}
	s := x.series[key]
	compare := func() {
		t.Helper()
		mixed := s.mixed
		defer func() { s.mixed = mixed }()
		for op := Before; op <= After; op++ {
			for q := int64(-1); q < at+3; q++ {
				s.mixed = true
				want, ok := s.find(op, q)
				s.mixed = mixed
				got, found := s.find(op, q)
				require.Equal(t, ok, found, fmt.Sprint(op, q))
				require.Equal(t, want, got, fmt.Sprint(op, q))
			}
		}
	}
	require.False(t, s.mixed)
	compare()
	s.drop(segments[0])
	s.drop(segments[7])
	s.forget(location{seg: segments[9], entry: s.parts[slices.IndexFunc(s.parts, func(p part) bool { return p.seg == segments[9] })].entry(0)})
	require.False(t, s.mixed)
	compare()
	install(5, 6)
	require.True(t, s.mixed)
	s.drop(segments[20])
	require.False(t, s.mixed)
	install(at, at+1) // one time twice
	require.True(t, s.mixed)
	compare()
}
