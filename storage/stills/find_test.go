package stills

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFindBeyondTheRange(t *testing.T) {
	r := open(t, t.TempDir(), small)
	s := still("cam", Main, 0, 10)
	require.NoError(t, r.Append(s))
	requireStill(t, r, s, After, time.Time{})
	requireStill(t, r, s, Before, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
}

func TestClockStepsHideNothing(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, small)
	rng := rand.New(rand.NewPCG(1, 2))
	var list []Still
	for i := range 300 {
		s := still("cam", Preview, time.Duration(rng.Int64N(int64(time.Hour))), 1000+i)
		list = append(list, s)
		require.NoError(t, r.Append(s))
	}
	look := func() {
		for range 1000 {
			at := epoch.Add(time.Duration(rng.Int64N(int64(time.Hour))))
			var want *Still
			for i, s := range list {
				if s.Time.Before(at) && (want == nil || s.Time.After(want.Time)) {
					want = &list[i]
				}
			}
			if want != nil {
				requireStill(t, r, *want, Before, at)
			}
		}
	}
	require.Zero(t, r.Stats().DroppedSegments)
	look()
	require.NoError(t, r.Close())
	r = open(t, dir, small)
	look()
}

func TestSameTimeReplaces(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, small)
	var last Still
	// Within a segment, and over several.
	for i := range 30 {
		last = Still{"cam", Main, epoch, picture(uint64(i), 9000)}
		require.NoError(t, r.Append(last))
		requireStill(t, r, last, At, epoch)
	}
	require.Greater(t, r.Stats().Segments, 3)
	require.NoError(t, r.Close())
	r = open(t, dir, small)
	for _, op := range []Op{At, AtOrBefore, AtOrAfter} {
		requireStill(t, r, last, op, epoch)
	}
	requireStill(t, r, last, Before, epoch.Add(time.Hour))
	requireStill(t, r, last, After, epoch.Add(-time.Hour))
	requireClean(t, dir)
}

func TestNewest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stills")
	r, err := Open(dir, Options{MaxBytes: 1 << 20, SegmentBytes: 64 << 10})
	require.NoError(t, err)
	_, ok := r.Newest("gate", Preview)
	require.False(t, ok)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, after := range []time.Duration{time.Second, 3 * time.Second, 2 * time.Second} {
		require.NoError(t, r.Append(Still{Camera: "gate", Kind: Preview, Time: at.Add(after), JPEG: []byte{1}}))
	}
	for range 2 { // and over a restart
		newest, ok := r.Newest("gate", Preview)
		require.True(t, ok)
		require.True(t, newest.Equal(at.Add(3*time.Second)), newest)
		_, ok = r.Newest("gate", Main)
		require.False(t, ok)
		require.NoError(t, r.Close())
		r, err = Open(dir, Options{MaxBytes: 1 << 20, SegmentBytes: 64 << 10})
		require.NoError(t, err)
	}
	require.NoError(t, r.Close())
}
