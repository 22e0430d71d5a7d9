package stills

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSaltThatAdds: a salt that was not known is replaced by one with which every header is still good.
func TestSaltThatAdds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		salt := rng.Uint64()
		var p [recordHead]byte
		record{length: 5, time: int64(rng.Uint64()), kind: typeStill, stream: Main, camera: 3, crc: rng.Uint32()}.encode(p[:], salt, 640)
		other := saltThatAdds(le.Uint32(p[28:]) ^ headerCRC(p[:], 0, 640))
		_, err := decodeRecord(p[:], other, 640, 1<<20)
		require.NoError(t, err)
		at := uint32(rng.IntN(1<<20)) &^ 7
		record{length: 5, kind: typeStill, stream: Main, camera: 3}.encode(p[:], salt, at)
		_, err = decodeRecord(p[:], other, at, 1<<21)
		require.NoError(t, err)
	}
}
