package segment

import (
	"errors"
	"io/fs"
	"path/filepath"

	"vmsbridge/storage/vfs"
)

// Drop deletes a segment and leaves an empty file that says so: one that goes away without a trace
// is lost. The segment's name goes and that file's comes at one moment, so a power cut cannot part
// them. It can be called again.
func Drop(files vfs.FS, dir string, number uint64) error {
	path := filepath.Join(dir, SegmentName(number))
	mark := filepath.Join(dir, DroppedName(number))
	err := files.Rename(path, mark)
	switch {
	case vfs.IsFull(err): // room is worth more than the mark
		return files.Remove(path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return EmptyDropped(files, dir, number)
}

// EmptyDropped gives back the space of a segment that has the name of a dropped one. Whoever reads
// it goes on reading.
func EmptyDropped(files vfs.FS, dir string, number uint64) error {
	blank, mark := filepath.Join(dir, BlankName), filepath.Join(dir, DroppedName(number))
	f, err := files.Create(blank, 0)
	if err == nil {
		err = f.Close()
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = files.Rename(blank, mark)
	}
	if err == nil {
		return nil
	}
	if err = files.Remove(mark); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
