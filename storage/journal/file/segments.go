package file

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"vmsbridge/storage/vfs"
)

// SegmentInfix is between the file's name and the number of a segment's first block.
const SegmentInfix = ".segment-"

const (
	segmentBytes = 4 << 20
	segmentMagic = "VMSJSEG1"
	blockHead    = 8 + 8*8 + 2*4 + 4
)

// segments are the files beside the journal's that hold its rows a second time, as blocks of
// records: a snapshot of all rows and what was written since, so that the journal's file can be
// made again of them. A block is written at each checkpoint. One goroutine.
type segments struct {
	path  string // of the journal's file
	last  block
	files []segment // the last of them takes the next block, if it has room
	file  vfs.File  // of the last one; nil: the next block begins another
	start int64     // where the last block is in it
	at    int64     // where the next block goes
	off   bool      // nothing is written: the disk has no room
}

// segment is one of the files.
type segment struct {
	first uint64 // number of its first block
	bytes int64  // of its size
}

// block is what a block says of itself.
type block struct {
	id     uint64 // of all blocks that belong together
	number uint64 // from 1 on, without gaps
	since  uint64 // the block with which the newest whole snapshot begins; 0: there is none
	base   uint64 // bytes of the files when that was whole
	redo   uint64 // number of the log whose records are in the blocks,
	epoch  uint64 // and the first epoch of it that may not be in them
	closed uint64 // the file's transaction that all blocks lead to and nothing follows; 0: not known
}

func newSegments(path string) *segments { return &segments{path: path, last: block{id: rand.Uint64()}} }

// openSegments finds the segments of the file at path, and the last block of them; nil: there is
// none that could be read.
func openSegments(path string, write bool) *segments {
	s := &segments{path: path, files: listSegments(path)}
	for n := len(s.files); n > 0; n-- {
		f, err := vfs.OS.Open(s.name(s.files[n-1].first), write)
		if err != nil {
			return nil
		}
		end, _ := scanBlocks(f, s.files[n-1], func(b block, at int64, _ []byte) error {
			s.last, s.start = b, at
			return nil
		})
		if end > 0 {
			s.file, s.at = f, end
			return s
		}
		_ = f.Close()
		if n < len(s.files) {
			return nil // more than the one that was begun last has none
		}
	}
	return nil
}

// confirm makes durable which block is the last one: what can be read may not be on the device,
// after a flush that failed.
func (s *segments) confirm() error {
	raw := make([]byte, s.at-s.start)
	if _, err := s.file.ReadAt(raw, s.start); err != nil {
		return err
	}
	if _, err := s.file.WriteAt(raw, s.start); err != nil {
		return err
	}
	return errors.Join(s.file.Sync(), vfs.OS.SyncDir(filepath.Dir(s.path)))
}

// listSegments are those of the file at path, in order.
func listSegments(path string) (list []segment) {
	entries, _ := vfs.OS.List(filepath.Dir(path))
	for _, e := range entries { // sorted by name
		number, ok := strings.CutPrefix(e.Name, filepath.Base(path)+SegmentInfix)
		first, err := strconv.ParseUint(number, 16, 64)
		if ok && err == nil && len(number) == 16 {
			list = append(list, segment{first, e.Size})
		}
	}
	return list
}

func (s *segments) name(first uint64) string {
	return fmt.Sprintf("%s%s%016x", s.path, SegmentInfix, first)
}

func (s *segments) close() {
	if s.file != nil {
		_ = s.file.Close()
	}
	s.file = nil
}

// remove takes away all segments of the file at path, durably.
func removeSegments(path string) error {
	list := listSegments(path)
	var err error
	for _, g := range list {
		err = errors.Join(err, vfs.OS.Remove((&segments{path: path}).name(g.first)))
	}
	if len(list) > 0 {
		err = errors.Join(err, vfs.OS.SyncDir(filepath.Dir(path)))
	}
	return err
}

// bytes is what they take up.
func (s *segments) bytes() int64 { return s.bytesFrom(0) }

// bytesFrom is what those take up that hold a block and the blocks after it.
func (s *segments) bytesFrom(number uint64) (n int64) {
	for i, g := range s.files {
		if i+1 == len(s.files) || s.files[i+1].first > number {
			n += g.bytes
		}
	}
	return n
}

