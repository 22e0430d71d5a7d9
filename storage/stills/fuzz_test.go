package stills

import (
	"bytes"
	"hash/crc32"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzIndex reads indexes of any bytes; what is accepted comes back the same.
func FuzzIndex(f *testing.F) {
	for _, v := range []uint32{1, version} {
		x := newIndex(v)
		x.add(seriesKey{"cam", Preview}, entry{5, 64, 10})
		x.add(seriesKey{"cam", Preview}, entry{3, 128, 11})
		x.add(seriesKey{"b", Main}, entry{-7, 192, 12})
		x.addNote(note{kind: typeGap, camera: "cam", from: 1, to: noEnd, reason: "offline"})
		whole := x.listing(77, 88).encode()
		if len(whole) != x.bytes {
			f.Fatalf("an index of %d bytes was taken for one of %d", len(whole), x.bytes)
		}
		f.Add(whole, v)
		f.Add(newIndex(v).listing(0, 0).encode(), v)
		f.Add(whole[:30], v)
	}
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255}, uint32(1))
	f.Fuzz(func(t *testing.T, b []byte, v uint32) {
		v = 1 + v%version
		name := func(p []byte) string { return string(p) }
		x, err := decodeListing(b, v, 1<<20, name)
		if err != nil {
			return
		}
		again := x.encode()
		require.Equal(t, b, again)
		y, err := decodeListing(again, v, 1<<20, name)
		require.NoError(t, err)
		require.Equal(t, x, y)
	})
}

// FuzzScan reads a segment of any bytes, in which good records stand: those that were not hit are found.
func FuzzScan(f *testing.F) {
	const salt = 77
	build := func(junk []byte) (b []byte, second uint32) {
		b = make([]byte, blockBytes)
		put := func(camera, body string, at int64) {
			h := record{length: uint32(len(camera) + len(body)), time: at, kind: typeStill, stream: Main, camera: uint8(len(camera))}
			h.crc = crc32.Checksum([]byte(camera+body), castagnoli)
			p := make([]byte, h.size())
			h.encode(p, salt, uint32(len(b)))
			copy(p[recordHead:], camera+body)
			b = append(b, p...)
		}
		put("cam", "first", 1)
		b = append(b, junk...)
		b = append(b, make([]byte, -len(b)&(align-1))...)
		second = uint32(len(b))
		put("cam", "second", 2)
		return b, second
	}
	good, _ := build(nil)
	f.Add([]byte{})
	f.Add(good[blockBytes:])
	f.Add(bytes.Repeat(good[blockBytes:blockBytes+4], 50))
	f.Fuzz(func(t *testing.T, junk []byte) {
		b, second := build(junk)
		found := map[int64]string{}
		s := scanRecords(bytes.NewReader(b), salt, uint32(len(b)), func(r record, at uint32, camera, body []byte) {
			if at == second || at == blockBytes {
				found[r.time] = string(body)
			}
		})
		require.Equal(t, map[int64]string{1: "first", 2: "second"}, found)
		require.Equal(t, uint32(len(b)), s.end)
		// As a whole segment of foreign bytes.
		scanRecords(bytes.NewReader(junk), salt, uint32(len(junk)), func(record, uint32, []byte, []byte) {})
		_, _ = decodeBlock(junk, headMagic)
	})
}

// FuzzOpen opens a ring of which one stretch was overwritten: it opens, goes on, and gives back nothing but what was put in.
func FuzzOpen(f *testing.F) {
	f.Add(uint32(0), []byte{1})
	f.Add(uint32(64), []byte{0, 0, 0, 0})
	f.Add(uint32(65536-64), bytes.Repeat([]byte{9}, 64))
	f.Fuzz(func(t *testing.T, at uint32, junk []byte) {
		dir := t.TempDir()
		r, err := Open(dir, small)
		require.NoError(t, err)
		var list []Still
		for i := range 3 {
			list = append(list, still("cam", Preview, time.Duration(i)*time.Second, 50))
			require.NoError(t, r.Append(list[i]))
		}
		require.NoError(t, r.Close())
		edit(t, segmentFiles(t, dir)[0], func(b []byte) []byte { copy(b[int(at)%len(b):], junk); return b })
		r, err = Open(dir, small)
		require.NoError(t, err)
		survey(t, r, list)
		require.NoError(t, r.Append(still("cam", Preview, time.Hour, 50)))
		require.NoError(t, r.Close())
	})
}

// FuzzRevive takes a segment that has lost both ends, in which good records stand among any bytes: they are found, and
// nothing but what was put in.
func FuzzRevive(f *testing.F) {
	f.Add([]byte{}, uint32(0))
	f.Add(bytes.Repeat([]byte{0xd9, 0xe1, 0xa7, 0x53}, 50), uint32(9))
	f.Add([]byte("00x"), uint32(9)) // a record's time is hit, too
	f.Fuzz(func(t *testing.T, junk []byte, at uint32) {
		dir := t.TempDir()
		opts := small
		r, err := Open(dir, opts)
		require.NoError(t, err)
		var list []Still
		for i := range 3 {
			list = append(list, still("cam", Preview, time.Duration(i)*time.Second, 50))
			require.NoError(t, r.Append(list[i]))
		}
		used := int(r.lanes[quiet].pos)
		require.NoError(t, r.Close())
		hit := 0
		edit(t, segmentFiles(t, dir)[0], func(b []byte) []byte {
			clear(b[:blockBytes])
			clear(b[len(b)-blockBytes:])
			from := blockBytes + int(at)%(len(b)-2*blockBytes)
			n := copy(b[from:len(b)-blockBytes], junk)
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
