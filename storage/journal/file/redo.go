package file

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"

	"vmsbridge/storage/boltfile"
	"vmsbridge/storage/vfs"
)

// LogSuffix ends the name of the log of changes beside the file.
const LogSuffix = ".log"

// The log's file is two slots for its mark and two halves for records, each used by turns;
// schema/format.md has its bytes.
const (
	slotBytes  = 4096
	halfBytes  = 4 << 20
	redoBytes  = 2*slotBytes + 2*halfBytes
	recordHead = 16
	markMagic  = "VMSJLOG1"
	markBytes  = 8 + 3*8 + 2*4 + boltfile.MetaPageBytes + 4
)

const recordMagic = 0x6a4c5201

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	be         = binary.BigEndian
)

// unwritten is what a log holds where nothing was written yet.
var unwritten [slotBytes]byte

var errNoRoom = errors.New("the record does not fit into the log")

// redo is the log of changes: what was promised and may not be on the device in the file itself.
// One goroutine, but for setMark beside append.
type redo struct {
	path  string
	file  vfs.File
	id    uint64 // also in the database file that it belongs to
	mark  mark
	epoch uint64 // the turn of the halves that records are appended to now
	at    int64  // where the next one goes, within the half
	last  int64  // where the last one began
	prev  int64  // where those of the epoch before end: what stands behind was taken back
}

// mark says of which state of the database file the records of an epoch, and of the one after it,
// are the continuation. That state is on the device.
type mark struct {
	turn     uint64
	epoch    uint64
	pageSize uint32
	state    boltfile.State
}

// createRedo makes a log without a mark, in the place of any other.
func createRedo(path string) (*redo, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	f, err := vfs.OS.Create(path, redoBytes)
	if err != nil {
		return nil, err
	}
	if err := vfs.OS.SyncDir(filepath.Dir(path)); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path))
	}
	return &redo{path: path, file: f, id: rand.Uint64(), at: halfBytes}, nil
}

// readRedo opens the log at path for reading; nil if there is none that could be read, or it
// continues nothing.
func readRedo(path string) *redo {
	r, err := openRedo(path, false)
	if err != nil || r == nil {
		return nil
	}
	if r.alone() {
		r.close()
		return nil
	}
	return r
}

// openRedo opens the log at path for its newest mark, whatever that says; nil if there is no log,
// or none of which anything can be read.
func openRedo(path string, write bool) (*redo, error) {
	f, err := vfs.OS.Open(path, write)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, vfs.ErrNoFile), errors.Is(err, syscall.EISDIR),
		boltfile.Unreadable(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	r := &redo{path: path, file: f}
	for slot := range int64(2) {
		b := make([]byte, markBytes)
		if _, err := f.ReadAt(b, slot*slotBytes); err != nil {
			continue
		}
		id, m, ok := parseMark(b)
		if ok && m.turn > r.mark.turn {
			r.id, r.mark = id, m
		}
	}
	if r.mark.turn == 0 {
		_ = f.Close()
		return nil, nil
	}
	return r, nil
}

// alone says that the file is whole without the log.
func (r *redo) alone() bool { return r.mark.pageSize == 0 }

func parseMark(b []byte) (id uint64, m mark, ok bool) {
	sum := len(b) - 4
	if string(b[:8]) != markMagic || crc32.Checksum(b[:sum], castagnoli) != be.Uint32(b[sum:]) {
		return 0, m, false
	}
	m = mark{turn: be.Uint64(b[16:]), epoch: be.Uint64(b[24:]), pageSize: be.Uint32(b[32:])}
	m.state.Root = be.Uint32(b[36:])
	copy(m.state.Page[:], b[40:])
	return be.Uint64(b[8:]), m, true
}

// setMark notes, durably, that a state of the database file is on the device, and that the records
// from an epoch on continue it.
func (r *redo) setMark(s boltfile.State, pageSize int, epoch uint64) error {
	return r.writeMark(mark{turn: r.mark.turn + 1, epoch: epoch, pageSize: uint32(pageSize), state: s})
}

// confirm makes the newest mark durable. It was read, but if its flush failed, or its writer was
// killed, the device may have the one before, and until it has this one nothing that the one before
// needs may be written over.
func (r *redo) confirm() error { return r.writeMark(r.mark) }

func (r *redo) writeMark(m mark) error {
	b := make([]byte, 0, markBytes)
	b = be.AppendUint64(append(b, markMagic...), r.id)
	b = be.AppendUint64(be.AppendUint64(b, m.turn), m.epoch)
	b = be.AppendUint32(be.AppendUint32(b, m.pageSize), m.state.Root)
	b = append(b, m.state.Page[:]...)
	b = be.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := r.file.WriteAt(b, int64(m.turn%2)*slotBytes); err != nil {
		return err
	}
	r.mark = m // it may be on the device, also if the flush fails
	return r.file.Sync()
}

// next turns to the other half.
func (r *redo) next() { r.epoch, r.prev, r.at = r.epoch+1, r.at, 0 }