// append writes rows as the next block, durably. b is what it says, but for id and number. Those
// that a whole snapshot makes needless go.
func (s *segments) append(rows []byte, b block) error {
	b.id, b.number = s.last.id, s.last.number+1
	out := bytes.NewBuffer(make([]byte, blockHead, blockHead+len(rows)/2))
	pack, _ := flate.NewWriter(out, flate.BestSpeed) // it is not kept: it holds more than a megabyte
	_, err := pack.Write(rows)
	if err = errors.Join(err, pack.Close()); err != nil {
		return err
	}
	if b.since != s.last.since {
		b.base = uint64(s.bytesFrom(b.since))
	}
	raw := out.Bytes()
	b.write(raw, len(rows))
	if s.file == nil || s.at+int64(len(raw)) > s.files[len(s.files)-1].bytes {
		if err := s.begin(b.number, int64(len(raw))); err != nil {
			return err
		}
	}
	if _, err := s.file.WriteAt(raw, s.at); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.start, s.at = s.at, s.at+int64(len(raw))
	s.last = b
	for len(s.files) > 1 && s.files[1].first <= b.since {
		_ = vfs.OS.Remove(s.name(s.files[0].first)) // else with the next snapshot
		s.files = s.files[1:]
	}
	return nil
}

// begin makes the segment whose first block has a number.
func (s *segments) begin(number uint64, n int64) error {
	name, size := s.name(number), max(segmentBytes, n)
	if len(s.files) == 0 { // those that are there belong to another state of the file
		if err := removeSegments(s.path); err != nil {
			return err
		}
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if k := len(s.files); k > 0 && s.files[k-1].first >= number {
		s.files = s.files[:k-1] // begun before, without a block
	}
	f, err := vfs.OS.Create(name, size)
	if err != nil {
		return err
	}
	if err := vfs.OS.SyncDir(filepath.Dir(name)); err != nil {
		return errors.Join(err, f.Close(), os.Remove(name))
	}
	s.close()
	s.file, s.at, s.files = f, 0, append(s.files, segment{number, size})
	return nil
}

// write puts the head before the rows, which are in raw already.
func (b block) write(raw []byte, rows int) {
	h := append(raw[:0], segmentMagic...)
	for _, n := range []uint64{b.id, b.number, b.since, b.base, b.redo, b.epoch, b.closed, 0} {
		h = be.AppendUint64(h, n)
	}
	h = be.AppendUint32(be.AppendUint32(h, uint32(rows)), uint32(len(raw)-blockHead))
	be.AppendUint32(h, crc32.Update(crc32.Checksum(h, castagnoli), castagnoli, raw[blockHead:]))
}

// scanBlocks gives each the blocks of a segment, with their rows still packed, up to the first
// that cannot be read. end is where the last one ends.
func scanBlocks(f vfs.File, g segment, each func(b block, at int64, packed []byte) error) (end int64, err error) {
	number := g.first
	for {
		h := make([]byte, blockHead)
		if _, err := f.ReadAt(h, end); err != nil {
			return end, nil
		}
		b, n := parseBlock(h)
		if n < 0 || b.number != number || end+blockHead+n > g.bytes {
			return end, nil
		}
		packed := make([]byte, n)
		if _, err := f.ReadAt(packed, end+blockHead); err != nil {
			return end, nil
		}
		sum := crc32.Update(crc32.Checksum(h[:blockHead-4], castagnoli), castagnoli, packed)
		if sum != be.Uint32(h[blockHead-4:]) {
			return end, nil
		}
		if err := each(b, end, packed); err != nil {
			return end, err
		}
		end += blockHead + n
		number++
	}
}

// parseBlock gives n, the bytes of its rows, as -1 if h is no head.
func parseBlock(h []byte) (b block, n int64) {
	if string(h[:8]) != segmentMagic {
		return b, -1
	}
	for i, v := range []*uint64{&b.id, &b.number, &b.since, &b.base, &b.redo, &b.epoch, &b.closed} {
		*v = be.Uint64(h[8+8*i:])
	}
	return b, int64(be.Uint32(h[blockHead-8:]))
}

// errGap says that blocks are missing.
var errGap = errors.New("a segment beside the journal is damaged")

// read gives each the rows of the newest whole snapshot and of all blocks since, in order.
func (s *segments) read(each func(rows []byte) error) error {
	next := s.last.since
	for i, g := range s.files {
		if i+1 < len(s.files) && s.files[i+1].first <= next {
			continue
		}
		f, err := vfs.OS.Open(s.name(g.first), false)
		if err != nil {
			return errGap
		}
		_, err = scanBlocks(f, g, func(b block, _ int64, packed []byte) error {
			if b.id != s.last.id || b.number < next {
				return nil
			}
			if b.number > next {
				return errGap
			}
			next++
			rows, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
			if err != nil {
				return errGap
			}
			return each(rows)
		})
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	if s.last.since == 0 || next != s.last.number+1 {
		return errGap
	}
	return nil
}
