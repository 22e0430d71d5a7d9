package segment

import (
	"bytes"

	"vmsbridge/storage/vfs"
)

// IsEmpty says whether there is nothing but zeros between a segment's ends.
func IsEmpty(fs vfs.FS, path string) (bool, error) {
	f, err := fs.Open(path, false)
	if err != nil {
		return false, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return false, err
	}
	p := make([]byte, windowBytes)
	for at := int64(BlockBytes); at < size-BlockBytes; at += int64(len(p)) {
		n, err := f.ReadAt(p[:min(windowBytes, size-BlockBytes-at)], at)
		if len(bytes.TrimLeft(p[:n], "\x00")) > 0 {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}
