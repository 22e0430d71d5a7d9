package stills

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
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
	broken error  // why nothing of it can be read
	dead   bool   // left the index, but its file could not be deleted yet (Ring.appendMu)

	// times and offsets are the full segment's stills, series after series; the ring's parts point into them
	// (Ring.mu).
	times   []int64
	offsets []uint32
}

// create makes an empty segment.
func create(fs vfs.FS, dir string, number uint64, capacity uint32, now time.Time) (*segment, vfs.File, error) {
	s := &segment{number: number, path: filepath.Join(dir, segmentName(number)), size: int64(capacity), limit: capacity - blockBytes}
	var salt [8]byte
	_, _ = rand.Read(salt[:]) // it never fails
	s.salt = le.Uint64(salt[:])
	f, err := fs.Create(s.path, int64(capacity))
	if err != nil {
		return nil, nil, err
	}
	b := block{capacity: capacity, number: number, salt: s.salt, created: now.UnixNano()}
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

// loaded is what load found in a segment's file.
type loaded struct {
	*segment
	index  *index
	block  block  // of the header, or of the footer if that is all that is left
	sealed bool   // index came from the disk
	whole  bool   // the file has its size, so that it can be written
	lame   bool   // one of its two ends is damaged
	end    uint32 // where the next record would go
	scan   scan   // if it was scanned
}

// load reads a segment's index, or, if it has none or a damaged one, its records. A segment of which nothing can be read
// comes back with broken set; err is only for trouble to open the file.
func load(fs vfs.FS, dir string, e vfs.Entry, number uint64) (*loaded, error) {
	l := &loaded{segment: &segment{number: number, path: filepath.Join(dir, e.Name), size: e.Size}, index: newIndex()}
	f, err := fs.Open(l.path, false)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if l.broken = l.identify(f); l.broken != nil {
		return l, nil
	}
	if l.block.sealed() {
		if x, err := readIndex(f, l.block); err == nil {
			l.index, l.sealed, l.end = x, true, l.block.recordEnd
			return l, nil
		}
	}
	l.scan = scanRecords(f, l.salt, l.limit, func(r record, at uint32, camera, body []byte) { l.index.addRecord(r, at, camera, body) })
	l.end = l.scan.end
	return l, nil
}

// identify reads the two blocks and believes what one of them says at least.
func (l *loaded) identify(f io.ReaderAt) error {
	head, headErr := readBlock(f, 0, headMagic)
	foot, footErr := readBlock(f, l.size-blockBytes, footMagic)
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
	l.salt = l.block.salt
	l.limit = uint32(min(l.size, int64(l.block.capacity)-blockBytes))
	return nil
}

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
	if _, err := f.ReadAt(p, at); err != nil {
		return block{}, err
	}
	return decodeBlock(p, magic)
}

func readIndex(f io.ReaderAt, b block) (*index, error) {
	p := make([]byte, b.indexLen)
	if _, err := f.ReadAt(p, int64(b.indexAt)); err != nil {
		return nil, err
	}
	if crc32.Checksum(p, castagnoli) != b.indexCRC {
		return nil, errIndex
	}
	return decodeIndex(p, b.recordEnd)
}

// seal writes the index behind the records and says so in the last block. No order is needed between the two, nor before
// them: a block that reached the disk without its index is found out by the checksum.
func seal(f vfs.File, b block, x *index, end uint32) error {
	p := x.encode()
	b.indexAt, b.indexLen, b.indexCRC, b.recordEnd = end, uint32(len(p)), crc32.Checksum(p, castagnoli), end
	if int64(end)+int64(len(p)) > int64(b.capacity)-blockBytes {
		return fmt.Errorf("index of %d bytes does not fit behind the records", len(p))
	}
	if _, err := f.WriteAt(p, int64(end)); err != nil {
		return err
	}
	_, err := f.WriteAt(b.encode(footMagic), int64(b.capacity)-blockBytes)
	return err
}

// addRecord takes a record that was read.
func (x *index) addRecord(r record, at uint32, camera, body []byte) {
	switch r.kind {
	case typeStill:
		if checkKind(r.stream) == nil {
			x.add(seriesKey{string(camera), r.stream}, r.time, at)
		}
	case typeGap, typePruned:
		n := note{kind: r.kind, stream: r.stream, camera: string(camera), from: r.time}
		if len(body) >= 8 && len(body) <= 8+maxReason {
			n.to, n.reason = int64(le.Uint64(body)), string(body[8:])
			x.addNote(n)
		}
	}
}
