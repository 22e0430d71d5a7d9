package stills

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"syscall"
	"time"

	"vmsbridge/storage/vfs"
)

// segment is a file of the ring. Once it is in the ring, its fields do not change, except where a lock is named.
type segment struct {
	number uint64
	path   string
	size   int64  // bytes on disk
	salt   uint64 // 0 and unreadable for a damaged one
	limit  uint32 // no record reaches beyond
	lane   int
	broken error // why nothing of it can be read

	// Ring.appendMu guards these.
	dead     bool          // left the index, but its file could not be deleted yet
	told     bool          // the log says so
	handle   *handle       // through which it is written or waits to be flushed; nil or closed otherwise
	sealedAt int64         // when it was full, by the clock of that time; 0: not known
	sealedUp time.Duration // the same by the uptime of this process, if this process filled it; else 0

	// Ring.mu guards these.
	list []spot // the full segment's stills, series after series; the ring's parts point into it
	// era and shift are as in its blocks; Ring.appendMu guards them too, and whoever changes them holds both. Times in memory have
	// the shift in them, those on disk do not.
	era   uint32
	shift int64
	gone  bool // it left the index

	unread bool // it is not kept open for questions; openFiles.mu guards it
}

// create makes an empty segment.
func create(fs vfs.FS, dir string, b block) (*segment, vfs.File, error) {
	s := &segment{number: b.number, path: filepath.Join(dir, segmentName(b.number)), size: int64(b.capacity), limit: b.capacity - blockBytes, lane: int(b.lane), salt: b.salt, era: b.era, shift: b.shift}
	f, err := fs.Create(s.path, int64(b.capacity))
	if err != nil {
		return nil, nil, err
	}
	_, err = f.WriteAt(b.encode(headMagic), 0)
	if err == nil {
		_, err = f.WriteAt(b.encode(footMagic), int64(s.limit))
	}
	if err != nil {
		f.Close()
		return nil, nil, errors.Join(err, fs.Remove(s.path))
	}
	return s, f, nil
}

// newBlock is the head of a segment to be made.
func newBlock(number uint64, lane int, capacity int64, now time.Time) block {
	var salt [8]byte
	_, _ = rand.Read(salt[:]) // it never fails
	return block{version: version, lane: uint8(lane), capacity: uint32(capacity), number: number, salt: le.Uint64(salt[:]), created: now.UnixNano()}
}

// loaded is what load found in a segment's file.
type loaded struct {
	*segment
	listing *listing // sealed: the index, from the disk
	index   *index   // not sealed: what the records say
	block   block    // of the header, or of the footer if that is all that is left
	sealed  bool
	whole   bool   // the file has its size, so that it can be written
	lame    bool   // one of its two ends is damaged
	trouble error  // the device refused a read: nothing is written to the segment, for what was not read may be there
	end     uint32 // where the next record would go
	scan    scan   // if it was scanned
}

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
	l := &loaded{segment: &segment{number: number, path: filepath.Join(r.dir, e.Name), size: e.Size}}
	f, err := r.fs.Open(l.path, false)
	if exhausted(err) {
		return nil, err
	}
	if err != nil { // its permissions, or the file system is damaged there
		l.broken, l.trouble, l.index = err, err, newIndex(version)
		return l, nil
	}
	defer f.Close()
	if l.broken = l.identify(f); l.broken != nil {
		if newer, ok := errors.AsType[*VersionError](l.broken); ok {
			newer.Path = l.path
			return nil, newer
		}
		l.index = newIndex(version)
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
	l.index.move(l.shift)
	return l, nil
}

