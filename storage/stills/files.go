package stills

import (
	"container/list"
	"sync"

	"golang.org/x/sys/unix"

	"vmsbridge/storage/vfs"
)

// mostOpenFiles bounds how many segment files stay open for questions, which is all of a ring of 16 GiB: opening one takes longer than
// reading a still from it. Each costs half a kilobyte.
const mostOpenFiles = 1024

// openLimit is mostOpenFiles, or a quarter of the files that this process may have open, where that is less.
func openLimit() int {
	var most unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &most); err != nil {
		return 64
	}
	return int(max(16, min(mostOpenFiles, most.Cur/4)))
}

// openFiles keeps the segment files last read open, for opening one takes longer than reading a still from it. A file is
// closed when others were read since, when its segment is dropped, when the device refuses a read of it, and by Close; whoever reads
// it at that moment finishes first. It is safe for concurrent use, and opens files without holding its lock.
type openFiles struct {
	fs    vfs.FS
	limit int

	mu     sync.Mutex
	byNum  map[uint64]*openFile
	recent *list.List // of *openFile, the one last read in front
	closed bool
}

// openFile is a segment's file. openFiles.mu guards its fields but file.
type openFile struct {
	file   vfs.File
	number uint64
	place  *list.Element // nil: it is to be closed by its last reader
	users  int
}

func newOpenFiles(fs vfs.FS) *openFiles {
	return &openFiles{fs: fs, limit: openLimit(), byNum: map[uint64]*openFile{}, recent: list.New()}
}

// take opens a segment's file, or gives one that is open; give takes it back.
func (o *openFiles) take(s *segFile) (*openFile, error) {
	if f := o.find(s); f != nil {
		return f, nil
	}
	file, err := o.fs.Open(s.path, false)
	if err != nil {
		return nil, err
	}
	f := &openFile{file: file, number: s.number, users: 1}
	o.mu.Lock()
	defer o.mu.Unlock()
	// A segment that was dropped meanwhile, or that another opened, is closed after this reading.
	if o.closed || s.unread || o.byNum[s.number] != nil {
		return f, nil
	}
	f.place = o.recent.PushFront(f)
	o.byNum[s.number] = f
	if o.recent.Len() > o.limit {
		o.leave(o.recent.Back().Value.(*openFile))
	}
	return f, nil
}

func (o *openFiles) find(s *segFile) *openFile {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.byNum[s.number]
	if f != nil {
		f.users++
		o.recent.MoveToFront(f.place)
	}
	return f
}

// give ends a reading. After one that went wrong, the file is opened anew the next time.
func (o *openFiles) give(f *openFile, failed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f.users--
	if failed && f.place != nil {
		o.leave(f)
	} else if f.users == 0 && f.place == nil {
		_ = f.file.Close() // it was only read
	}
}

// leave takes a file out, and closes it unless somebody reads it. mu is held.
func (o *openFiles) leave(f *openFile) {
	o.recent.Remove(f.place)
	delete(o.byNum, f.number)
	f.place = nil
	if f.users == 0 {
		_ = f.file.Close()
	}
}

// drop closes the file of a segment that is about to be deleted, so that its space comes free; it is not kept open again.
func (o *openFiles) drop(s *segFile) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s.unread = true
	if f := o.byNum[s.number]; f != nil {
		o.leave(f)
	}
}

// close closes all files. A later take is of a file opened for it alone.
func (o *openFiles) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for o.recent.Len() > 0 {
		o.leave(o.recent.Back().Value.(*openFile))
	}
}
