package stills

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRange(t *testing.T) {
	dir := memDir(t)
	r := open(t, dir, small)
	at := func(s int) time.Time { return epoch.Add(time.Duration(s) * time.Second) }
	// Backwards, so that the segments overlap in no order; every tenth of both kinds.
	var want []Frame
	for i := 99; i >= 0; i-- {
		require.NoError(t, r.Append(Still{"cam", Preview, at(i), picture(uint64(i), 5000+i)}))
		if i%10 == 0 {
			require.NoError(t, r.Append(Still{"cam", Main, at(i), picture(uint64(i), 9000+i)}))
		}
	}
	for i := range 100 {
		want = append(want, Frame{at(i).UTC(), Preview, 5000 + i})
		if i%10 == 0 {
			want = append(want, Frame{at(i).UTC(), Main, 9000 + i})
		}
	}
	require.Greater(t, r.Stats().Segments, 8)
	for _, limit := range []int{0, 1, 2, 3, 7, 110, 111} {
		var got []Frame
		from := at(0)
		for more := true; more; {
			var page []Frame
			var err error
			page, more, err = r.Range("cam", 0, from, at(99), limit)
			require.NoError(t, err)
			require.NotEmpty(t, page)
			if limit > 0 {
				require.LessOrEqual(t, len(page), limit+1)
			}
			got = append(got, page...)
			from = page[len(page)-1].Time.Add(1)
		}
		require.Equal(t, want, got, "limit %d", limit)
	}
	page, more, err := r.Range("cam", Main, at(15), at(50), 0)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, []Frame{{at(20).UTC(), Main, 9020}, {at(30).UTC(), Main, 9030}, {at(40).UTC(), Main, 9040},
		{at(50).UTC(), Main, 9050}}, page)
	page, more, err = r.Range("cam", 0, at(50), at(49), 0)
	require.NoError(t, err)
	require.False(t, more)
	require.Empty(t, page)
	page, _, err = r.Range("other", 0, at(0), at(99), 0)
	require.NoError(t, err)
	require.Empty(t, page)
	_, _, err = r.Range("", 0, at(0), at(99), 0)
	require.ErrorIs(t, err, ErrInvalid)
	_, _, err = r.Range("cam", 9, at(0), at(99), 0)
	require.ErrorIs(t, err, ErrInvalid)
	// No picture is read.
	for _, name := range segmentFiles(t, dir) {
		edit(t, name, func(b []byte) []byte { clear(b); return b })
	}
	page, _, err = r.Range("cam", 0, time.Time{}, at(1000), 0)
	require.NoError(t, err)
	require.Len(t, page, len(want))
}
