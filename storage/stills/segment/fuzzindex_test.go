package segment

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzIndex reads indexes of any bytes; what is accepted comes back the same.
func FuzzIndex(f *testing.F) {
	x := NewDraft()
	x.Add(Key{"cam", Preview}, Entry{5, 64, 10})
	x.Add(Key{"cam", Preview}, Entry{3, 128, 11})
	x.Add(Key{"b", Main}, Entry{-7, 192, 12})
	x.AddNote(Note{Type: TypeGap, Camera: "cam", From: 1, To: NoEnd, Reason: "offline"})
	whole := x.Listing(77, 88).Encode(0)
	if len(whole) != x.Bytes {
		f.Fatalf("an index of %d bytes was taken for one of %d", len(whole), x.Bytes)
	}
	f.Add(whole)
	f.Add(NewDraft().Listing(0, 0).Encode(0))
	f.Add(whole[:30])
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		name := func(p []byte) string { return string(p) }
		x, y := &Listing{}, &Listing{}
		if err := x.parse(b, 1<<20, name); err != nil {
			return
		}
		again := x.Encode(0)
		require.Equal(t, b, again)
		require.NoError(t, y.parse(again, 1<<20, name))
		require.Equal(t, x, y)
	})
}
