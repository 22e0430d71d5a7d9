package stills

import (
	"sync"

	"vmsbridge/storage/vfs"
)

// pageBytes is what a file system writes at least.
const pageBytes = 4096

// writer is a segment's file that is written, or that is full and waits to be flushed and sealed. Its methods are for one at a time, whom
// the caller's lock sees to, but for those of a flushing that it has begun and Close.
type writer struct {
	file vfs.File

	// mu is held while the file is flushed or closed, never for a write.
	mu     sync.Mutex
	closed bool

	// The caller's lock guards these.
	block   block    // its ends
	pos     uint32   // where the next record goes; of a sealed one, where the index ends
	flushed uint32   // up to where the device has it
	ends    bool     // its first and last block were written since the last flush
	failed  bool     // the last flush went wrong, and nobody knows what of it arrived
	dirty   bool     // it has bytes not yet flushed
	spoiled bool     // a write into it went wrong: it is to be left
	listing *listing // of a full segment, as long as it is not sealed; else nil
}

// beginWriter makes a segment and goes on to write it.
func beginWriter(fs vfs.FS, dir string, b block) (segFile, *writer, error) {
	s, f, err := create(fs, dir, b)
	if err != nil {
		return segFile{}, nil, err
	}
	return s, &writer{file: f, block: b, pos: blockBytes, ends: true, dirty: true}, nil
}

// goOnWriter goes on to write a segment that was found, behind its last record. healed says that heal changed something in it.
func goOnWriter(f vfs.File, l *loaded, healed bool) *writer {
	// An earlier process may have been killed before it flushed.
	return &writer{file: f, block: l.block, pos: l.end, flushed: l.end, ends: healed, dirty: true}
}

// resealWriter is for a segment that was found without an index, which it is to be given.
func resealWriter(f vfs.File, l *loaded, x *listing) *writer {
	return &writer{file: f, block: l.block, pos: l.end, flushed: blockBytes, ends: true, listing: x}
}

// fits says whether there is room for size bytes of records beside an index of that many.
func (w *writer) fits(size uint32, index int) bool {
	return int64(w.pos)+int64(size)+int64(index) <= int64(w.block.capacity)-blockBytes
}

// encode appends the record of that header, camera and body, which have their times without the segment's shift, to p as it is to be put next.
func (w *writer) encode(p []byte, r record, camera string, body []byte) []byte {
	return appendRecord(p, r, camera, body, w.block.salt, w.pos)
}

// put writes a record that encode made behind the last one, and says where it is. After an error, it can be tried again, or the segment
// is spoiled.
func (w *writer) put(p []byte) (at uint32, err error) {
	if _, err := w.file.WriteAt(p, int64(w.pos)); err != nil {
		return 0, err
	}
	at = w.pos
	w.pos += uint32(len(p))
	w.dirty = true
	return at, nil
}

// end leaves a full segment to be sealed with its index x by the next flush.
func (w *writer) end(x *listing) { w.listing = x }

// move adds shift to the times of the index with which the segment is to be sealed, if it is full.
func (w *writer) move(shift int64) {
	if w.listing != nil {
		w.listing.move(shift)
	}
}

// place is where the next record goes.
func (w *writer) place() uint32 { return w.pos }

// isDirty says whether something was written that no flush was begun for.
func (w *writer) isDirty() bool { return w.dirty }

// empty says whether there is no record yet.
func (w *writer) empty() bool { return w.pos <= blockBytes }

// spoil notes that a part of what could not be written may have arrived.
func (w *writer) spoil() { w.spoiled, w.dirty = true, true }

// unusable says whether the segment is to be left because it is spoiled; one without a record is not.
func (w *writer) unusable() bool { return w.spoiled && w.pos > blockBytes }

// thrift bounds what closing pages costs: no more than one byte in so many of what a flush brings to the device.
const thrift = 16

// closePage fills the rest of the last page with a record that holds nothing, before a flush, so that the next record
// begins on a page of its own. A file system writes whole pages: else the next flush would write this one again, which
// costs a page a flush, and puts stills at risk that are on the device already, if the power goes at that moment. Where the
// rest is large beside what is flushed, or too small for a header, the page stays open; so it does where an index of that many
// bytes would have no room.
func (w *writer) closePage(index int) {
	rest := -w.pos & (pageBytes - 1)
	if rest < recordHead || w.spoiled || uint64(rest)*thrift > uint64(w.unflushed()) || !w.fits(rest, index) {
		return
	}
	var p [recordHead]byte
	skipRecord(rest).encode(p[:], w.block.salt, w.pos)
	// Where that does not go, nothing is lost: the next record stands here.
	if _, err := w.file.WriteAt(p[:], int64(w.pos)); err == nil {
		w.pos += rest
	}
}

// unflushed is how many bytes were written and not yet flushed.
func (w *writer) unflushed() uint32 { return w.pos - w.flushed }

// close closes the file, once.
func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	return w.file.Close()
}
