package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// FuzzValue reads stored values of any bytes; what is accepted comes back as it was stored.
func FuzzValue(f *testing.F) {
	for _, ev := range []vms.Event{event("cam", 0, time.Second), event("ü\x00", 0, goesOn)} {
		b, err := sealEvent(ev, 7)
		require.NoError(f, err)
		f.Add([]byte(ev.ID), b)
		f.Add([]byte(ev.ID), b[:len(b)-1])
	}
	f.Add([]byte("x"), []byte{})
	f.Add([]byte("x"), append(head{start: 1, end: 2}.append(nil), `{"id":"x","type":"","startTimestamp":"1970-01-01T00:00:00.001Z","endTimestamp":"1970-01-01T00:00:00.002Z"}`...))
	f.Add([]byte("x"), resum(append([]byte{tagEvent, 0, 0, 0, 0}, make([]byte, 30)...)))
	f.Fuzz(func(t *testing.T, id, b []byte) {
		// As it is, and with a tag and checksum that are right.
		for _, v := range [][]byte{b, resum(append([]byte{tagEvent, 0, 0, 0, 0}, b...))} {
			ev, h, err := decodeEvent(id, v)
			if err == nil {
				again, err := sealEvent(ev, h.sequence)
				require.NoError(t, err)
				ev2, h2, err := decodeEvent(id, again)
				require.NoError(t, err)
				require.Equal(t, h, h2)
				require.Equal(t, ev.ID, ev2.ID)
			}
			_, _ = decodeHead(v)
			_ = unseal(tagEntry, v, &entryValue{})
			_ = unseal(tagParked, v, &parkedValue{})
		}
	})
}

// FuzzOpen opens a journal of which one stretch was overwritten. It opens, checks clean and works.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(folder(f), "journal.db")
	j, err := Open(path, Options{})
	require.NoError(f, err)
	for i := range 5 {
		require.NoError(f, j.Put(event("cam", time.Duration(i)*time.Second, goesOn), i%2 == 0))
	}
	require.NoError(f, j.crash())
	image, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(uint32(0), []byte{})
	f.Add(uint32(4096+16), []byte{1, 2, 3})
	f.Add(uint32(8192), bytes.Repeat([]byte{0xff}, 64))
	f.Fuzz(func(t *testing.T, at uint32, b []byte) {
		c := bytes.Clone(image)
		copy(c[int(at)%len(c):], b)
		path := filepath.Join(folder(t), "journal.db")
		require.NoError(t, os.WriteFile(path, c, 0o600))
		j, err := Open(path, Options{})
		require.NoError(t, err)
		require.NoError(t, j.Put(event("new", 0, 0), true))
		requireClean(t, j)
		require.NoError(t, j.Close())
	})
}
