package vault

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

// What stands beside a journal is named after it.
const (
	lockSuffix       = ".lock"       // empty; who has the journal open holds a lock on it
	newSuffix        = ".new"        // an empty file that is being made
	recoveringSuffix = ".recovering" // what could be read of a damaged file, while it is being made
	compactingSuffix = ".compacting" // the same events without the free pages, while it is being made
	damagedInfix     = ".damaged-"   // and a time: a damaged file that was set aside
	// keptDamaged is how many files set aside are kept, the newest ones, so that a bad disk does not fill itself.
	keptDamaged = 2
)

// finishRecovery ends what a crash cut off. A new file takes the journal's name only when it is complete; if there is no
// journal but a recovered one, the damaged one has left its name already, and that is it. Half-made copies go; one that cannot be
// deleted is in nobody's way yet.
func finishRecovery(path string) error {
	_ = remove(path + compactingSuffix)
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		_ = remove(path + recoveringSuffix)
		return nil
	}
	if _, err := os.Lstat(path + recoveringSuffix); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return rename(path+recoveringSuffix, path)
}

func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return vfs.OS.SyncDir(filepath.Dir(to))
}

// remove deletes a file that may not be there.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// asideName is a name beside path that nothing has yet.
func asideName(path string, now time.Time) string {
	name := path + damagedInfix + now.Format("20060102T150405.000Z")
	for i := 1; ; i++ {
		if _, err := os.Lstat(name); errors.Is(err, os.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s%s%s-%d", path, damagedInfix, now.Format("20060102T150405.000Z"), i)
	}
}

// forgetOldest removes all but the newest files set aside; newest is one of them, whatever the clock says. Trouble with it
// is not worth a failure.
func forgetOldest(path, newest string) {
	des, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	var names []string
	for _, de := range des {
		if strings.HasPrefix(de.Name(), filepath.Base(path)+damagedInfix) && de.Name() != filepath.Base(newest) {
			names = append(names, de.Name())
		}
	}
	slices.Sort(names)
	for len(names) > keptDamaged-1 {
		os.Remove(filepath.Join(filepath.Dir(path), names[0]))
		names = names[1:]
	}
}
