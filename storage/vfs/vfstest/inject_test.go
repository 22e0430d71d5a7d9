package vfstest

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/vfs"
)

func TestInject(t *testing.T) {
	var ops []OpKind
	fail := OpKind("")
	fs := Inject(vfs.OS, func(op Op) error {
		ops = append(ops, op.Kind)
		if op.Kind == fail {
			return syscall.EIO
		}
		return nil
	})
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	calls := func() (errs []error) {
		keep := func(_ any, err error) { errs = append(errs, err) }
		errs = append(errs, fs.MakeDir(dir))
		l, err := fs.Lock(filepath.Join(dir, "LOCK"))
		keep(l, err)
		if err == nil {
			defer l.Close()
		}
		f, err := fs.Create(name, 10)
		keep(f, err)
		if err == nil {
			keep(f.WriteAt([]byte("0123456789"), 0))
			errs = append(errs, f.Sync(), f.Close(), fs.SyncDir(dir))
		}
		f, err = fs.Open(name, false)
		keep(f, err)
		if err == nil {
			keep(f.ReadAt(make([]byte, 2), 0))
			errs = append(errs, f.Close())
		}
		errs = append(errs, fs.Remove(name))
		return errs
	}
	require.NoError(t, errors.Join(calls()...))
	require.Equal(t, []OpKind{OpMakeDir, OpLock, OpCreate, OpWrite, OpSync, OpSyncDir, OpOpen, OpRead, OpRemove}, ops)
	for _, fail = range []OpKind{OpMakeDir, OpLock, OpCreate, OpWrite, OpSync, OpSyncDir, OpOpen, OpRead, OpRemove} {
		require.ErrorIs(t, errors.Join(calls()...), syscall.EIO, "%s", fail)
		_ = os.Remove(name)
	}
}

func TestInjectTearsWrites(t *testing.T) {
	failing := false
	fs := Inject(vfs.OS, func(op Op) error {
		if failing && op.Kind == OpWrite {
			return syscall.ENOSPC
		}
		return nil
	})
	f, err := fs.Create(filepath.Join(t.TempDir(), "f"), 10)
	require.NoError(t, err)
	defer f.Close()
	failing = true
	n, err := f.WriteAt([]byte("01234567"), 0)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 4, n)
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 10))
	require.NoError(t, err)
	require.True(t, bytes.Equal([]byte("0123\x00\x00\x00\x00\x00\x00"), b))
}
