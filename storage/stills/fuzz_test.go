package stills

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/stills/segment"
)

// FuzzOpen opens a ring of which one stretch was overwritten: it opens, goes on, and gives back
// nothing but what was put in.
func FuzzOpen(f *testing.F) {
	f.Add(uint32(0), []byte{1})
	f.Add(uint32(64), []byte{0, 0, 0, 0})
	f.Add(uint32(65536-64), bytes.Repeat([]byte{9}, 64))
	f.Fuzz(func(t *testing.T, at uint32, junk []byte) {
		dir := t.TempDir()
		r, err := Open(dir, small)
		require.NoError(t, err)
		list := begun(t, r, Preview, 3, 50)
		require.NoError(t, r.Close())
		edit(t, segmentFiles(t, dir)[0], func(b []byte) []byte { copy(b[int(at)%len(b):], junk); return b })
		r, err = Open(dir, small)
		require.NoError(t, err)
		survey(t, r, list)
		require.NoError(t, r.Append(still("cam", Preview, time.Hour, 50)))
		require.NoError(t, r.Close())
	})
}

// FuzzRevive takes a segment that has lost both ends, in which good records stand among any bytes:
// they are found, and nothing but what was put in.
func FuzzRevive(f *testing.F) {
	f.Add([]byte{}, uint32(0))
	f.Add(bytes.Repeat([]byte{0xd9, 0xe1, 0xa7, 0x53}, 50), uint32(9))
	f.Add([]byte("00x"), uint32(9)) // a record's time is hit, too
	f.Fuzz(func(t *testing.T, junk []byte, at uint32) {
		dir := t.TempDir()
		opts := small
		r, err := Open(dir, opts)
		require.NoError(t, err)
		list := begun(t, r, Preview, 3, 50)
		used := int(r.lanes[segment.Quiet].file.Place())
		require.NoError(t, r.Close())
		hit := 0
		edit(t, segmentFiles(t, dir)[0], func(b []byte) []byte {
			clear(b[:segment.BlockBytes])
			clear(b[len(b)-segment.BlockBytes:])
			from := segment.BlockBytes + int(at)%(len(b)-2*segment.BlockBytes)
			n := copy(b[from:len(b)-segment.BlockBytes], junk)
			if n > 0 && from < used {
				hit = 3 // it may be any of them
			}
			return b
		})
		r, err = Open(dir, opts)
		require.NoError(t, err)
		require.GreaterOrEqual(t, survey(t, r, list), 3-hit)
		require.NoError(t, r.Append(still("cam", Preview, time.Hour, 50)))
		require.NoError(t, r.Close())
		rep, err := Repair(dir, opts)
		require.NoError(t, err)
		require.Empty(t, rep.Problems)
	})
}
