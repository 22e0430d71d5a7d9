package stills

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
)

// TestFindLooksIntoOnePart gives the answers of looking into all of them, as long as the parts
// follow each other; and notices when they do not, and when they do again.
func TestFindLooksIntoOnePart(t *testing.T) {
	x := newIndex()
	key := segment.Key{Camera: "cam", Kind: segment.Preview}
	rng := rand.New(rand.NewPCG(1, 9))
	var segments []*member
	install := func(times ...int64) {
		l := &segment.Listing{Runs: []segment.Run{{Key: key, Lo: 0, Hi: uint32(len(times))}}}
		for i, at := range times {
			l.List = append(l.List, segment.Entry{Time: at, Place: uint32(i+8) * segment.Align})
		}
		segments = append(segments, &member{File: segment.File{Number: uint64(len(segments) + 1)}})
		x.Install(segments[len(segments)-1], l)
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
	s.forget(location{Seg: segments[9],
		Entry: s.parts[slices.IndexFunc(s.parts, func(p part) bool { return p.seg == segments[9] })].List[0]})
	require.False(t, s.mixed)
	compare()
	install(5, 6)
	require.True(t, s.mixed)
	s.drop(segments[20])
	require.False(t, s.mixed)
	install(at, at+1) // one time twice
	require.True(t, s.mixed)
	compare()
	newest := segments[len(segments)-1].Number
	require.False(t, s.later(at, newest))
	require.True(t, s.later(at, newest-1), "the first of the newest segment")
	require.True(t, s.later(at+1, newest-1), "the last")
	require.False(t, s.later(at+2, newest-1))
}
