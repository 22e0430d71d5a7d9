package segment

import (
	"fmt"

	"vmsbridge/storage/vfs"
)

// Mend writes both ends anew, from the one that is good; a file that was cut off gets its size
// back. If the last one is damaged, it is not known whether the segment had an index; it is then
// taken for one that has none, which is right in any case.
func (l *Found) Mend(fs vfs.FS) error {
	f, err := fs.Open(l.Path, true)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteAt(l.Block.Head().Encode(HeadMagic), 0); err != nil {
		return err
	}
	if _, err = f.WriteAt(l.Block.Encode(FootMagic), int64(l.Block.Capacity)-BlockBytes); err != nil {
		return err
	}
	l.Size = max(l.Size, int64(l.Block.Capacity))
	l.Limit = l.Block.Capacity - BlockBytes
	return f.Sync()
}

// Settle writes both of a segment's blocks with shift, and says so of w where it is not nil: the
// segment is being written, or waits to be flushed, by it. The last block counts where they differ,
// so the first is made of it: whatever of the two a crash keeps from the device, no shift is added
// twice.
func Settle(fs vfs.FS, s *File, w *Writer, shift int64) error {
	if w == nil || w.closed {
		f, err := fs.Open(s.Path, true)
		if err != nil {
			return err
		}
		defer f.Close()
		w = &Writer{file: f}
	}
	b, err := readBlock(w.file, int64(s.Limit), FootMagic)
	if err != nil {
		if b, err = readBlock(w.file, 0, HeadMagic); err != nil {
			return err
		}
	}
	if b.Era == 0 {
		return nil // a crash came between this and what the caller noted
	}
	b.Settle(shift)
	if _, err := w.file.WriteAt(b.Encode(FootMagic), int64(b.Capacity)-BlockBytes); err != nil {
		return err
	}
	if _, err := w.file.WriteAt(b.Head().Encode(HeadMagic), 0); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	w.block.Settle(shift)
	return nil
}

// Seal writes the index p behind the records and says so in the last block, and returns where the
// index ends. No order is needed between the two: a block that reached the disk without its index
// is found out by the checksum. But the records must be on the device before, so that an index
// never lists a still that a power cut took.
func Seal(f vfs.File, b Block, p []byte, end uint32) (uint32, error) {
	b.PointTo(p, end)
	if int64(end)+int64(len(p)) > int64(b.Capacity)-BlockBytes {
		return end, fmt.Errorf("index of %d bytes does not fit behind the records", len(p))
	}
	if _, err := f.WriteAt(p, int64(end)); err != nil {
		return end, err
	}
	_, err := f.WriteAt(b.Encode(FootMagic), int64(b.Capacity)-BlockBytes)
	return end + b.IndexLen, err
}
