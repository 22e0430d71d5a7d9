package segment

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs"
)

// fill begins a segment and puts stills into it, and returns its draft.
func fill(t *testing.T, dir string, number uint64, stills int) (File, *Writer, *Draft) {
	t.Helper()
	file, w, err := Begin(vfs.OS, dir, NewBlock(number, Loud, MinSegmentBytes, time.Unix(5, 0)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	require.True(t, w.Empty())
	draft := NewDraft()
	for i := range stills {
		key, jpeg := Key{Camera: "cam", Kind: Main}, []byte(fmt.Sprint("still ", i))
		r := StillRecord(key, int64(i), jpeg)
		require.True(t, w.Fits(r.Size(), draft.Bytes+draft.Cost(key)))
		at, err := w.Put(w.Encode(nil, r, key.Camera, jpeg))
		require.NoError(t, err)
		draft.Add(key, Entry{Time: int64(i), Place: at, Size: uint32(len(jpeg))})
	}
	return file, w, draft
}

// load reads a segment as a start of the ring does.
func load(t *testing.T, dir string, number uint64) *Found {
	t.Helper()
	list, err := vfs.OS.List(dir)
	require.NoError(t, err)
	for _, e := range list {
		if n, ok := SegmentNumber(e.Name); ok && n == number {
			found, err := NewReader(vfs.OS, dir).Load(e, number)
			require.NoError(t, err)
			require.NoError(t, found.Broken)
			require.NoError(t, found.Trouble)
			return found
		}
	}
	t.Fatalf("no segment %d", number)
	return nil
}

// requireStills reads every still of a draft from the file.
func requireStills(t *testing.T, found *Found, draft *Draft) {
	t.Helper()
	handles := NewHandles(vfs.OS)
	defer handles.Close()
	for key, e := range draft.Series {
		for _, n := range e.List {
			h, err := handles.Take(&found.File)
			require.NoError(t, err)
			jpeg, err := found.ReadStill(h.File, key, n)
			handles.Give(h, err != nil)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint("still ", n.Time), string(jpeg))
			require.Len(t, jpeg, int(n.Size))
		}
	}
}

// TestWrittenIsFound: what a Writer wrote is found, by its records as long as the segment is open,
// and by its index once it is sealed.
func TestWrittenIsFound(t *testing.T) {
	dir := t.TempDir()
	file, w, draft := fill(t, dir, 7, 100)
	require.Equal(t, Loud, file.Lane)
	require.True(t, w.Dirty())
	f := w.BeginFlush()
	f.Run()
	require.NoError(t, f.Err)
	require.Positive(t, f.Done())
	require.False(t, w.Dirty())
	require.Zero(t, w.Unflushed())

	found := load(t, dir, 7)
	require.False(t, found.Sealed)
	require.Equal(t, draft, found.Draft)
	require.Equal(t, w.Place(), found.End)
	require.Equal(t, file, found.File)
	requireStills(t, found, draft)

	w.End(draft.Listing(11, 12))
	f = w.BeginFlush()
	f.Run()
	require.NoError(t, f.Err)
	f.Done()
	found = load(t, dir, 7)
	require.True(t, found.Sealed)
	require.Equal(t, draft.Listing(11, 12).Encode(0), found.Listing.Encode(0))
	require.EqualValues(t, 11, found.SealedAt)
	require.Zero(t, found.Scan.records, "no record was read for it")
	requireStills(t, found, draft)
}

// TestSettleMovesNoRecord: the times of an untrue clock become right by the ends alone, whether the
// file is open or not.
func TestSettleMovesNoRecord(t *testing.T) {
	for _, open := range []bool{true, false} {
		dir := t.TempDir()
		b := NewBlock(3, Quiet, MinSegmentBytes, time.Unix(5, 0))
		b.Version, b.Era, b.Created = VersionEra, 9, 0
		file, w, err := Begin(vfs.OS, dir, b)
		require.NoError(t, err)
		key, jpeg := Key{Camera: "cam", Kind: Main}, []byte("still")
		_, err = w.Put(w.Encode(nil, StillRecord(key, 100, jpeg), key.Camera, jpeg))
		require.NoError(t, err)
		through := w
		if !open {
			through = nil
		}
		require.NoError(t, Settle(vfs.OS, &file, through, 1000))
		require.NoError(t, Settle(vfs.OS, &file, through, 1000), "a second time changes nothing")
		require.NoError(t, w.Close())
		found := load(t, dir, 3)
		require.Zero(t, found.Era)
		require.EqualValues(t, 1000, found.Shift)
		require.True(t, found.Draft.Has(key, 1100))
		require.False(t, found.Draft.Has(key, 100))
	}
}
