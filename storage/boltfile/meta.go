package boltfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

const (
	magic       = 0xED0CDAED
	version     = 2
	headerBytes = 16
	metaBytes   = 64 // without the checksum
	minPage     = 512
	maxPage     = 64 << 10
	noFreelist  = ^uint64(0)
)

// Page flags.
const (
	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagMeta     = 0x04
	flagFreelist = 0x10
)

// ErrNoMeta says that neither meta page can be read: there is no tree to walk.
var ErrNoMeta = errors.New("both meta pages are unreadable")

// Meta is what a meta page says.
type Meta struct {
	PageSize int
	Root     uint64 // page of the tree of buckets
	Freelist uint64
	Pages    uint64 // high-water mark: pages from here on do not exist
	Tx       uint64
}

// File is a bbolt file under a reader. It is safe for concurrent use if the reader is; the file
// must not change, except that a read transaction of bbolt keeps the pages of its meta as they are.
type File struct {
	r    io.ReaderAt
	size int64
	meta Meta
	// metas is how many of the two meta pages are valid.
	metas int
}

// New reads the meta pages and takes the newer valid one.
func New(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size}
	// The first meta page tells where the second is. If it cannot, every page size is tried.
	sizes := []int{}
	if m, err := f.readMeta(0); err == nil {
		f.take(m)
		sizes = append(sizes, m.PageSize)
	} else {
		for n := minPage; n <= maxPage; n *= 2 {
			sizes = append(sizes, n)
		}
	}
	for _, n := range sizes {
		if m, err := f.readMeta(int64(n)); err == nil && m.PageSize == n {
			f.take(m)
		}
	}
	if f.metas == 0 {
		return f, ErrNoMeta
	}
	return f, nil
}

func (f *File) take(m Meta) {
	f.metas++
	if f.metas == 1 || m.Tx > f.meta.Tx {
		f.meta = m
	}
}

// Meta is the meta that Walk follows.
func (f *File) Meta() Meta { return f.meta }

// Size is the file's, in bytes.
func (f *File) Size() int64 { return f.size }

// Metas is how many of the two meta pages are valid. One only means that the last transaction may
// be lost to bbolt.
func (f *File) Metas() int { return f.metas }

func (f *File) readMeta(at int64) (Meta, error) {
	b := make([]byte, headerBytes+metaBytes+8)
	if _, err := f.r.ReadAt(b, at); err != nil {
		return Meta{}, err
	}
	return parseMeta(b)
}

func parseMeta(page []byte) (Meta, error) {
	if len(page) < headerBytes+metaBytes+8 {
		return Meta{}, errors.New("meta page is cut off")
	}
	le, b := binary.LittleEndian, page[headerBytes:]
	if v := le.Uint32(b); v != magic {
		return Meta{}, fmt.Errorf("magic number is %#x", v)
	}
	if v := le.Uint32(b[4:]); v != version {
		return Meta{}, fmt.Errorf("version is %d", v)
	}
	h := fnv.New64a()
	h.Write(b[:metaBytes-8])
	if h.Sum64() != le.Uint64(b[metaBytes-8:]) {
		return Meta{}, errors.New("checksum of the meta page differs")
	}
	m := Meta{
		PageSize: int(le.Uint32(b[8:])), Root: le.Uint64(b[16:]),
		Freelist: le.Uint64(b[32:]), Pages: le.Uint64(b[40:]), Tx: le.Uint64(b[48:]),
	}
	if m.PageSize < minPage || m.PageSize > maxPage || m.PageSize&(m.PageSize-1) != 0 {
		return Meta{}, fmt.Errorf("page size is %d", m.PageSize)
	}
	return m, nil
}
