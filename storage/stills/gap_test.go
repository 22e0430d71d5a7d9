package stills

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGaps(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, small)
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	require.NoError(t, r.Append(still("cam", Preview, 0, 100)))
	require.NoError(t, r.Gap("cam", at(10), time.Time{}, "the camera does not answer"))
	require.NoError(t, r.Gap("cam", at(10), at(20), "wrong password"))
	require.NoError(t, r.Append(still("cam", Preview, 30*time.Second, 100)))
	require.NoError(t, r.Gap("cam", at(40), time.Time{}, strings.Repeat("ä", 2000)))
	require.NoError(t, r.Gap("never", at(-100), time.Time{}, "no video"))
	require.ErrorIs(t, r.Gap("cam", at(2), at(1), ""), ErrInvalid)
	require.ErrorIs(t, r.Gap("", at(2), at(3), ""), ErrInvalid)
	look := func() {
		t.Helper()
		_, err := r.Find("cam", Preview, At, at(15))
		none, _ := errors.AsType[*NoneError](err)
		require.Equal(t, ReasonOffline, none.Reason)
		require.Equal(t, &Gap{"cam", at(10), at(20), "wrong password"}, none.Gap)
		requireStill(t, r, still("cam", Preview, 0, 100), Before, at(15))
		_, err = r.Find("cam", Preview, After, at(50))
		require.Equal(t, ReasonOffline, reason(t, err))
		_, err = r.Find("never", Main, Before, at(0))
		require.ErrorContains(t, err, "no video")
		_, err = r.Find("cam", Preview, At, at(25))
		require.Equal(t, ReasonNothing, reason(t, err))
		require.Len(t, r.Gaps("cam", time.Time{}, time.Time{}), 2)
		require.Len(t, r.Gaps("cam", at(20), at(39)), 1)
		require.Len(t, r.Gaps("cam", at(21), at(39)), 0)
		require.Len(t, r.Gaps("cam", at(1000), time.Time{}), 1)
	}
	look()
	require.NoError(t, r.Close())
	r = open(t, dir, small)
	look()
	for i := range 20 {
		require.NoError(t, r.Append(still("cam", Main, time.Duration(i), 10000)))
	}
	look()
	require.NoError(t, r.Close())
	r = open(t, dir, small)
	look()
	requireClean(t, dir)
}

// TestGapThatLasts outlives the segment in which it was noted, also over restarts, until it is
// over.
func TestGapThatLasts(t *testing.T) {
	dir := memDir(t)
	opts := small
	opts.MaxBytes = 4 * opts.SegmentBytes
	r := open(t, dir, opts)
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	require.NoError(t, r.Gap("lost", at(-10), at(-5), "it was rebooted"))
	require.NoError(t, r.Gap("lost", at(0), time.Time{}, "no route to host"))
	fill := func(from int) {
		for i := range 50 {
			require.NoError(t, r.Append(still("cam", Preview, time.Duration(from+i)*time.Second, 14000)))
		}
	}
	for round := range 3 {
		fill(round * 100)
		_, err := r.Before("lost", Main, at(round*100+50))
		require.Equal(t, ReasonOffline, reason(t, err))
		require.ErrorContains(t, err, "no route to host")
		require.NoError(t, r.Close())
		requireClean(t, dir)
		r = open(t, dir, opts)
	}
	require.Len(t, r.Gaps("lost", time.Time{}, time.Time{}), 1, "the one that is over went with its segment")
	require.NoError(t, r.Gap("lost", at(0), at(400), "no route to host"))
	fill(500)
	require.Empty(t, r.Gaps("lost", time.Time{}, time.Time{}), "and so does this one when it is over")
}
