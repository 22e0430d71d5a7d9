package segment

import (
	"container/list"
	"sync"

	"golang.org/x/sys/unix"

	"vmsbridge/storage/vfs"
)

// mostOpenFiles bounds how many segment files stay open for questions, which is all of a ring of 16
// GiB: opening one takes longer than reading a still from it. Each costs half a kilobyte.
const mostOpenFiles = 1024

// openLimit is mostOpenFiles, or a quarter of the files that this process may have open, where that
// is less.
func openLimit() int {
	var most unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &most); err != nil {
		return 64
	}
	return int(max(16, min(mostOpenFiles, most.Cur/4)))
}

// Handles keeps the segment files last read open, for opening one takes longer than reading a still
// from it. A file is closed when others were read since, when its segment is dropped, when the
// device refuses a read of it, and by Close; whoever reads it at that moment finishes first. It is
// safe for concurrent use, and opens files without holding its lock.
type Handles struct {
	fs    vfs.FS
	Limit int // how many files stay open; not to be changed while somebody reads

	mu     sync.Mutex
	byNum  map[uint64]*Handle
	recent *list.List // of *Handle, the one last read in front
	closed bool
}

// Handle is a segment's file. Handles.mu guards its fields but File.
type Handle struct {
	File   vfs.File
	number uint64
	place  *list.Element // nil: it is to be closed by its last reader
	users  int
}

// NewHandles has no file open yet.
func NewHandles(fs vfs.FS) *Handles {
	return &Handles{fs: fs, Limit: openLimit(), byNum: map[uint64]*Handle{}, recent: list.New()}
}

// Take opens a segment's file, or gives one that is open; Give takes it back.
func (o *Handles) Take(s *File) (*Handle, error) {
	if f := o.find(s); f != nil {
		return f, nil
	}
	file, err := o.fs.Open(s.Path, false)
	if err != nil {
		return nil, err
	}
	f := &Handle{File: file, number: s.Number, users: 1}
	o.mu.Lock()
	defer o.mu.Unlock()
	// A segment that was dropped meanwhile, or that another opened, is closed after this reading.
	if o.closed || s.unread || o.byNum[s.Number] != nil {
		return f, nil
	}
	f.place = o.recent.PushFront(f)
	o.byNum[s.Number] = f
	if o.recent.Len() > o.Limit {
		o.leave(o.recent.Back().Value.(*Handle))
	}
	return f, nil
}

func (o *Handles) find(s *File) *Handle {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.byNum[s.Number]
	if f != nil {
		f.users++
		o.recent.MoveToFront(f.place)
	}
	return f
}

// Give ends a reading. After one that went wrong, the file is opened anew the next time.
func (o *Handles) Give(f *Handle, failed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f.users--
	if failed && f.place != nil {
		o.leave(f)
	} else if f.users == 0 && f.place == nil {
		_ = f.File.Close() // it was only read
	}
}

// leave takes a file out, and closes it unless somebody reads it. mu is held.
func (o *Handles) leave(f *Handle) {
	o.recent.Remove(f.place)
	delete(o.byNum, f.number)
	f.place = nil
	if f.users == 0 {
		_ = f.File.Close()
	}
}

// Drop closes the file of a segment that is about to be deleted, so that its space comes free; it
// is not kept open again.
func (o *Handles) Drop(s *File) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s.unread = true
	if f := o.byNum[s.Number]; f != nil {
		o.leave(f)
	}
}

// Close closes all files. A later Take is of a file opened for it alone.
func (o *Handles) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for o.recent.Len() > 0 {
		o.leave(o.recent.Back().Value.(*Handle))
	}
}
