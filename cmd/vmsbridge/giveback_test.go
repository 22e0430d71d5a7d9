package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/archive"
	"vmsbridge/agent/setup"
	"vmsbridge/storage/journal"
)

// TestWhatRootRepairsIsTheBridges: fsck and queue, run by root, leave nothing behind that the
// bridge's user cannot open, and touch nothing that is not of the stores.
func TestWhatRootRepairsIsTheBridges(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away; run this as root")
	}
	const user = 54321
	if err := os.Chown(t.TempDir(), user, user); errors.Is(err, syscall.EINVAL) {
		t.Skip("this namespace knows no other user than root to give files to")
	}
	dir := withStores(t, 40)
	all := func(f func(path string, owner int)) {
		require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := os.Lstat(path)
			require.NoError(t, err)
			uid, _ := setup.OwnerOf(info)
			f(path, uid)
			return nil
		}))
	}
	all(func(path string, _ int) { require.NoError(t, os.Lchown(path, user, user)) })
	foreign := filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(foreign, nil, 0o600))
	second := filepath.Join(dir, archive.JournalFile+".linked")
	require.NoError(t, os.Link(foreign, second))
	requireTheirs := func() {
		all(func(path string, owner int) {
			if path == foreign || path == second {
				require.Zero(t, owner, path)
			} else {
				require.Equal(t, user, owner, path)
			}
		})
	}
	path := filepath.Join(dir, archive.JournalFile)
	require.NoError(t, os.Remove(path+".lock"))
	hitEvent(t, path, `"startTimestamp"`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, archive.StillsDir, "stills-000000000009.seg"),
		bytes.Repeat([]byte("something else"), 10_000), 0o600))
	require.NoError(t, os.Remove(filepath.Join(dir, archive.StillsDir, "LOCK")))
	r := do(t, "fsck", "--repair", "--data", dir)
	require.Zero(t, r.code, r.out+r.err)
	requireTheirs()
	require.DirExists(t, filepath.Join(dir, archive.StillsDir, "aside"))

	hitEvent(t, path, `"startTimestamp"`)
	// so that it was not closed cleanly: the damage is looked for
	j, err := journal.Open(path, journal.Options{LockTimeout: time.Second})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	hitEvent(t, path, `"actor"`)
	r = do(t, "queue", "list", "--data", dir)
	require.Zero(t, r.code, r.err)
	requireTheirs()
}
