package boltfile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// page is a page's header and its bytes, overflow pages included; or an inline bucket's.
type page struct {
	id       uint64
	flags    uint16
	count    int
	overflow uint32
	data     []byte
}

// element is an entry of a leaf (key, value; bucket says that the value is a bucket) or of a branch
// (key, child).
type element struct {
	key, value []byte
	bucket     bool
	child      uint64
}

func parseHeader(b []byte) (page, error) {
	if len(b) < headerBytes {
		return page{}, errors.New("page is cut off")
	}
	le := binary.LittleEndian
	return page{
		id: le.Uint64(b), flags: le.Uint16(b[8:]), count: int(le.Uint16(b[10:])), overflow: le.Uint32(b[12:]), data: b,
	}, nil
}

// readPage reads page id with its overflow, and believes nothing that would lead outside of the
// file.
func (f *File) readPage(id uint64) (page, error) {
	if id < 2 || id >= f.meta.Pages {
		return page{}, fmt.Errorf("page id is outside of the file's %d pages", f.meta.Pages)
	}
	return f.readAt(id, f.meta.PageSize, f.meta.Pages)
}

func (f *File) readAt(id uint64, pageSize int, pages uint64) (page, error) {
	at := int64(id) * int64(pageSize)
	if id > uint64(f.size)/uint64(pageSize) || at+int64(pageSize) > f.size {
		return page{}, errors.New("page lies beyond the end of the file")
	}
	b := make([]byte, pageSize)
	if _, err := f.r.ReadAt(b, at); err != nil {
		return page{}, err
	}
	p, err := parseHeader(b)
	if err != nil {
		return page{}, err
	}
	if p.id != id {
		return page{}, fmt.Errorf("page says that it is page %d", p.id)
	}
	if p.overflow > 0 {
		end := at + (int64(p.overflow)+1)*int64(pageSize)
		if id+uint64(p.overflow) >= pages || end > f.size || end-at > maxPageRun {
			return page{}, fmt.Errorf("%d overflow pages lead outside of the file", p.overflow)
		}
		b = make([]byte, end-at)
		if _, err := f.r.ReadAt(b, at); err != nil {
			return page{}, err
		}
		p.data = b
	}
	return p, nil
}

// maxPageRun bounds what one page with its overflow may take of memory. No value of the journal is
// near it; a freelist of eight million pages is.
const maxPageRun = 64 << 20

const elementBytes = 16 // of both kinds

// elements parses a leaf's or a branch's entries. Those before the first bad one are returned with
// the error.
func (p page) elements() ([]element, error) {
	if p.flags != flagLeaf && p.flags != flagBranch {
		return nil, fmt.Errorf("page has flags %#x, neither branch nor leaf", p.flags)
	}
	if headerBytes+p.count*elementBytes > len(p.data) {
		return nil, fmt.Errorf("%d entries do not fit the page", p.count)
	}
	list := make([]element, 0, p.count)
	for i := range p.count {
		e, err := p.element(headerBytes + i*elementBytes)
		if err != nil {
			return list, fmt.Errorf("entry %d: %w", i, err)
		}
		list = append(list, e)
	}
	return list, nil
}

func (p page) element(at int) (element, error) {
	le, b := binary.LittleEndian, p.data[at:]
	var pos, ksize, vsize uint64
	var e element
	if p.flags == flagLeaf {
		e.bucket = le.Uint32(b)&1 != 0
		pos, ksize, vsize = uint64(le.Uint32(b[4:])), uint64(le.Uint32(b[8:])), uint64(le.Uint32(b[12:]))
	} else {
		pos, ksize = uint64(le.Uint32(b)), uint64(le.Uint32(b[4:]))
		e.child = le.Uint64(b[8:])
	}
	if pos+ksize+vsize > uint64(len(b)) || (p.flags == flagLeaf && ksize == 0) {
		return element{}, fmt.Errorf("key of %d and value of %d bytes at %d do not fit", ksize, vsize, pos)
	}
	e.key = b[pos : pos+ksize : pos+ksize]
	e.value = b[pos+ksize : pos+ksize+vsize : pos+ksize+vsize]
	return e, nil
}

// freeIDs parses a freelist page.
func (p page) freeIDs() ([]uint64, error) {
	if p.flags != flagFreelist {
		return nil, fmt.Errorf("page has flags %#x, not those of the freelist", p.flags)
	}
	le, b := binary.LittleEndian, p.data[headerBytes:]
	n := uint64(p.count)
	if n == 0xFFFF {
		if len(b) < 8 {
			return nil, errors.New("freelist is cut off")
		}
		n, b = le.Uint64(b), b[8:]
	}
	if n > uint64(len(b)/8) {
		return nil, fmt.Errorf("%d free pages do not fit the freelist", n)
	}
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = le.Uint64(b[i*8:])
	}
	return ids, nil
}
