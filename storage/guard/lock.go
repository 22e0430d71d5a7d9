package guard

import (
	"errors"
	"io"
	"os"
	"time"

	"vmsbridge/storage/vfs"
)

// Lock takes the lock of the file at path, waiting for another holder for a bounded time; then it
// gives ErrLocked.
func Lock(path string, patience time.Duration) (io.Closer, error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		l, err := vfs.OS.Lock(path + LockSuffix)
		if f, ok := l.(*os.File); ok && err == nil {
			err = GiveToOwner(f)
			if err != nil {
				_ = f.Close()
			}
		}
		if !errors.Is(err, vfs.ErrLocked) {
			return l, err
		}
		if time.Now().After(deadline) {
			return nil, ErrLocked
		}
	}
}
