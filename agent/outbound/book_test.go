package outbound

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// What the bridge makes of what services say of their books, over starts of its own.
func TestWhatAServiceSaysOfItsBook(t *testing.T) {
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	report := func(n int) uint64 {
		for i := range n {
			ev := vms.Event{Type: vms.TypeMotion,
				StartTimestamp: vms.At(time.Now().Add(time.Duration(i) * time.Second)), ActorID: "c",
				ActorType: vms.ActorCamera}
			ev.ID = ev.NaturalID()
			require.NoError(t, j.Put(ev, true))
		}
		list, err := j.Peek(n)
		require.NoError(t, err)
		_, err = j.AckAll(list)
		require.NoError(t, err)
		low, err := j.Low()
		require.NoError(t, err)
		return low
	}
	b := newBook(j)
	said := func(service string, low uint64) bool {
		lost, err := b.compare(vms.Book{Service: service, Low: low})
		require.NoError(t, err)
		b = newBook(j) // it starts anew
		_, err = b.mark()
		require.NoError(t, err)
		return lost
	}
	claims := func(sure, low uint64) {
		t.Helper()
		m, err := b.mark()
		require.NoError(t, err)
		require.Equal(t, [2]uint64{sure, low}, [2]uint64{m.Sure, m.Low})
	}
	first := report(10)
	claims(0, first)
	require.False(t, said("one", 0), "it knows nothing of a bridge that has just got its new version")
	require.False(t, said("one", first))
	claims(first, first)
	second := report(10)
	claims(first, second)
	require.False(t, said("one", second))
	require.False(t, said("one", second))
	third := report(10)
	require.True(t, said("one", first), "a copy of earlier")
	claims(first, first)
	w, ok := b.wanted()
	require.True(t, ok)
	require.Equal(t, journal.Again{From: first, Upto: third}, w)
	require.True(t, said("one", 0), "and now nothing at all, before that was done")
	w, ok = b.wanted()
	require.True(t, ok)
	require.EqualValues(t, 0, w.From)
	claims(0, 0)
	queued, next, err := j.Again(w, "", 100)
	require.NoError(t, err)
	require.Equal(t, 30, queued)
	require.Empty(t, next)
	require.NoError(t, b.done(t.Context(), journal.Again{From: first, Upto: third}),
		"of the want before: this one stays")
	_, ok = b.wanted()
	require.True(t, ok)
	require.NoError(t, b.done(t.Context(), w))
	claims(0, third)
	fourth := report(30)
	claims(0, fourth)
	require.False(t, said("one", fourth))
	require.False(t, said("another", 0), "another service never had them")
	claims(0, fourth)
}
