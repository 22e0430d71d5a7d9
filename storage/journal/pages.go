package journal

import (
	"bytes"
	"encoding/binary"
	"sort"
	"unsafe"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/journal/file"
)

// A list says how many events match, be that a million. bbolt's cursor takes a microsecond over
// each key; but a leaf page says in its head how many it has, and only the two at the ends of a
// range need to be looked into. So what lies between is counted by pages, in the memory in which
// the transaction has the file. schema/format.md and bbolt's internal/common/page.go have the
// layout.
//
// Whatever is not as it should be is left to the cursor, which finds damage and says so.

// pages are the file as a read transaction has it.
type pages struct {
	data []byte // not to be kept beyond the transaction
	size int    // of a page

	known *file.Steady // nil: nothing is known
	fresh bool         // what is counted is made known
}

const (
	pageHead, elementHead = 16, 16
	pageIsBranch          = 1
	pageIsLeaf            = 2
	pageDepth             = 64
)

// pagesOf are the pages of a transaction; ok is false if they cannot be had, as in one that writes.
func pagesOf(tx *bolt.Tx) (p pages, ok bool) {
	db := tx.DB()
	if db == nil || tx.Writable() {
		return p, false
	}
	info, n := db.Info(), tx.Size()
	if info == nil || info.Data == 0 || info.PageSize <= 0 || n <= 0 {
		return p, false
	}
	// The memory is bbolt's map of the file, which stays where it is until the transaction ends,
	// and is no memory of Go's.
	return pages{data: unsafe.Slice(*(**byte)(unsafe.Pointer(&info.Data)), n), size: info.PageSize}, true
}

// page is the head of a page and its bytes, with those that overflow.
func (p pages) page(id uint64) (flags uint16, count int, data []byte, ok bool) {
	at := id * uint64(p.size)
	if id < 2 || at+uint64(p.size) > uint64(len(p.data)) || at/uint64(p.size) != id {
		return 0, 0, nil, false
	}
	head := p.data[at:]
	le := binary.LittleEndian
	end := (uint64(le.Uint32(head[12:])) + 1) * uint64(p.size)
	if le.Uint64(head) != id || end > uint64(len(head)) {
		return 0, 0, nil, false
	}
	count = int(le.Uint16(head[10:]))
	return le.Uint16(head[8:]), count, head[:end], pageHead+count*elementHead <= int(end)
}

// wholeLeaf is how many elements a page has, if it is a leaf and in order. Nearly all pages of a
// count are such, and each is a miss of the processor's caches: the shorter this is, the more of
// them are under way at once.
func (p pages) wholeLeaf(id uint64) (count int, ok bool) {
	size := uint64(p.size)
	if id < 2 || id >= uint64(len(p.data))/size {
		return 0, false
	}
	head := p.data[id*size:][:pageHead]
	le := binary.LittleEndian
	count = int(le.Uint16(head[10:]))
	return count, le.Uint64(head) == id && le.Uint16(head[8:]) == pageIsLeaf && le.Uint32(head[12:]) == 0 &&
		pageHead+count*elementHead <= p.size
}

// key is that of an element.
func keyAt(data []byte, i int, leaf bool) ([]byte, bool) {
	e := data[pageHead+i*elementHead:]
	le := binary.LittleEndian
	pos, size := uint64(le.Uint32(e)), uint64(le.Uint32(e[4:]))
	if leaf {
		pos, size = uint64(le.Uint32(e[4:])), uint64(le.Uint32(e[8:]))
	}
	if pos+size > uint64(len(e)) {
		return nil, false
	}
	return e[pos : pos+size], true
}

// keysBefore is how many elements of a page have keys that are lower than one.
func keysBefore(data []byte, count int, leaf bool, than []byte) (n int, ok bool) {
	ok = true
	n = sort.Search(count, func(i int) bool {
		k, fits := keyAt(data, i, leaf)
		ok = ok && fits
		return bytes.Compare(k, than) >= 0
	})
	return n, ok
}

// count is how many keys from lo on, not including hi, there are at a page and below; nil is no
// bound. read is how many pages that took.
func (p pages) count(id uint64, lo, hi []byte, depth int, read *int) (n int, ok bool) {
	flags, count, data, ok := p.page(id)
	*read++
	switch {
	case !ok || depth > pageDepth:
		return 0, false
	case flags == pageIsLeaf:
		return countLeaf(data, count, lo, hi)
	case flags != pageIsBranch || count == 0:
		return 0, false
	}
	first, last := 0, count-1
	if lo != nil {
		// Keys at a child are not lower than its own, and lower than the next one's.
		if first, ok = keysBefore(data, count, false, lo); !ok {
			return 0, false
		}
		if first == count || !keyIs(data, first, lo) {
			first = max(0, first-1)
		}
	}
	if hi != nil {
		end, fits := keysBefore(data, count, false, hi)
		if !fits {
			return 0, false
		}
		last = end - 1
	}
	for i := first; i <= last; i++ {
		child := binary.LittleEndian.Uint64(data[pageHead+i*elementHead+8:])
		from, to := lo, hi
		if i > first {
			from = nil
		}
		if i < last {
			to = nil
		}
		if from == nil && to == nil {
			if of, ok := p.wholeLeaf(child); ok {
				*read++
				n += of
				continue
			}
		}
		whole := p.known != nil && from == nil && to == nil
		if of, ok := 0, false; whole {
			if of, ok = p.known.Count(child); ok {
				n += of
				continue
			}
		}
		of, ok := p.count(child, from, to, depth+1, read)
		if !ok {
			return 0, false
		}
		if whole && p.fresh {
			p.known.Counted(child, of)
		}
		n += of
	}
	return n, true
}

func keyIs(data []byte, i int, want []byte) bool {
	k, ok := keyAt(data, i, false)
	return ok && bytes.Equal(k, want)
}

func countLeaf(data []byte, count int, lo, hi []byte) (n int, ok bool) {
	from, to := 0, count
	if lo != nil {
		if from, ok = keysBefore(data, count, true, lo); !ok {
			return 0, false
		}
	}
	if hi != nil {
		if to, ok = keysBefore(data, count, true, hi); !ok {
			return 0, false
		}
	}
	return max(0, to-from), true
}
