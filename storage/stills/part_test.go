package stills

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawEntries draws a series' stills of a segment, in order of time: now dense, now over years, as after a step of the clock.
func drawEntries(t *rapid.T) (list []entry) {
	at := rapid.Int64Range(math.MinInt64+1, math.MaxInt64/2).Draw(t, "first")
	for i := range rapid.IntRange(1, 40).Draw(t, "stills") {
		place := rapid.Uint32Range(blockBytes/align, maxSegmentBytes/align-1).Draw(t, "place") * align
		size := rapid.OneOf(rapid.Uint32Range(0, 100_000), rapid.Uint32Range(0, maxSize-1)).Draw(t, "size")
		list = append(list, entry{at, place, size})
		step := rapid.OneOf(rapid.Int64Range(1, 5), rapid.Int64Range(1, 1e10), rapid.Int64Range(maxSpan-3, maxSpan+3), rapid.Int64Range(1, math.MaxInt64/2))
		next := at + step.Draw(t, "step")
		if next < at || i == 39 {
			break
		}
		at = next
	}
	return list
}

// TestPartsAreWhatWasPacked compares parts with the plain list that they were packed from: what they hold, what is found, and what
// is left when stills are taken out.
func TestPartsAreWhatWasPacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := drawEntries(t)
		key := seriesKey{"cam", Main}
		r := &Ring{series: map[seriesKey]*series{}}
		seg := &segment{number: 1}
		r.installLocked(seg, &listing{runs: []run{{key, 0, uint32(len(list))}}, list: list})
		s := r.series[key]
		require.Len(t, seg.list, len(list))
		compare := func() {
			var got []entry
			for i := range s.parts {
				p := &s.parts[i]
				for n := range p.len() {
					got = append(got, p.entry(n))
					require.Equal(t, p.entry(n).time, p.at(n))
				}
				require.Equal(t, p.entry(0).time, p.min)
				require.Equal(t, p.entry(p.len()-1).time, p.max)
			}
			require.True(t, slices.Equal(list, got), "%v\n%v", list, got)
			require.False(t, s.mixed)
			for range 10 {
				at := list[rapid.IntRange(0, len(list)-1).Draw(t, "near")].time
				q := at + rapid.Int64Range(-2, 2).Draw(t, "by")
				for op := Before; op <= After; op++ {
					n := pick(list, op, q)
					got, ok := s.find(op, q)
					require.Equal(t, n >= 0, ok, fmt.Sprint(op, q-at))
					if ok {
						require.Equal(t, list[n], got.entry, fmt.Sprint(op, q-at))
					}
				}
			}
		}
		compare()
		for len(list) > 1 {
			n := rapid.IntRange(0, len(list)-1).Draw(t, "gone")
			s.forget(location{seg: seg, entry: list[n]})
			list = slices.Delete(list, n, n+1)
			compare()
		}
		require.True(t, s.drop(seg))
		require.True(t, s.empty())
		require.Equal(t, list[0].time, s.prunedTo)
	})
}

// endSegment has what is being written taken for full, so that it is packed.
func endSegment(r *Ring) {
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	if l := r.lanes[quiet]; l.file != nil {
		r.retire(l)
	}
}

// TestOneSegmentOverYears: a ring so slow, or a clock so wrong, that a segment's stills are of different years, finds them all.
func TestOneSegmentOverYears(t *testing.T) {
	dir := memDir(t)
	r := open(t, dir, small)
	var list []Still
	for i, after := range []time.Duration{0, time.Hour, 20 * time.Hour, 400 * day, 400*day + 1, 56 * 365 * day} {
		list = append(list, still("cam", Main, after, 1000+i))
		require.NoError(t, r.Append(list[i]))
	}
	for range 2 {
		require.Equal(t, len(list), survey(t, r, list))
		frames, more, err := r.Range("cam", Main, time.Time{}, epoch.Add(100*365*day), 0)
		require.NoError(t, err)
		require.False(t, more)
		require.Len(t, frames, len(list))
		for i, f := range frames {
			require.Equal(t, 1000+i, f.Size)
			require.True(t, f.Time.Equal(list[i].Time))
		}
		endSegment(r)
		require.NoError(t, r.Close())
		r = open(t, dir, small)
	}
}

// TestVeryLargeStill: a size that does not fit a packed entry is read from the record.
func TestVeryLargeStill(t *testing.T) {
	dir := memDir(t)
	opts := Options{MaxBytes: 256 << 20, SegmentBytes: 32 << 20, MinFree: -1}
	r := open(t, dir, opts)
	large, little := still("cam", Main, 0, maxSize+5), still("cam", Main, time.Second, 100)
	require.NoError(t, r.Append(large))
	require.NoError(t, r.Append(little))
	endSegment(r)
	require.NoError(t, r.Close())
	r = open(t, dir, opts)
	requireStill(t, r, large, Before, little.Time)
	requireStill(t, r, little, After, large.Time)
	frames, _, err := r.Range("cam", Main, large.Time, little.Time, 0)
	require.NoError(t, err)
	require.Equal(t, []int{maxSize + 5, 100}, []int{frames[0].Size, frames[1].Size})
}
