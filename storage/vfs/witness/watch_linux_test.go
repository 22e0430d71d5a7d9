package witness

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func watchOrSkip(t *testing.T, dir string, fault Fault, f func(mark func(string))) []Op {
	t.Helper()
	log, err := Watch(dir, fault, f)
	if errors.Is(err, ErrUnsupported) {
		t.Skipf("%v: run outside of the sandbox, on Linux 5.19 or newer", err)
	}
	require.NoError(t, err)
	return log
}

// writeSafely is the usual way to replace a file.
func writeSafely(dir, text string, syncFile, syncDir bool) error {
	f, err := os.Create(filepath.Join(dir, "new"))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if syncFile {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "file")); err != nil {
		return err
	}
	if syncDir {
		d, err := os.Open(dir)
		if err != nil {
			return err
		}
		defer d.Close()
		return d.Sync()
	}
	return nil
}

func TestWatchSeesEverythingInOrder(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	other := make(chan struct{})
	log := watchOrSkip(t, dir, nil, func(mark func(string)) {
		require.NoError(t, writeSafely(dir, "hello", true, true))
		mark("promised")
		require.NoError(t, writeSafely(elsewhere, "not seen", true, true))
		go func() {
			defer close(other)
			_ = os.WriteFile(filepath.Join(dir, "others"), []byte("not seen either"), 0o600)
		}()
		<-other
		f, err := os.OpenFile(filepath.Join(dir, "file"), os.O_RDWR, 0)
		require.NoError(t, err)
		_, err = f.WriteAt([]byte("J"), 3)
		require.NoError(t, err)
		require.NoError(t, f.Truncate(4))
		require.NoError(t, f.Close())
		require.NoError(t, os.Remove(filepath.Join(dir, "file")))
	})
	var got []string
	for _, op := range log {
		got = append(got, strings.ReplaceAll(op.String(), dir, "."))
	}
	require.Equal(t, []string{"create ./new", "write 5 bytes at 0 of ./new", "sync ./new", "rename ./new to ./file",
		"syncdir .",
		"mark promised", "write 1 bytes at 3 of ./file", "truncate ./file to 4", "remove ./file"}, got)
	require.Equal(t, "hello", string(log[1].Data))
}

func TestFaults(t *testing.T) {
	for n, op := range []Kind{Create, Write, Sync, Rename, SyncDir} {
		dir := t.TempDir()
		var err error
		watchOrSkip(t, dir, func(i int, o Op) int {
			if i == n {
				require.Equal(t, op, o.Kind)
				return int(syscall.EIO)
			}
			return 0
		}, func(func(string)) { err = writeSafely(dir, "hello", true, true) })
		require.ErrorIs(t, err, syscall.EIO, op)
		if op == Write {
			b, err := os.ReadFile(filepath.Join(dir, "new"))
			require.NoError(t, err)
			require.Equal(t, "he", string(b), "half of it")
		}
	}
}

// TestAFailedRemoveIsNone: os.Remove tries the other way to remove something too.
func TestAFailedRemoveIsNone(t *testing.T) {
	dir := t.TempDir()
	var err error
	first := true
	log := watchOrSkip(t, dir, func(_ int, o Op) int {
		if o.Kind == Remove && first {
			first = false
			return int(syscall.EIO)
		}
		return 0
	}, func(func(string)) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
		err = os.Remove(filepath.Join(dir, "file"))
	})
	require.Error(t, err)
	for _, op := range log {
		require.NotEqual(t, Remove, op.Kind, "the file is still there: %v", log)
	}
}

// TestCrash: the usual way loses nothing at any operation, and each of its shortcuts is found out.
func TestCrash(t *testing.T) {
	for _, c := range []struct {
		name              string
		syncFile, syncDir bool
		sound             bool
	}{{"both syncs", true, true, true}, {"no sync of the file", false, true, false},
		{"no sync of the folder", true, false, false}} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			log := watchOrSkip(t, dir, nil, func(mark func(string)) {
				for _, text := range []string{"one", "another", "a third"} {
					require.NoError(t, writeSafely(dir, text, c.syncFile, c.syncDir))
					mark(text)
				}
			})
			rng := rand.New(rand.NewPCG(1, 2))
			bad := 0
			for k := range len(log) + 1 {
				promised := ""
				for _, op := range log[:k] {
					if op.Kind == Mark {
						promised = op.Path
					}
				}
				for range 30 {
					to := t.TempDir()
					require.NoError(t, Crash(log[:k], dir, to, rng))
					b, _ := os.ReadFile(filepath.Join(to, "file"))
					// The next text may be there already; the last one promised, or a later one,
					// must be.
					ok := string(b) == promised || promised != "a third" &&
						(string(b) == "another" || string(b) == "a third" || string(b) == "one" && promised == "")
					if promised == "another" && string(b) == "one" {
						ok = false
					}
					if !ok {
						bad++
					}
				}
			}
			require.Equal(t, c.sound, bad == 0, "%d states lose something", bad)
		})
	}
}
