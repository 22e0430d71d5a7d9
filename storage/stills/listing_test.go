package stills

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzIndex reads indexes of any bytes; what is accepted comes back the same.
func FuzzIndex(f *testing.F) {
	for _, v := range []uint32{1, version} {
		x := newDraft(v)
		x.add(seriesKey{"cam", Preview}, entry{5, 64, 10})
		x.add(seriesKey{"cam", Preview}, entry{3, 128, 11})
		x.add(seriesKey{"b", Main}, entry{-7, 192, 12})
		x.addNote(note{kind: typeGap, camera: "cam", from: 1, to: noEnd, reason: "offline"})
		whole := x.listing(77, 88).encode()
		if len(whole) != x.bytes {
			f.Fatalf("an index of %d bytes was taken for one of %d", len(whole), x.bytes)
		}
		f.Add(whole, v)
		f.Add(newDraft(v).listing(0, 0).encode(), v)
		f.Add(whole[:30], v)
	}
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255}, uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, v uint32) {
		v = 1 + v%version
		name := func(p []byte) string { return string(p) }
		x, y := &listing{}, &listing{}
		if err := x.parse(b, v, 1<<20, name); err != nil {
			return
		}
		again := x.encode()
		require.Equal(t, b, again)
		require.NoError(t, y.parse(again, v, 1<<20, name))
		require.Equal(t, x, y)
	})
}
