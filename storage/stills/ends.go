package stills

import (
	"fmt"
	"vmsbridge/storage/vfs"
)

// mend writes both ends anew, from the one that is good. If the last one is damaged, it is not known whether the segment had
// an index; it is then taken for one that has none, which is right in any case.
func (l *loaded) mend(fs vfs.FS) error {
	f, err := fs.Open(l.path, true)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteAt(l.block.head().encode(headMagic), 0); err != nil {
		return err
	}
	_, err = f.WriteAt(l.block.encode(footMagic), int64(l.block.capacity)-blockBytes)
	return err
}

// settle writes both of a segment's blocks with shift, and says so of w where it is not nil: the segment is being written, or waits to be
// flushed, by it. The last block counts where they differ, so the first is made of it: whatever of the two a crash keeps from the
// device, no shift is added twice.
func settle(fs vfs.FS, s *segFile, w *writer, shift int64) error {
	if w == nil || w.closed {
		f, err := fs.Open(s.path, true)
		if err != nil {
			return err
		}
		defer f.Close()
		w = &writer{file: f}
	}
	b, err := readBlock(w.file, s.size-blockBytes, footMagic)
	if err != nil {
		if b, err = readBlock(w.file, 0, headMagic); err != nil {
			return err
		}
	}
	if b.era == 0 {
		return nil // a crash came between this and what the caller noted
	}
	b.settle(shift)
	if _, err := w.file.WriteAt(b.encode(footMagic), s.size-blockBytes); err != nil {
		return err
	}
	if _, err := w.file.WriteAt(b.head().encode(headMagic), 0); err != nil {
		return err
	}
	if err := w.file.Sync(); err != nil {
		return err
	}
	w.block.settle(shift)
	return nil
}

// seal writes the index behind the records and says so in the last block, and returns where the index ends. No order is
// needed between the two: a block that reached the disk without its index is found out by the checksum. But the records must
// be on the device before, so that an index never lists a still that a power cut took.
func seal(f vfs.File, b block, x *listing, end uint32) (uint32, error) {
	p := x.raw(b.shift).encode()
	b.pointTo(p, end)
	if int64(end)+int64(len(p)) > int64(b.capacity)-blockBytes {
		return end, fmt.Errorf("index of %d bytes does not fit behind the records", len(p))
	}
	if _, err := f.WriteAt(p, int64(end)); err != nil {
		return end, err
	}
	_, err := f.WriteAt(b.encode(footMagic), int64(b.capacity)-blockBytes)
	return end + b.indexLen, err
}
