package boltfile

import (
	"errors"
	"fmt"
)

// pageSet is a set of the file's pages, a bit each.
type pageSet []uint64

// pageSet is empty, and has room for all pages that the file can hold.
func (f *File) pageSet() pageSet {
	return make(pageSet, uint64(f.size)/uint64(max(f.meta.PageSize, minPage))/64+1)
}

func (s pageSet) has(id uint64) bool { return id/64 < uint64(len(s)) && s[id/64]&(1<<(id%64)) != 0 }

func (s pageSet) add(id uint64) {
	if id/64 < uint64(len(s)) {
		s[id/64] |= 1 << (id % 64)
	}
}

// CheckFreelist looks at the list of free pages without the rest of the file. bbolt believes it,
// and would write over whatever it names.
func (f *File) CheckFreelist() error {
	_, err := f.freeIDs()
	return err
}

// freeIDs is the list of free pages, which is in order.
func (f *File) freeIDs() ([]uint64, error) {
	if f.meta.Freelist == noFreelist {
		return nil, nil
	}
	p, err := f.readPage(f.meta.Freelist)
	var ids []uint64
	if err == nil {
		ids, err = p.freeIDs()
	}
	if err != nil {
		return nil, fmt.Errorf("list of free pages: %w", err)
	}
	last := uint64(1)
	for _, id := range ids {
		if id <= last || id >= f.meta.Pages || id == f.meta.Root || id == f.meta.Freelist {
			return nil, errors.New("the list of free pages is damaged")
		}
		last = id
	}
	return ids, nil
}
