package journal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzRead(f *testing.F) {
	f.Add([]byte{0, 0, 0, 13, 0x5b, 0x13, 0x9f, 0x1c, 0, 3, 'o', 'n', 'e', 0, 0, 0, 0, 0, 0, 0, 7})
	f.Add([]byte{0, 0, 0, 200, 1, 2, 3, 4, 5})
	f.Fuzz(func(t *testing.T, b []byte) {
		last := map[string]int64{}
		readNotes(b, last)
		for id := range last {
			require.LessOrEqual(t, len(id), len(b))
		}
	})
}
