package stills

import (
	"errors"
	"path/filepath"
	"time"

	"vmsbridge/storage/vfs"
)

// segFile is what a segment's file is: what its name, its size and its ends say. Nobody changes it, but for what a lock is named for.
type segFile struct {
	number uint64
	path   string
	size   int64  // bytes on disk
	salt   uint64 // 0 and unreadable for a damaged one
	limit  uint32 // no record reaches beyond
	lane   int
	// era and shift are as in its blocks. Times in memory have the shift in them, those on disk do not. Who shares a segFile guards them.
	era   uint32
	shift int64

	unread bool // it is not kept open for questions; openFiles.mu guards it
}

// create makes an empty segment in dir.
func create(fs vfs.FS, dir string, b block) (segFile, vfs.File, error) {
	s := segFile{number: b.number, path: filepath.Join(dir, segmentName(b.number)), size: int64(b.capacity), limit: b.capacity - blockBytes, lane: int(b.lane), salt: b.salt, era: b.era, shift: b.shift}
	f, err := fs.Create(s.path, int64(b.capacity))
	if err != nil {
		return segFile{}, nil, err
	}
	_, err = f.WriteAt(b.encode(headMagic), 0)
	if err == nil {
		_, err = f.WriteAt(b.encode(footMagic), int64(s.limit))
	}
	if err != nil {
		f.Close()
		return segFile{}, nil, errors.Join(err, fs.Remove(s.path))
	}
	return s, f, nil
}

// sealTime is when a segment became full: by the wall clock, or where that is untrue, or was when the segment was begun, when the
// newest of its stills was taken.
func (s *segFile) sealTime(x *draft, wall time.Time) int64 {
	if s.era == 0 && s.shift == 0 {
		return wall.UnixNano()
	}
	return x.newest()
}
