package stills

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
)

func TestDamageFoundByFind(t *testing.T) {
	dir, list := made(t)
	r := open(t, dir, small)
	// The disk rots while the ring is open.
	edit(t, segmentFiles(t, dir)[1], func(b []byte) []byte { b[64+500] ^= 1; return b })
	hit := list[9-1] // eight records fill the first segment
	for range 3 {
		got, err := r.Find("cam", Preview, AtOrBefore, hit.Time)
		require.NoError(t, err)
		if got.Time.Equal(hit.Time) {
			hit = list[9]
		}
	}
	require.LessOrEqual(t, r.Stats().DamagedRecords, uint64(1), "it is counted once")
	require.Equal(t, len(list)-1, survey(t, r, list))
	require.EqualValues(t, 1, r.Stats().DamagedRecords)
	require.Equal(t, len(list)-1, r.Stats().Stills)
}

// TestDamageIsTold once at Open, and once more for what is found later; an index alone is no
// damage.
func TestDamageIsTold(t *testing.T) {
	dir, list := made(t)
	opts := small
	var said []Damage
	opts.OnDamage = func(d Damage) { said = append(said, d) }
	hour := time.Duration(0)
	opts.Clock = func() (time.Time, time.Duration) { return epoch.Add(hour), hour }
	names := segmentFiles(t, dir)
	edit(t, names[0], func(b []byte) []byte { b[len(b)-segment.BlockBytes-100] ^= 1; return b })
	r, err := Open(dir, opts)
	require.NoError(t, err)
	require.Empty(t, said)
	require.NoError(t, r.Close())
	edit(t, names[1], func([]byte) []byte { return []byte("something else") })
	r, err = Open(dir, opts)
	require.NoError(t, err)
	require.Len(t, said, 1)
	require.Equal(t, 1, said[0].Segments)
	require.Contains(t, said[0].String(), "1 segments")
	edit(t, names[3], func(b []byte) []byte { b[2000] ^= 1; return b })
	survey(t, r, list)
	require.EqualValues(t, 1, r.Stats().DamagedRecords)
	r.tell()
	require.Len(t, said, 1, "not again within the hour")
	hour = 2 * time.Hour
	r.tell()
	require.Len(t, said, 2)
	require.Equal(t, Damage{Time: epoch.Add(hour), Stills: 1}, said[1])
	r.tell()
	require.Len(t, said, 2)
	require.NoError(t, r.Close())
}
