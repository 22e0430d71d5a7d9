package journal

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"sync"

	"vmsbridge/storage/vfs"
)

// activity is when the events that go on were last known to do so, where that is later than what
// the file says of it: the log beside the file has it. Safe for concurrent use, and waits for
// nothing.
type activity struct {
	mu   sync.Mutex // guards last
	last map[string]int64
}

// take notes that events went on at these times, in milliseconds since 1970.
func (a *activity) take(times map[string]int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, ms := range times {
		if old, ok := a.last[id]; !ok || ms > old {
			a.last[id] = ms
		}
	}
}

// of is when an event was last noted to go on.
func (a *activity) of(id string) (ms int64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ms, ok = a.last[id]
	return ms, ok
}

// all is when each event was last noted to go on.
func (a *activity) all() map[string]int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.last)
}

// forget leaves an event out from now on: it has ended.
func (a *activity) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, id)
}

// Builds of before 2026-11-24 noted activity in a file of its own, two halves of records: length
// and checksum of what follows (4 each), then for each event the length of its id (2), the id, and
// milliseconds since 1970 (8).
const (
	activitySuffix = ".activity"
	oldHalfBytes   = 128 << 10
	oldHeadBytes   = 8
	oldNoteBytes   = 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// takeOldActivity takes over what such a build noted beside the journal at path before a crash.
// What cannot be read is left out, and err says why.
func (j *Journal) takeOldActivity(path string) (err error) {
	path += activitySuffix
	f, err := vfs.OS.Open(path, false)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		if is, _ := os.Lstat(path); is != nil && !is.Mode().IsRegular() {
			err = cmp.Or(os.Remove(path), err) // it holds nothing
		}
		return err
	}
	defer func() { _ = f.Close() }()
	last := map[string]int64{}
	for half := range int64(2) {
		b := make([]byte, oldHalfBytes)
		n, bad := f.ReadAt(b, half*oldHalfBytes)
		if readNotes(b[:n], last); !errors.Is(bad, io.EOF) {
			err = cmp.Or(err, bad)
		}
	}
	if err := j.touch(last); err != nil {
		return err // the next Open tries it again
	}
	return cmp.Or(os.Remove(path), err)
}

// readNotes puts what the records of a half say into last.
func readNotes(b []byte, last map[string]int64) {
	for len(b) > oldHeadBytes {
		n, sum := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
		b = b[oldHeadBytes:]
		if n == 0 || int64(n) > int64(len(b)) || crc32.Checksum(b[:n], castagnoli) != sum {
			return
		}
		for p := b[:n]; len(p) >= oldNoteBytes; {
			id := int(binary.BigEndian.Uint16(p))
			if len(p) < oldNoteBytes+id {
				return
			}
			key, ms := string(p[2:2+id]), int64(binary.BigEndian.Uint64(p[2+id:]))
			if old, ok := last[key]; !ok || ms > old {
				last[key] = ms
			}
			p = p[oldNoteBytes+id:]
		}
		b = b[n:]
	}
}
