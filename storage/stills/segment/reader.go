package segment

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"vmsbridge/storage/vfs"
)

// Reader reads segments, many of them with the same buffer and the same strings. It is for one
// goroutine.
type Reader struct {
	FS    vfs.FS // where the ring is, and
	Dir   string // its folder
	buf   []byte
	names map[string]string
}

// NewReader reads segments of the ring in dir.
func NewReader(fs vfs.FS, dir string) *Reader {
	return &Reader{FS: fs, Dir: dir, names: map[string]string{}}
}

// name is the string of a camera id.
func (r *Reader) name(id []byte) string {
	if s, ok := r.names[string(id)]; ok {
		return s
	}
	s := string(id)
	r.names[s] = s
	return s
}

// Load reads a segment's index, or, if it has none or a damaged one, its records. A segment of
// which nothing can be read comes back with Broken set, so also one that the system does not open;
// err is only for a process that can open no file any more, and a *VersionError.
func (r *Reader) Load(e vfs.Entry, number uint64) (*Found, error) {
	l := NewFound(r.Dir, e, number)
	f, err := r.FS.Open(l.Path, false)
	if Exhausted(err) {
		return nil, err
	}
	if err != nil { // its permissions, or the file system is damaged there
		l.Broken, l.Trouble, l.Draft = err, err, NewDraft()
		return l, nil
	}
	defer f.Close()
	if l.Broken = l.Identify(f); l.Broken != nil {
		if newer, ok := errors.AsType[*VersionError](l.Broken); ok {
			newer.Path = l.Path
			return nil, newer
		}
		l.Draft = NewDraft()
		return l, nil
	}
	if l.Block.Sealed() {
		x, err := r.ReadIndex(f, l.Block)
		if err == nil {
			x.Move(l.Shift)
			l.Listing, l.Sealed, l.End, l.SealedAt = x, true, l.Block.RecordEnd, x.SealedAt
			return l, nil
		}
		l.refused(err)
	}
	l.Read(f)
	l.Draft.Move(l.Shift)
	return l, nil
}

// Exhausted says that an error is not the file's own.
func Exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// ReadIndex reads a segment's index.
func (r *Reader) ReadIndex(f io.ReaderAt, b Block) (*Listing, error) {
	if cap(r.buf) < int(b.IndexLen) {
		r.buf = make([]byte, b.IndexLen)
	}
	p := r.buf[:b.IndexLen]
	if err := readAt(f, p, int64(b.IndexAt)); err != nil {
		return nil, err
	}
	l := &Listing{}
	return l, l.Decode(p, b, r.name)
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

func readBlock(f io.ReaderAt, at int64, magic string) (Block, error) {
	if at < 0 {
		return Block{}, errors.New("file is too short")
	}
	p := make([]byte, BlockBytes)
	if err := readAt(f, p, at); err != nil {
		return Block{}, err
	}
	return DecodeBlock(p, magic)
}
