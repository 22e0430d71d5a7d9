package boltfile

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"slices"
)

// MetaPageBytes is how much of a meta page says something.
const MetaPageBytes = headerBytes + metaBytes + 8

// State is a moment of a file: its meta page, which leads to all others, and a checksum of the page
// that it leads to first. A read transaction of that moment keeps all but the meta page as it is.
type State struct {
	Page [MetaPageBytes]byte
	Root uint32 // CRC-32C of the page of the tree of buckets
}

// StateOf is the moment that a transaction of the file sees, which is the newest or the one before.
func StateOf(r io.ReaderAt, tx uint64, pageSize int) (s State, err error) {
	if _, err := r.ReadAt(s.Page[:], int64(tx%2)*int64(pageSize)); err != nil {
		return s, err
	}
	m, err := parseMeta(s.Page[:])
	if err == nil && m.Tx != tx {
		err = fmt.Errorf("the meta page is of transaction %d, and not of %d", m.Tx, tx)
	}
	if err == nil {
		s.Root, err = rootSum(r, m)
	}
	return s, err
}

func rootSum(r io.ReaderAt, m Meta) (uint32, error) {
	b := make([]byte, m.PageSize)
	_, err := r.ReadAt(b, int64(m.Root)*int64(m.PageSize))
	return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)), err
}

// Fits says whether a file, as it lies there after a crash, has been in the state, and the state's
// first page is still in it. A meta page that is torn may have been a newer one: then that page is
// what it goes by.
func (s State) Fits(r io.ReaderAt) bool {
	m, err := parseMeta(s.Page[:])
	if err != nil {
		return false
	}
	f := &File{r: r}
	reached := false
	for at := range int64(2) {
		now, err := f.readMeta(at * int64(m.PageSize))
		reached = reached || err != nil || now.Tx >= m.Tx
	}
	sum, err := rootSum(r, m)
	return err == nil && sum == s.Root && reached
}

// Metas are both meta pages of a file in the state, by their places in it: the state's own, and in
// the other's place one that says the same and is older, so that either is a good one.
func (s State) Metas() map[int64][]byte {
	m, err := parseMeta(s.Page[:])
	if err != nil {
		return nil
	}
	page, other := s.Page[:], slices.Clone(s.Page[:])
	le := binary.LittleEndian
	le.PutUint64(other, (m.Tx+1)%2)
	le.PutUint64(other[headerBytes+48:], m.Tx-1)
	h := fnv.New64a()
	h.Write(other[headerBytes : headerBytes+metaBytes-8])
	le.PutUint64(other[headerBytes+metaBytes-8:], h.Sum64())
	return map[int64][]byte{int64(m.Tx%2) * int64(m.PageSize): page, int64((m.Tx+1)%2) * int64(m.PageSize): other}
}

// In is a file as it reads with the state's meta pages.
func (s State) In(r io.ReaderAt) io.ReaderAt { return put{r, s.Metas()} }

type put struct {
	io.ReaderAt
	metas map[int64][]byte
}

func (p put) ReadAt(b []byte, at int64) (int, error) {
	n, err := p.ReaderAt.ReadAt(b, at)
	for from, page := range p.metas {
		if d := from - at; d >= 0 && d < int64(n) {
			copy(b[d:n], page)
		} else if d < 0 && -d < int64(len(page)) {
			copy(b[:n], page[-d:])
		}
	}
	return n, err
}
