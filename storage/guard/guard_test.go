package guard

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
)

func TestRunTurnsDamageIntoAnError(t *testing.T) {
	other := errors.New("other")
	require.NoError(t, Run(func() error { return nil }))
	require.Equal(t, other, Run(func() error { return other }))
	for name, f := range map[string]func() error{
		"a failed assertion": func() error { panic("assertion failed: bucket key") },
		"a wild slice":       func() error { return wild([]byte{200}) },
		"a fault of reading": func() error { return fault(t) },
	} {
		err := Run(f)
		_, damaged := errors.AsType[*DamageError](err)
		require.True(t, damaged, "%s gives %v", name, err)
		require.ErrorContains(t, err, "file is damaged", name)
	}
}

func wild(page []byte) error {
	_ = page[1:page[0]:page[0]]
	return nil
}

// fault reads a page of a mapping that the file no longer reaches, as one that the device cannot
// deliver.
func fault(t *testing.T) error {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.Truncate(4096))
	b, err := syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED)
	require.NoError(t, err)
	defer func() { _ = syscall.Munmap(b) }()
	require.NoError(t, f.Truncate(0))
	return errors.New(string(b[:1]))
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	db, file, err := Open(path, &bolt.Options{})
	require.NoError(t, err)
	_, _, err = Open(path, &bolt.Options{Timeout: time.Millisecond})
	require.ErrorIs(t, err, ErrLocked)

	// A bucket that should be there is missing.
	err = Run(func() error { return db.View(func(tx *bolt.Tx) error { Bucket(tx, []byte("events")); return nil }) })
	_, damaged := errors.AsType[*DamageError](err)
	require.True(t, damaged, "%v", err)

	// The panic left a lock behind. Who abandons the file can open it again.
	Abandon(file)
	db, _, err = Open(path, &bolt.Options{Timeout: time.Second})
	require.NoError(t, err)
	require.NoError(t, db.Close())

	_, _, err = Open(filepath.Join(path, "below a file"), &bolt.Options{})
	require.ErrorIs(t, err, syscall.ENOTDIR)
	require.NoError(t, os.WriteFile(path, []byte("not a database"), 0o600))
	_, _, err = Open(path, &bolt.Options{})
	_, damaged = errors.AsType[*DamageError](err)
	require.True(t, damaged, "%v", err)
}
