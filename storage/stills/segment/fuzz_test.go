package segment

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzScan reads a segment of any bytes, in which good records stand: those that were not hit are
// found.
func FuzzScan(f *testing.F) {
	const salt = 77
	build := func(junk []byte) (b []byte, second uint32) {
		b = make([]byte, BlockBytes)
		put := func(camera, body string, at int64) {
			h := StillRecord(Key{Camera: camera, Kind: Main}, at, []byte(body))
			b = AppendRecord(b, h, camera, []byte(body), salt, uint32(len(b)))
		}
		put("cam", "first", 1)
		b = append(b, junk...)
		b = append(b, make([]byte, -len(b)&(Align-1))...)
		second = uint32(len(b))
		put("cam", "second", 2)
		return b, second
	}
	good, _ := build(nil)
	f.Add([]byte{})
	f.Add(good[BlockBytes:])
	f.Add(bytes.Repeat(good[BlockBytes:BlockBytes+4], 50))
	f.Fuzz(func(t *testing.T, junk []byte) {
		b, second := build(junk)
		found := map[int64]string{}
		s := Records(bytes.NewReader(b), salt, uint32(len(b)), func(r Record, at uint32, camera, body []byte) {
			if at == second || at == BlockBytes {
				found[r.Time] = string(body)
			}
		})
		require.Equal(t, map[int64]string{1: "first", 2: "second"}, found)
		require.Equal(t, uint32(len(b)), s.end)
		// As a whole segment of foreign bytes.
		Records(bytes.NewReader(junk), salt, uint32(len(junk)), func(Record, uint32, []byte, []byte) {})
		_, _ = DecodeBlock(junk, HeadMagic)
	})
}
