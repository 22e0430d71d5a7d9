package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/archive"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/journal/file"
	"vmsbridge/storage/stills"
)

// withStores is withJournal and a ring of n stills beside it.
func withStores(t *testing.T, n int) (dir string) {
	t.Helper()
	dir, _ = withJournal(t, n)
	ring, err := stills.Open(filepath.Join(dir, archive.StillsDir),
		stills.Options{MaxBytes: 64 << 20, SegmentBytes: 1 << 20})
	require.NoError(t, err)
	for i := range n {
		at := time.Date(2026, 1, 1, 12, 0, i, 0, time.UTC)
		require.NoError(t,
			ring.Append(stills.Still{Camera: "gate", Kind: stills.Preview, Time: at,
				JPEG: bytes.Repeat([]byte("picture "), 1000)}))
	}
	require.NoError(t, ring.Close())
	return dir
}

// hit flips a bit in the middle of a text within a file.
func hit(t *testing.T, path, text string) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	at := bytes.Index(b, []byte(text))
	require.GreaterOrEqual(t, at, 0)
	b[at+len(text)/2] ^= 4
	require.NoError(t, os.WriteFile(path, b, 0o600))
}

// hitEvent flips a bit in a text within an event of a journal: in a page that is in use, as others
// may still hold what they once did.
func hitEvent(t *testing.T, path, text string) {
	t.Helper()
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for at := 0; ; at += len(text) {
		next := bytes.Index(whole[at:], []byte(text))
		require.GreaterOrEqual(t, next, 0, "no event is in use")
		at += next
		b := bytes.Clone(whole)
		b[at+len(text)/2] ^= 4
		require.NoError(t, os.WriteFile(path, b, 0o600))
		h, err := file.Hold(path, time.Second)
		require.NoError(t, err)
		r, err := h.Check()
		require.NoError(t, errors.Join(err, h.Close()))
		if !r.Clean() {
			return
		}
	}
}

func TestFsck(t *testing.T) {
	dir := withStores(t, 40)
	r := do(t, "fsck", "--data", dir)
	require.Zero(t, r.code, r.out+r.err)
	require.Contains(t, r.out, "40 events, 0 ongoing, 39 waiting, 1 parked")
	require.Contains(t, r.out, "40 stills")
	require.Contains(t, r.out, "all is in order")

	journalFile := filepath.Join(dir, archive.JournalFile)
	segments, err := filepath.Glob(filepath.Join(dir, archive.StillsDir, "*"))
	require.NoError(t, err)
	hitEvent(t, journalFile, `"startTimestamp"`)
	for _, s := range segments {
		if st, err := os.Stat(s); err == nil && st.Size() >= 1<<20 {
			hit(t, s, "picture picture picture")
			break
		}
	}
	damaged, err := os.ReadFile(journalFile)
	require.NoError(t, err)
	r = do(t, "fsck", "--data", dir)
	require.Equal(t, exitWrong, r.code, r.out+r.err)
	require.Contains(t, r.out, "journal: "+journalFile)
	require.Contains(t, r.out, "wrong: ")
	require.Contains(t, r.out, "vmsbridge fsck --repair")
	now, err := os.ReadFile(journalFile)
	require.NoError(t, err)
	require.True(t, bytes.Equal(damaged, now), "looking changes nothing")

	r = do(t, "fsck", "--repair", "--json", "--data", dir)
	require.Zero(t, r.code, r.out+r.err)
	var v verdict
	require.NoError(t, json.Unmarshal([]byte(r.out), &v))
	require.True(t, v.Clean)
	require.NotEmpty(t, v.Journal.Problems)
	require.NotEmpty(t, v.Stills.Problems)
	require.NotEmpty(t, v.Stills.Repaired)
	require.Equal(t, 40, v.Journal.Holds["events"], "the one that was hit comes from the segments")
	require.Equal(t, 39, v.Stills.Holds["stills"], "all but the one that was hit")
	require.Len(t, v.Journal.Aside, 1)
	aside, err := os.ReadFile(v.Journal.Aside[0])
	require.NoError(t, err)
	require.True(t, bytes.Equal(damaged, aside), "nothing is thrown away")

	r = do(t, "fsck", "--data", dir)
	require.Zero(t, r.code, r.out+r.err)
	require.Contains(t, r.out, "all is in order")
	require.Contains(t, do(t, "queue", "list", "--data", dir).out, "waiting")
}

func TestFsckThatCannot(t *testing.T) {
	dir := withStores(t, 2)
	j, err := journal.Open(filepath.Join(dir, archive.JournalFile), journal.Options{})
	require.NoError(t, err)
	for _, args := range [][]string{{"fsck"}, {"fsck", "--repair"}} {
		r := do(t, append(args, "--data", dir)...)
		require.Equal(t, exitFailed, r.code)
		require.Contains(t, r.err, "is running: stop it first")
		require.Empty(t, r.out)
	}
	require.NoError(t, j.Close())

	empty := t.TempDir()
	r := do(t, "fsck", "--data", empty)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "has this bridge ever run")
	left, err := os.ReadDir(empty)
	require.NoError(t, err)
	require.Empty(t, left)

	// A bridge that has never had a still is in order.
	dir, _ = withJournal(t, 1)
	r = do(t, "fsck", "--data", dir)
	require.Zero(t, r.code, r.err)
	require.Contains(t, r.out, "not there yet")
}
