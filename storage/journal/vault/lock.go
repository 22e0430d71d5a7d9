package vault

import (
	"errors"
	"io"
	"time"

	"vmsbridge/storage/vfs"
)

// lock takes the lock, waiting for another holder for a bounded time.
func lock(path string, patience time.Duration) (io.Closer, error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		l, err := vfs.OS.Lock(path)
		if !errors.Is(err, vfs.ErrLocked) {
			return l, err
		}
		if time.Now().After(deadline) {
			return nil, ErrLocked
		}
	}
}
