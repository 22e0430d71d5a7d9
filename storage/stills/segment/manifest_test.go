package segment

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestManifest is read as it was written: any numbers, and where they do not fit, the newest.
func TestManifest(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		m := Manifest{Sequence: 1 + rng.Uint64N(1<<40), Until: rng.Uint64N(1 << 40)}
		for n, i := uint64(rng.IntN(1000)), 0; i < rng.IntN(300); i++ {
			n += 1 + uint64(rng.IntN(3)*rng.IntN(100))
			m.Segments = append(m.Segments, n)
		}
		for range rng.IntN(5) {
			m.Lost = append(m.Lost, rng.Uint64N(1<<40))
		}
		p := m.Encode()
		require.LessOrEqual(t, len(p), ManifestSlot)
		got, err := DecodeManifest(append(p, make([]byte, ManifestSlot-len(p))...))
		require.NoError(t, err)
		require.Equal(t, m, got)
		p[rng.IntN(len(p))] ^= 1 << rng.IntN(8)
		_, err = DecodeManifest(p)
		require.Error(t, err)
	}
	var m Manifest
	for n := uint64(1); n < 20_000; n += 2 {
		m.Segments = append(m.Segments, n)
	}
	got, err := DecodeManifest(m.Encode())
	require.NoError(t, err)
	require.Greater(t, len(got.Segments), 3000)
	require.Equal(t, m.Segments[len(m.Segments)-len(got.Segments):], got.Segments)
}

// FuzzManifest: a slot of any bytes names sorted numbers or none.
func FuzzManifest(f *testing.F) {
	f.Add(Manifest{Sequence: 7, Segments: []uint64{1, 2, 3, 9}, Lost: []uint64{4}, Until: 9}.Encode())
	f.Add(Manifest{}.Encode())
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) >= manifestHead { // else the checksum lets nothing pass
			copy(p, manifestMagic)
			le.PutUint32(p[16:], uint32(len(p)))
			le.PutUint32(p[20:], manifestCRC(p))
		}
		m, err := DecodeManifest(p)
		if err == nil {
			require.True(t, slices.IsSorted(m.Segments))
			require.Len(t, slices.Compact(slices.Clone(m.Segments)), len(m.Segments))
		}
	})
}
