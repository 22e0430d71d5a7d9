package journal

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"vmsbridge/storage/vfs"
)

const (
	halfBytes = 128 << 10
	headBytes = 8
	// noteBytes is what an event takes beside its id.
	noteBytes = 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// activityLog is a small file beside the journal's, which notes when the events that go on were
// last known to do so; schema/format.md has its bytes. Safe for concurrent use.
type activityLog struct {
	path string

	// writeMu is held over each write, by those who note something, and guards what follows. Nobody
	// else waits for it.
	writeMu sync.Mutex
	file    vfs.File // nil: nothing has been noted since Open
	half    int64
	at      int64 // where the next record of the half goes

	mu   sync.Mutex // guards last
	last map[string]int64
}

// openActivityLog reads the file at path, if there is one. What cannot be read is left out, and err
// says why; the log is there all the same.
func openActivityLog(path string) (l *activityLog, err error) {
	l = &activityLog{path: path, last: map[string]int64{}}
	f, err := vfs.OS.Open(path, false)
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	} else if err != nil {
		return l, err
	}
	defer func() { _ = f.Close() }()
	for half := range int64(2) {
		b := make([]byte, halfBytes)
		n, bad := f.ReadAt(b, half*halfBytes)
		if readNotes(b[:n], l.take); !errors.Is(bad, io.EOF) {
			err = cmp.Or(err, bad)
		}
	}
	return l, err
}

// readNotes gives take what the records of a half say.
func readNotes(b []byte, take func(id string, ms int64)) {
	for len(b) > headBytes {
		n, sum := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
		b = b[headBytes:]
		if n == 0 || int64(n) > int64(len(b)) || crc32.Checksum(b[:n], castagnoli) != sum {
			return
		}
		for p := b[:n]; len(p) >= noteBytes; {
			id := int(binary.BigEndian.Uint16(p))
			if len(p) < noteBytes+id {
				return
			}
			take(string(p[2:2+id]), int64(binary.BigEndian.Uint64(p[2+id:])))
			p = p[noteBytes+id:]
		}
		b = b[n:]
	}
}

// take notes in memory that an event went on at ms.
func (l *activityLog) take(id string, ms int64) {
	if old, ok := l.last[id]; !ok || ms > old {
		l.last[id] = ms
	}
}

// Note notes, durably, that events went on at these times, in milliseconds since 1970.
func (l *activityLog) Note(times map[string]int64) error {
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	l.mu.Lock()
	for id, ms := range times {
		l.take(id, ms)
	}
	l.mu.Unlock()
	if err := l.write(times); err != nil {
		return fmt.Errorf("note what goes on: %w", err)
	}
	return nil
}

// write appends a record, and begins the other half where this one is full. writeMu is held.
func (l *activityLog) write(times map[string]int64) error {
	if l.file == nil {
		if err := l.create(); err != nil {
			return err
		}
	}
	record := encodeNotes(times)
	if l.at == 0 || l.at+int64(len(record)) > halfBytes {
		l.half, l.at = halfBytes-l.half, 0
		record = encodeNotes(l.All())
	}
	if _, err := l.file.WriteAt(record, l.half+l.at); err != nil {
		return err
	}
	l.at += int64(len(record))
	return l.file.Sync()
}

// create makes the file anew. What stood in the one before is in memory, and in the first record.
func (l *activityLog) create() error {
	if err := os.Remove(l.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := vfs.OS.Create(l.path, 2*halfBytes)
	if err != nil {
		return err
	}
	l.file, l.half, l.at = f, halfBytes, 0
	return vfs.OS.SyncDir(filepath.Dir(l.path))
}

// encodeNotes makes a record, of the latest times if not all have room.
func encodeNotes(times map[string]int64) []byte {
	ids := slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Compare(times[b], times[a]) })
	b := make([]byte, headBytes)
	for _, id := range ids {
		if len(b)+noteBytes+len(id) > halfBytes || len(id) > 1<<16-1 {
			continue
		}
		b = binary.BigEndian.AppendUint16(b, uint16(len(id)))
		b = append(b, id...)
		b = binary.BigEndian.AppendUint64(b, uint64(times[id]))
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-headBytes))
	binary.BigEndian.PutUint32(b[4:], crc32.Checksum(b[headBytes:], castagnoli))
	return b
}

// Last is when an event was last noted to go on. It waits for no disk.
func (l *activityLog) Last(id string) (ms int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ms, ok = l.last[id]
	return ms, ok
}

// All is when each event was last noted to go on. It waits for no disk.
func (l *activityLog) All() map[string]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.last)
}

// Forget leaves events out from now on: they have ended.
func (l *activityLog) Forget(ids ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		delete(l.last, id)
	}
}

// Close ends the log. With taken, what it says stands elsewhere, and the file goes.
func (l *activityLog) Close(taken bool) error {
	l.writeMu.Lock()
	defer l.writeMu.Unlock()
	var err error
	if l.file != nil {
		err = l.file.Close()
		l.file = nil
	}
	if taken {
		l.mu.Lock()
		clear(l.last)
		l.mu.Unlock()
		if gone := os.Remove(l.path); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