// append writes a record and waits for the device.
func (r *redo) append(body []byte) error {
	n := recordBytes(len(body))
	if r.at+n > halfBytes {
		return errNoRoom
	}
	b := make([]byte, n)
	be.PutUint32(b, recordMagic)
	be.PutUint32(b[4:], uint32(len(body)))
	be.PutUint32(b[8:], uint32(r.prev))
	copy(b[recordHead:], body)
	be.PutUint32(b[12:], r.sum(r.epoch, r.at, r.prev, body))
	if _, err := r.file.WriteAt(b, halfAt(r.epoch)+r.at); err != nil {
		return err
	}
	if err := r.file.Sync(); err != nil {
		return err
	}
	r.last, r.at = r.at, r.at+n
	return nil
}

// back takes the last record away: the next one is written over it. Until then a crash may bring it
// back, as one that fails when it is nearly done.
func (r *redo) back() { r.at = r.last }

// void sees to it, durably, that a record that was taken back does not come back.
func (r *redo) void() error {
	if r.at+recordHead <= halfBytes {
		if _, err := r.file.WriteAt(make([]byte, recordHead), halfAt(r.epoch)+r.at); err != nil {
			return err
		}
	}
	return r.file.Sync()
}

func recordBytes(body int) int64 { return int64(recordHead+body+7) &^ 7 }

func halfAt(epoch uint64) int64 { return 2*slotBytes + int64(epoch%2)*halfBytes }

// sum keeps a record from being taken for one of another log, turn or place.
func (r *redo) sum(epoch uint64, at, prev int64, body []byte) uint32 {
	b := make([]byte, 0, 32)
	b = be.AppendUint64(be.AppendUint64(be.AppendUint64(b, r.id), epoch), uint64(at)<<32|uint64(prev))
	b = be.AppendUint32(b, uint32(len(body)))
	return crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, body)
}

// read gives each the records since the mark, in order; afterwards next is where others may follow,
// in an epoch that none was ever written in: one that failed may be on the device, unseen. damaged
// says that some of them cannot be read.
func (r *redo) read(each func(body []byte) error) (n int, damaged bool, err error) {
	first, second := r.half(r.mark.epoch), r.half(r.mark.epoch+1)
	r.epoch = r.mark.epoch + 1
	later, _, damaged := r.scan(second, r.epoch, halfBytes)
	if len(later) > 0 {
		first = first[:min(later[0].prev, halfBytes)]
	}
	list, end, gap := r.scan(first, r.mark.epoch, int64(len(first)))
	damaged = damaged || gap || len(later) > 0 && end != int64(len(first))
	for _, f := range append(list, later...) {
		if err := each(f.body); err != nil {
			return n, damaged, err
		}
		n++
	}
	return n, damaged, nil
}

func (r *redo) half(epoch uint64) []byte {
	b := make([]byte, halfBytes)
	_, _ = r.file.ReadAt(b, halfAt(epoch)) // what the device refuses to read is as good as damaged
	return b
}

// found is a record that was read.
type found struct {
	body []byte
	prev int64
}

// scan finds the records of a half. gap says that there is something between them that is none.
func (r *redo) scan(half []byte, epoch uint64, limit int64) (list []found, end int64, gap bool) {
	for at := int64(0); at+recordHead <= limit; {
		if at%slotBytes == 0 && at+slotBytes <= limit && bytes.Equal(half[at:at+slotBytes], unwritten[:]) {
			at += slotBytes // most of it, as a rule
			continue
		}
		f, ok := r.record(half[at:], epoch, at)
		if !ok {
			at += 8
			continue
		}
		gap = gap || at != end
		list = append(list, f)
		at += recordBytes(len(f.body))
		end = at
	}
	return list, end, gap
}

// record reads the one at the beginning of b, if there is one.
func (r *redo) record(b []byte, epoch uint64, at int64) (f found, ok bool) {
	n := int64(be.Uint32(b[4:]))
	if be.Uint32(b) != recordMagic || n > halfBytes || recordBytes(int(n)) > int64(len(b)) {
		return f, false
	}
	f = found{b[recordHead : recordHead+n], int64(be.Uint32(b[8:]))}
	return f, be.Uint32(b[12:]) == r.sum(epoch, at, f.prev, f.body)
}

// wipe makes the log, durably, one that continues nothing: by a mark of no state, so that a crash
// leaves that or the one before, and never an older one.
func (r *redo) wipe() error { return r.setMark(boltfile.State{}, 0, 0) }

// wipeRedo is wipe of the log at path, if there is one.
func wipeRedo(path string) error {
	r, err := openRedo(path, true)
	if err != nil {
		return err
	}
	if r != nil {
		defer r.close()
		return r.wipe()
	}
	return vfs.OS.SyncDir(filepath.Dir(path)) // one that was removed does not come back
}

func (r *redo) close() { _ = r.file.Close() }
