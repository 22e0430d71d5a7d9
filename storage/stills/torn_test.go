package stills

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
)

// TestTornTail cuts what was written of the last record at every byte: whatever arrived, the stills
// before it are there, it is not, and the ring goes on.
func TestTornTail(t *testing.T) {
	dir := t.TempDir()
	opts := small
	r, err := Open(dir, opts)
	require.NoError(t, err)
	list := begun(t, r, Main, 3, 150)
	from := int(r.lanes[segment.Quiet].file.Place())
	require.NoError(t, r.Append(still("cam", Main, time.Minute, 200)))
	to := int(r.lanes[segment.Quiet].file.Place())
	require.NoError(t, r.Close())
	name := segmentFiles(t, dir)[0]
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	for at := from; at < to; at++ {
		b := bytes.Clone(whole)
		clear(b[at:to])
		torn := !bytes.Equal(b, whole)
		require.NoError(t, os.WriteFile(name, b, 0o600))
		r, err := Open(dir, opts)
		require.NoError(t, err)
		want := 3
		if !torn {
			want = 4 // only padding was cut
		}
		require.Equal(t, want, r.Stats().Stills, "cut at %d", at-from)
		require.Equal(t, 3, survey(t, r, list))
		next := still("cam", Main, 2*time.Minute, 300)
		require.NoError(t, r.Append(next))
		require.NoError(t, r.Close())
		r, err = Open(dir, opts)
		require.NoError(t, err)
		requireStill(t, r, next, At, next.Time)
		require.Equal(t, 3, survey(t, r, list))
		require.Equal(t, want+1, r.Stats().Stills)
		require.NoError(t, r.Close())
	}
}

// TestEveryByte flips each byte of a small segment in turn: no still comes back other than it was
// written, and only those that were hit are gone.
func TestEveryByte(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(dir, small)
	require.NoError(t, err)
	var list []Still
	for i := range 4 {
		list = append(list, still("cam", Kind(1+i%2), time.Duration(i)*time.Second, 90))
		require.NoError(t, r.Append(list[i]))
	}
	require.NoError(t, r.Gap("cam", epoch, epoch.Add(time.Second), "offline"))
	r.appendMu.Lock()
	r.retire(r.lanes[segment.Quiet])
	r.appendMu.Unlock()
	require.NoError(t, r.Close())
	requireClean(t, dir)
	name := segmentFiles(t, dir)[0]
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	used := 1200
	require.Less(t, bytes.LastIndexFunc(whole[:len(whole)-64], func(r rune) bool { return r != 0 }), used)
	for _, part := range [][2]int{{0, used}, {len(whole) - 64, len(whole)}} {
		for at := part[0]; at < part[1]; at++ {
			b := bytes.Clone(whole)
			b[at] ^= 0x41
			require.NoError(t, os.WriteFile(name, b, 0o600))
			r, err := Open(dir, small)
			require.NoError(t, err)
			found := 0
			for _, s := range list {
				got, err := r.Find(s.Camera, s.Kind, At, s.Time)
				if err == nil {
					require.True(t, bytes.Equal(s.JPEG, got.JPEG))
					found++
				}
			}
			require.GreaterOrEqual(t, found, 3, "byte %d", at)
			require.NoError(t, r.Close())
		}
	}
	t.Logf("%d bytes", used+64)
}
