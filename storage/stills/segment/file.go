package segment

import (
	"errors"
	"path/filepath"
	"time"

	"vmsbridge/storage/vfs"
)

// File is what is known of a segment's file: what its name, its size and its ends say. Nobody
// changes it, but for what a lock is named for.
type File struct {
	Number uint64
	Path   string
	Size   int64  // bytes on disk
	Salt   uint64 // 0 and unreadable for a damaged one
	Limit  uint32 // no record reaches beyond
	Lane   int
	// Era and Shift are as in its blocks. Times in memory have the shift in them, those on disk do
	// not. Who shares a File guards them.
	Era   uint32
	Shift int64

	unread bool // it is not kept open for questions; Handles.mu guards it
}

// create makes an empty segment in dir.
func create(fs vfs.FS, dir string, b Block) (File, vfs.File, error) {
	s := File{Number: b.Number, Path: filepath.Join(dir, SegmentName(b.Number)), Size: int64(b.Capacity),
		Limit: b.Capacity - BlockBytes, Lane: int(b.Lane), Salt: b.Salt, Era: b.Era, Shift: b.Shift}
	f, err := fs.Create(s.Path, int64(b.Capacity))
	if err != nil {
		return File{}, nil, err
	}
	_, err = f.WriteAt(b.Encode(HeadMagic), 0)
	if err == nil {
		_, err = f.WriteAt(b.Encode(FootMagic), int64(s.Limit))
	}
	if err != nil {
		f.Close()
		return File{}, nil, errors.Join(err, fs.Remove(s.Path))
	}
	return s, f, nil
}

// SealTime is when a segment became full: by the wall clock, or where that is untrue, or was when
// the segment was begun, when the newest of its stills was taken.
func (s *File) SealTime(x *Draft, wall time.Time) int64 {
	if s.Era == 0 && s.Shift == 0 {
		return wall.UnixNano()
	}
	return x.Newest()
}
