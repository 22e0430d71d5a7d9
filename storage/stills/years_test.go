package stills

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
)

// endSegment has what is being written taken for full.
func endSegment(r *Ring) {
	r.appendMu.Lock()
	defer r.appendMu.Unlock()
	if l := r.lanes[segment.Quiet]; l.file != nil {
		r.retire(l)
	}
}

// TestOneSegmentOverYears: a ring so slow, or a clock so wrong, that a segment's stills are of
// different years, finds them all.
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

// TestVeryLargeStill: one above 8 MiB is kept with its size as any other.
func TestVeryLargeStill(t *testing.T) {
	const size = 8<<20 + 5
	dir := memDir(t)
	opts := Options{MaxBytes: 256 << 20, SegmentBytes: 32 << 20, MinFree: -1}
	r := open(t, dir, opts)
	large, little := still("cam", Main, 0, size), still("cam", Main, time.Second, 100)
	require.NoError(t, r.Append(large))
	require.NoError(t, r.Append(little))
	endSegment(r)
	require.NoError(t, r.Close())
	r = open(t, dir, opts)
	requireStill(t, r, large, Before, little.Time)
	requireStill(t, r, little, After, large.Time)
	frames, _, err := r.Range("cam", Main, large.Time, little.Time, 0)
	require.NoError(t, err)
	require.Equal(t, []int{size, 100}, []int{frames[0].Size, frames[1].Size})
}
