package stills

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCapAndPruned(t *testing.T) {
	dir := t.TempDir()
	small := small
	small.MaxBytes = 7 * small.SegmentBytes // too few for two lanes
	r := open(t, dir, small)
	require.NoError(t, r.Append(still("old", Preview, -time.Hour, 100)))
	for i := range 200 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 20000)))
		require.LessOrEqual(t, diskBytes(t, dir), small.MaxBytes)
	}
	look := func() {
		_, err := r.Find("cam", Preview, AtOrBefore, epoch)
		require.Equal(t, ReasonPruned, reason(t, err))
		_, err = r.Find("old", Preview, Before, epoch)
		require.Equal(t, ReasonPruned, reason(t, err), "also where nothing is left")
		_, err = r.Find("cam", Main, Before, epoch)
		require.Equal(t, ReasonNever, reason(t, err))
		requireStill(t, r, still("cam", Preview, 199*time.Second, 20000), Before, epoch.Add(time.Hour))
		require.LessOrEqual(t, r.Stats().Bytes, small.MaxBytes)
	}
	look()
	require.NotZero(t, r.Stats().DroppedSegments)
	require.NoError(t, r.Close())
	requireClean(t, dir)
	r = open(t, dir, small)
	look()
	// The mark of "old" goes on from segment to segment.
	for i := range 200 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(1000+i)*time.Second, 20000)))
	}
	require.NoError(t, r.Close())
	r = open(t, dir, small)
	_, err := r.Find("old", Preview, Before, epoch)
	require.Equal(t, ReasonPruned, reason(t, err))
}

func TestSmallerCap(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, small)
	for i := range 60 {
		require.NoError(t, r.Append(still("cam", Preview, time.Duration(i)*time.Second, 10000)))
	}
	require.NoError(t, r.Close())
	less := small
	less.MaxBytes = 256 << 10
	r = open(t, dir, less)
	require.LessOrEqual(t, diskBytes(t, dir), less.MaxBytes)
	requireStill(t, r, still("cam", Preview, 59*time.Second, 10000), Before, epoch.Add(time.Hour))
	require.NoError(t, r.Close())
	least := Options{MaxBytes: 128 << 10, MinFree: -1}
	r = open(t, dir, least)
	for i := range 60 {
		require.NoError(t, r.Append(still("cam", Main, time.Duration(i)*time.Second, 10000)))
		require.LessOrEqual(t, diskBytes(t, dir), least.MaxBytes)
	}
}

func TestSegmentSize(t *testing.T) {
	for _, c := range []struct{ max, segment, want int64 }{
		{4 << 30, 0, 16 << 20},
		{4 << 30, 1 << 20, 1 << 20},
		{100 << 20, 0, 100 << 20 / 8 &^ 4095},
		{20 << 20, 0, 4 << 20},
		{6 << 20, 0, 3 << 20},
		{128 << 10, 0, 64 << 10},
	} {
		o, err := Options{MaxBytes: c.max, SegmentBytes: c.segment}.withDefaults()
		require.NoError(t, err)
		require.Equal(t, c.want, o.SegmentBytes, "max %d", c.max)
	}
	for _, o := range []Options{{}, {MaxBytes: 100000}, {MaxBytes: 1 << 30, SegmentBytes: 1},
		{MaxBytes: 1 << 40, SegmentBytes: 2 << 30}} {
		_, err := Open(t.TempDir(), o)
		require.ErrorContains(t, err, "_size of")
	}
}

func TestRelease(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, small)
	for i := range 50 {
		require.NoError(t, r.Append(still("cam", Main, time.Duration(i), 15000)))
	}
	n := r.Stats().Segments
	freed, err := r.Release(100 << 10)
	require.NoError(t, err)
	require.EqualValues(t, 128<<10, freed)
	require.Equal(t, n-2, r.Stats().Segments)
	freed, err = r.Release(1 << 40)
	require.NoError(t, err)
	require.Positive(t, freed)
	require.Equal(t, 1, r.Stats().Segments)
	requireStill(t, r, still("cam", Main, 49, 15000), Before, epoch.Add(time.Hour))
}
