package segment

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzIndex reads indexes of any bytes; what is accepted comes back the same.
func FuzzIndex(f *testing.F) {
	for _, v := range []uint32{1, Version} {
		x := NewDraft(v)
		x.Add(Key{"cam", Preview}, Entry{5, 64, 10})
		x.Add(Key{"cam", Preview}, Entry{3, 128, 11})
		x.Add(Key{"b", Main}, Entry{-7, 192, 12})
		x.AddNote(Note{Type: TypeGap, Camera: "cam", From: 1, To: NoEnd, Reason: "offline"})
		whole := x.Listing(77, 88).Encode()
		if len(whole) != x.Bytes {
			f.Fatalf("an index of %d bytes was taken for one of %d", len(whole), x.Bytes)
		}
		f.Add(whole, v)
		f.Add(NewDraft(v).Listing(0, 0).Encode(), v)
		f.Add(whole[:30], v)
	}
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255}, uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, v uint32) {
		v = 1 + v%Version
		name := func(p []byte) string { return string(p) }
		x, y := &Listing{}, &Listing{}
		if err := x.parse(b, v, 1<<20, name); err != nil {
			return
		}
		again := x.Encode()
		require.Equal(t, b, again)
		require.NoError(t, y.parse(again, v, 1<<20, name))
		require.Equal(t, x, y)
	})
}
