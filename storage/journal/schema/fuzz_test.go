package schema

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal/sample"
	"vmsbridge/uplink/vms"
)

// FuzzValue reads stored values of any bytes; what is accepted comes back as it was stored.
func FuzzValue(f *testing.F) {
	for _, ev := range []vms.Event{sample.Event("cam", 0, time.Second), sample.Event("ü\x00", 0, sample.GoesOn)} {
		b, err := SealEvent(ev, 7)
		require.NoError(f, err)
		f.Add([]byte(ev.ID), b)
		f.Add([]byte(ev.ID), b[:len(b)-1])
	}
	f.Add([]byte("x"), []byte{})
	f.Add([]byte("x"), append(Head{Start: 1, End: 2}.append(nil), `{"id":"x","type":"","startTimestamp":"1970-01-01T00:00:00.001Z","endTimestamp":"1970-01-01T00:00:00.002Z"}`...))
	f.Add([]byte("x"), resum(append([]byte{tagEvent, 0, 0, 0, 0}, make([]byte, 30)...)))
	f.Fuzz(func(t *testing.T, id, b []byte) {
		// As it is, and with a tag and checksum that are right.
		for _, v := range [][]byte{b, resum(append([]byte{tagEvent, 0, 0, 0, 0}, b...))} {
			ev, h, err := ReadEvent(id, v)
			if err == nil {
				again, err := SealEvent(ev, h.Sequence)
				require.NoError(t, err)
				ev2, h2, err := ReadEvent(id, again)
				require.NoError(t, err)
				require.Equal(t, h, h2)
				require.Equal(t, ev.ID, ev2.ID)
			}
			_, _ = ReadHead(v)
			_ = new(Entry).Read(v)
			_ = new(ParkedEntry).Read(v)
		}
	})
}
