package segment

import (
	"sync"

	"vmsbridge/storage/vfs"
)

// PageBytes is what a file system writes at least.
const PageBytes = 4096

// Writer is a segment's file that is written, or that is full and waits to be flushed and sealed.
// Its methods are for one at a time, whom the caller's lock sees to, but for Run of a Flushing that
// it has begun, and Close.
type Writer struct {
	file vfs.File

	// mu is held while the file is flushed or closed, never for a write.
	mu     sync.Mutex
	closed bool

	// The caller's lock guards these.
	block   Block  // its ends
	pos     uint32 // where the next record goes; of a sealed one, where the index ends
	flushed uint32 // up to where the device has it
	ends    bool   // its first and last block were written since the last flush
	failed  bool   // the last flush went wrong, and nobody knows what of it arrived
	dirty   bool   // it has bytes not yet flushed
	spoiled bool   // a write into it went wrong: it is to be left
	index   []byte // of a full segment, as it is to be stored, as long as it is not sealed; else nil
}

// Begin makes an empty segment in dir, to be written.
func Begin(fs vfs.FS, dir string, b Block) (File, *Writer, error) {
	s, f, err := create(fs, dir, b)
	if err != nil {
		return File{}, nil, err
	}
	return s, &Writer{file: f, block: b, pos: BlockBytes, ends: true, dirty: true}, nil
}

// GoOn goes on to write a segment that was found, behind its last record. healed says that Heal
// changed something in it.
func GoOn(f vfs.File, l *Found, healed bool) *Writer {
	// An earlier process may have been killed before it flushed.
	return &Writer{file: f, block: l.Block, pos: l.End, flushed: l.End, ends: healed, dirty: true}
}

// Reseal is for a segment that was found without an index, which it is to be given.
func Reseal(f vfs.File, l *Found, x *Listing) *Writer {
	return &Writer{file: f, block: l.Block, pos: l.End, flushed: BlockBytes, ends: true,
		index: x.Encode(l.Block.Shift)}
}

// Fits says whether there is room for size bytes of records beside an index of that many.
func (w *Writer) Fits(size uint32, index int) bool {
	return int64(w.pos)+int64(size)+int64(index) <= int64(w.block.Capacity)-BlockBytes
}

// Encode appends the record of that header, camera and body to p, as Put is to write it next. Their
// times are without the segment's shift.
func (w *Writer) Encode(p []byte, r Record, camera string, body []byte) []byte {
	return AppendRecord(p, r, camera, body, w.block.Salt, w.pos)
}

// Put writes a record that Encode made behind the last one, and says where it is. After an error,
// it can be tried again, or the segment is spoiled.
func (w *Writer) Put(p []byte) (at uint32, err error) {
	if _, err := w.file.WriteAt(p, int64(w.pos)); err != nil {
		return 0, err
	}
	at = w.pos
	w.pos += uint32(len(p))
	w.dirty = true
	return at, nil
}

// End leaves a full segment to be sealed with its index x by the next flush.
func (w *Writer) End(x *Listing) { w.index = x.Encode(w.block.Shift) }

// Place is where the next record goes.
func (w *Writer) Place() uint32 { return w.pos }

// Dirty says whether something was written that no flush was begun for.
func (w *Writer) Dirty() bool { return w.dirty }

// Empty says whether there is no record yet.
func (w *Writer) Empty() bool { return w.pos <= BlockBytes }

// Spoil notes that a part of what could not be written may have arrived.
func (w *Writer) Spoil() { w.spoiled, w.dirty = true, true }

// Unusable says whether the segment is to be left because it is spoiled; one without a record is
// not.
func (w *Writer) Unusable() bool { return w.spoiled && w.pos > BlockBytes }

// thrift bounds what closing pages costs: no more than one byte in so many of what a flush brings
// to the device.
const thrift = 16

// ClosePage fills the rest of the last page with a record that holds nothing, before a flush, so
// that the next record begins on a page of its own. A file system writes whole pages: else the next
// flush would write this one again, which costs a page a flush, and puts stills at risk that are on
// the device already, if the power goes at that moment. Where the rest is large beside what is
// flushed, or too small for a header, the page stays open; so it does where an index of that many
// bytes would have no room.
func (w *Writer) ClosePage(index int) {
	rest := -w.pos & (PageBytes - 1)
	if rest < RecordHead || w.spoiled || uint64(rest)*thrift > uint64(w.Unflushed()) || !w.Fits(rest, index) {
		return
	}
	var p [RecordHead]byte
	SkipRecord(rest).Encode(p[:], w.block.Salt, w.pos)
	// Where that does not go, nothing is lost: the next record stands here.
	if _, err := w.file.WriteAt(p[:], int64(w.pos)); err == nil {
		w.pos += rest
	}
}

// Unflushed is how many bytes were written and not yet flushed.
func (w *Writer) Unflushed() uint32 { return w.pos - w.flushed }

// Close closes the file, once.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	return w.file.Close()
}
