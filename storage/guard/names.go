package guard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vmsbridge/storage/vfs"
)

// What stands beside a file is named after it.
const (
	LockSuffix       = ".lock"       // empty; who has the file open holds a lock on it
	NewSuffix        = ".new"        // an empty file that is being made
	RecoveringSuffix = ".recovering" // what could be read of a damaged file, while it is being made
	CompactingSuffix = ".compacting" // the same without the free pages, while it is being made
	DamagedInfix     = ".damaged-"   // and a time: a damaged file that was set aside
	// keptDamaged is how many files set aside are kept, the newest ones, so that a bad disk does
	// not fill itself.
	keptDamaged = 2
)

// FinishRecovery ends what a crash cut off. A new file takes the name only when it is complete; if
// there is no file of that name but a recovered one, the damaged one has left its name already, and
// that is it. Half-made copies go; one that cannot be deleted is in nobody's way yet.
func FinishRecovery(path string) error {
	_ = Remove(path + CompactingSuffix)
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		_ = Remove(path + RecoveringSuffix)
		return nil
	}
	if _, err := os.Lstat(path + RecoveringSuffix); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return Rename(path+RecoveringSuffix, path)
}

// Rename gives a file another name, durably.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return vfs.OS.SyncDir(filepath.Dir(to))
}

// Remove deletes a file that may not be there.
func Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// AsideName is a name beside path that nothing has yet.
func AsideName(path string, now time.Time) string {
	name := path + DamagedInfix + now.Format("20060102T150405.000Z")
	for i := 1; ; i++ {
		if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s%s%s-%d", path, DamagedInfix, now.Format("20060102T150405.000Z"), i)
	}
}

// ForgetOldest removes all but the newest files set aside; newest is one of them, whatever the
// clock says. Trouble with it is not worth a failure.
func ForgetOldest(path, newest string) {
	names := slices.DeleteFunc(Asides(path), func(name string) bool {
		return filepath.Base(name) == filepath.Base(newest)
	})
	for len(names) > keptDamaged-1 {
		os.Remove(names[0])
		names = names[1:]
	}
}

// Exists is nil if there is a file at path to open, whatever its state, and else says why not. A
// recovery that a crash cut off between its last two steps left one under another name.
func Exists(path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		if _, other := os.Lstat(path + RecoveringSuffix); other == nil {
			return nil
		}
	}
	return err
}

// Asides names the files that recoveries have set aside, oldest first.
func Asides(path string) (paths []string) {
	des, err := os.ReadDir(filepath.Dir(path)) // sorted by name
	if err != nil {
		return nil
	}
	for _, de := range des {
		if strings.HasPrefix(de.Name(), filepath.Base(path)+DamagedInfix) {
			paths = append(paths, filepath.Join(filepath.Dir(path), de.Name()))
		}
	}
	return paths
}