// exhausted says that an error is not the file's own.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// read makes the index from the records.
func (l *loaded) read(f io.ReaderAt) {
	l.index = newIndex(l.block.version)
	l.scan = scanRecords(f, l.salt, l.limit, func(r record, at uint32, camera, body []byte) { l.index.addRecord(r, at, camera, body) })
	l.end = l.scan.end
	if l.scan.err != nil {
		l.trouble = l.scan.err
	}
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

func (l *loaded) refused(err error) {
	if errors.Is(err, errRefused) {
		l.trouble = err
	}
}

// identify reads the two blocks and believes what one of them says at least.
func (l *loaded) identify(f io.ReaderAt) error {
	head, headErr := readBlock(f, 0, headMagic)
	foot, footErr := readBlock(f, l.size-blockBytes, footMagic)
	for _, err := range []error{footErr, headErr} {
		l.refused(err)
		if newer, ok := errors.AsType[*VersionError](err); ok {
			return newer
		}
	}
	if headErr == nil && footErr == nil && head.number != foot.number && filepath.Base(l.path) == segmentName(l.number) {
		// The disk wrote one of them elsewhere. The name says which is right.
		switch l.number {
		case foot.number:
			headErr = errOtherEnd
		case head.number:
			footErr = errOtherEnd
		}
	}
	switch {
	case headErr != nil && footErr != nil:
		return fmt.Errorf("neither of its ends can be read: %w; %w", headErr, footErr)
	case footErr == nil:
		l.block = foot
	default:
		l.block = head
	}
	if l.block.number != l.number {
		return fmt.Errorf("it is named %d, but says that it is number %d", l.number, l.block.number)
	}
	if headErr == nil && footErr == nil && head.salt != foot.salt {
		return errors.New("its two ends are of different segments")
	}
	l.whole = int64(l.block.capacity) == l.size
	l.lame = headErr != nil || footErr != nil
	l.salt, l.lane, l.era, l.shift = l.block.salt, int(l.block.lane), l.block.era, l.block.shift
	l.limit = uint32(min(l.size, int64(l.block.capacity)-blockBytes))
	return nil
}

// errOtherEnd is what one end of a segment reads as that is of another.
var errOtherEnd = errors.New("it is an end of another segment")

// mend writes both ends anew, from the one that is good. If the last one is damaged, it is not known whether the segment had
// an index; it is then taken for one that has none, which is right in any case.
func (l *loaded) mend(fs vfs.FS) error {
	f, err := fs.Open(l.path, true)
	if err != nil {
		return err
	}
	defer f.Close()
	head := l.block
	head.indexAt, head.indexLen, head.indexCRC, head.recordEnd = 0, 0, 0, 0
	if _, err := f.WriteAt(head.encode(headMagic), 0); err != nil {
		return err
	}
	_, err = f.WriteAt(l.block.encode(footMagic), int64(l.block.capacity)-blockBytes)
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

// readIndex reads a segment's index.
func (r *reader) readIndex(f io.ReaderAt, b block) (*listing, error) {
	if cap(r.buf) < int(b.indexLen) {
		r.buf = make([]byte, b.indexLen)
	}
	p := r.buf[:b.indexLen]
	if err := readAt(f, p, int64(b.indexAt)); err != nil {
		return nil, err
	}
	if crc32.Checksum(p, castagnoli) != b.indexCRC {
		return nil, errIndex
	}
	l := &listing{}
	if n := len(r.spare); n > 0 {
		l, r.spare = r.spare[n-1], r.spare[:n-1]
	}
	return l, l.decode(p, b.version, b.recordEnd, r.name)
}

// seal writes the index behind the records and says so in the last block, and returns where the index ends. No order is
// needed between the two: a block that reached the disk without its index is found out by the checksum. But the records must
// be on the device before, so that an index never lists a still that a power cut took.
func seal(f vfs.File, b block, x *listing, end uint32) (uint32, error) {
	p := x.raw(b.shift).encode()
	b.indexAt, b.indexLen, b.indexCRC, b.recordEnd = end, uint32(len(p)), crc32.Checksum(p, castagnoli), end
	if int64(end)+int64(len(p)) > int64(b.capacity)-blockBytes {
		return end, fmt.Errorf("index of %d bytes does not fit behind the records", len(p))
	}
	if _, err := f.WriteAt(p, int64(end)); err != nil {
		return end, err
	}
	_, err := f.WriteAt(b.encode(footMagic), int64(b.capacity)-blockBytes)
	return end + b.indexLen, err
}
