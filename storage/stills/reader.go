package stills

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"vmsbridge/storage/vfs"
)

// reader reads segments, many of them with the same buffer, the same strings and the same listings.
type reader struct {
	fs    vfs.FS
	dir   string
	buf   []byte
	names map[string]string
	spare []*listing // that are of no use any more
}

func newReader(fs vfs.FS, dir string) *reader {
	return &reader{fs: fs, dir: dir, names: map[string]string{}}
}

// reuse gives a listing back that is of no use any more.
func (r *reader) reuse(l *listing) { r.spare = append(r.spare, l) }

// name is the string of a camera id.
func (r *reader) name(id []byte) string {
	if s, ok := r.names[string(id)]; ok {
		return s
	}
	s := string(id)
	r.names[s] = s
	return s
}

// load reads a segment's index, or, if it has none or a damaged one, its records. A segment of which nothing can be read
// comes back with broken set, so also one that the system does not open; err is only for a process that can open no file any more,
// and a *VersionError.
func (r *reader) load(e vfs.Entry, number uint64) (*loaded, error) {
	l := newLoaded(r.dir, e, number)
	f, err := r.fs.Open(l.path, false)
	if exhausted(err) {
		return nil, err
	}
	if err != nil { // its permissions, or the file system is damaged there
		l.broken, l.trouble, l.draft = err, err, newDraft(version)
		return l, nil
	}
	defer f.Close()
	if l.broken = l.identify(f); l.broken != nil {
		if newer, ok := errors.AsType[*VersionError](l.broken); ok {
			newer.Path = l.path
			return nil, newer
		}
		l.draft = newDraft(version)
		return l, nil
	}
	if l.block.sealed() {
		x, err := r.readIndex(f, l.block)
		if err == nil {
			x.move(l.shift)
			l.listing, l.sealed, l.end, l.sealedAt = x, true, l.block.recordEnd, x.sealedAt
			return l, nil
		}
		l.refused(err)
	}
	l.read(f)
	l.draft.move(l.shift)
	return l, nil
}

// exhausted says that an error is not the file's own.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// readIndex reads a segment's index.
func (r *reader) readIndex(f io.ReaderAt, b block) (*listing, error) {
	if cap(r.buf) < int(b.indexLen) {
		r.buf = make([]byte, b.indexLen)
	}
	p := r.buf[:b.indexLen]
	if err := readAt(f, p, int64(b.indexAt)); err != nil {
		return nil, err
	}
	l := &listing{}
	if n := len(r.spare); n > 0 {
		l, r.spare = r.spare[n-1], r.spare[:n-1]
	}
	return l, l.decode(p, b, r.name)
}

// errRefused is wrapped by errors of reading that are the device's, and not of what was read.
var errRefused = errors.New("the device refused a read")

// readAt reads all of p. A file that ends too early is damaged, nothing more.
func readAt(f io.ReaderAt, p []byte, at int64) error {
	_, err := f.ReadAt(p, at)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}

func readBlock(f io.ReaderAt, at int64, magic string) (block, error) {
	if at < 0 {
		return block{}, errors.New("file is too short")
	}
	p := make([]byte, blockBytes)
	if err := readAt(f, p, at); err != nil {
		return block{}, err
	}
	return decodeBlock(p, magic)
}
