package segment

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSaltThatAdds: a salt that was not known is replaced by one with which every header is still
// good.
func TestSaltThatAdds(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		salt := rng.Uint64()
		var p [RecordHead]byte
		Record{Length: 5, Time: int64(rng.Uint64()), Type: TypeStill, Kind: Main, Camera: 3,
			CRC: rng.Uint32()}.Encode(p[:], salt, 640)
		other := SaltThatAdds(le.Uint32(p[28:]) ^ headerCRC(p[:], 0, 640))
		_, err := DecodeRecord(p[:], other, 640, 1<<20)
		require.NoError(t, err)
		at := uint32(rng.IntN(1<<20)) &^ 7
		Record{Length: 5, Type: TypeStill, Kind: Main, Camera: 3}.Encode(p[:], salt, at)
		_, err = DecodeRecord(p[:], other, at, 1<<21)
		require.NoError(t, err)
	}
}
