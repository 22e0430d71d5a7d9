package stills

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/storage/stills/segment"
)

// drawEntries draws a series' stills of a segment, in order of time: now dense, now over years, as
// after a step of the clock.
func drawEntries(t *rapid.T) (list []segment.Entry) {
	at := rapid.Int64Range(math.MinInt64+1, math.MaxInt64/2).Draw(t, "first")
	for i := range rapid.IntRange(1, 40).Draw(t, "stills") {
		place := rapid.Uint32Range(segment.BlockBytes/segment.Align, segment.MaxSegmentBytes/segment.Align-1).Draw(t,
			"place") * segment.Align
		size := rapid.OneOf(rapid.Uint32Range(0, 100_000), rapid.Uint32Range(0, maxSize-1)).Draw(t, "size")
		list = append(list, segment.Entry{Time: at, Place: place, Size: size})
		step := rapid.OneOf(rapid.Int64Range(1, 5), rapid.Int64Range(1, 1e10), rapid.Int64Range(maxSpan-3, maxSpan+3),
			rapid.Int64Range(1, math.MaxInt64/2))
		next := at + step.Draw(t, "step")
		if next < at || i == 39 {
			break
		}
		at = next
	}
	return list
}

// TestPartsAreWhatWasPacked compares parts with the plain list that they were packed from: what
// they hold, what is found, and what is left when stills are taken out.
func TestPartsAreWhatWasPacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawEntries(t)
		key := segment.Key{Camera: "cam", Kind: segment.Main}
		x := newIndex()
		seg := &member{File: segment.File{Number: 1}}
		x.Install(seg, &segment.Listing{Runs: []segment.Run{{Key: key, Lo: 0, Hi: uint32(len(list))}}, List: list})
		s := x.series[key]
		require.Len(t, seg.list, len(list))
		compare := func() {
			var got []segment.Entry
			for i := range s.parts {
				p := &s.parts[i]
				for n := range p.len() {
					got = append(got, p.entry(n))
					require.Equal(t, p.entry(n).Time, p.at(n))
				}
				require.Equal(t, p.entry(0).Time, p.min)
				require.Equal(t, p.entry(p.len()-1).Time, p.max)
			}
			require.True(t, slices.Equal(list, got), "%v\n%v", list, got)
			require.False(t, s.mixed)
			for range 10 {
				at := list[rapid.IntRange(0, len(list)-1).Draw(t, "near")].Time
				q := at + rapid.Int64Range(-2, 2).Draw(t, "by")
				for op := Before; op <= After; op++ {
					n := pick(list, op, q)
					got, ok := s.find(op, q)
					require.Equal(t, n >= 0, ok, fmt.Sprint(op, q-at))
					if ok {
						require.Equal(t, list[n], got.Entry, fmt.Sprint(op, q-at))
					}
				}
			}
		}
		compare()
		for len(list) > 1 {
			n := rapid.IntRange(0, len(list)-1).Draw(t, "gone")
			s.forget(location{Seg: seg, Entry: list[n]})
			list = slices.Delete(list, n, n+1)
			compare()
		}
		require.True(t, s.drop(seg))
		require.True(t, s.empty())
		require.Equal(t, list[0].Time, s.prunedTo)
	})
}
