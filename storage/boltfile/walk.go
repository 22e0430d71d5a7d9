package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Visit gets each key and value of the file's buckets. The slices are valid until it returns. An
// error ends the walk.
type Visit func(bucket string, key, value []byte) error

// Lost is a place that could not be read, or is not as bbolt would have left it.
type Lost struct {
	Bucket string // "" for the tree of buckets and the freelist
	Page   uint64
	Err    error
}

func (l Lost) Error() string {
	if l.Bucket == "" {
		return fmt.Sprintf("page %d: %v", l.Page, l.Err)
	}
	return fmt.Sprintf("bucket %q, page %d: %v", l.Bucket, l.Page, l.Err)
}

// maxDepth is more than a tree of 2⁶⁴ pages needs.
const maxDepth = 64

type walk struct {
	f     *File
	visit Visit
	seen  pageSet
	lost  []Lost
	seqs  map[string]uint64
	last  []byte
	// from and to bound the keys of the page in hand, as the branches above it say: to is
	// exclusive, nil is no bound.
	from, to []byte
}

// Walk visits the keys of all buckets, in order, from the newer meta's tree, skipping what cannot
// be read; that is returned as lost. It also compares the tree with the freelist. sequences are
// those of the buckets that were found; err is visit's.
func (f *File) Walk(visit Visit) (sequences map[string]uint64, lost []Lost, err error) {
	w := &walk{f: f, visit: visit, seen: f.pageSet(), seqs: map[string]uint64{}}
	if err = w.tree("", f.meta.Root, 0, w.bucket); err == nil {
		w.freelist()
	}
	return w.seqs, w.lost, err
}

func (w *walk) lose(bucket string, page uint64, err error) {
	w.lost = append(w.lost, Lost{bucket, page, err})
}

// bucket walks one bucket: an entry of the top tree.
func (w *walk) bucket(e element) error {
	name := string(e.key)
	if !e.bucket {
		w.lose(name, 0, errors.New("entry is not a bucket"))
		return nil
	}
	if len(e.value) < 16 {
		w.lose(name, 0, errors.New("bucket is cut off"))
		return nil
	}
	w.seqs[name] = binary.LittleEndian.Uint64(e.value[8:])
	w.last = nil
	from, to := w.from, w.to
	w.from, w.to = nil, nil // of the tree of buckets
	defer func() { w.from, w.to = from, to }()
	leaf := func(e element) error {
		if e.bucket {
			w.lose(name, 0, errors.New("bucket within a bucket"))
			return nil
		}
		if w.last != nil && bytes.Compare(w.last, e.key) >= 0 {
			w.lose(name, 0, fmt.Errorf("key %q is out of order", e.key))
		}
		w.last = append(w.last[:0], e.key...)
		return w.visit(name, e.key, e.value)
	}
	if root := binary.LittleEndian.Uint64(e.value); root != 0 {
		return w.tree(name, root, 0, leaf)
	}
	p, err := parseHeader(e.value[16:])
	if err != nil {
		w.lose(name, 0, err)
		return nil
	}
	return w.leaves(name, p, leaf)
}

// tree walks the pages below id.
func (w *walk) tree(bucket string, id uint64, depth int, leaf func(element) error) error {
	if depth > maxDepth {
		w.lose(bucket, id, errors.New("tree is too deep"))
		return nil
	}
	p, err := w.f.readPage(id)
	if err != nil {
		w.lose(bucket, id, err)
		return nil
	}
	for i := range uint64(p.overflow) + 1 {
		if w.seen.has(id + i) {
			w.lose(bucket, id, errors.New("page is used twice"))
			return nil
		}
		w.seen.add(id + i)
	}
	if p.flags != flagBranch {
		return w.leaves(bucket, p, leaf)
	}
	list, err := p.elements()
	if err != nil {
		w.lose(bucket, id, err)
	}
	from, to := w.from, w.to
	defer func() { w.from, w.to = from, to }()
	for i, e := range list {
		// Whoever looks a key up goes where the branch's keys say; a wrong one hides what is below.
		// The first key counts for nothing: what is less than it is looked up there too.
		w.from, w.to = from, to
		if i > 0 {
			w.from = e.key
			if bytes.Compare(list[i-1].key, e.key) >= 0 && i > 1 {
				w.lose(bucket, id, fmt.Errorf("branch key %q is out of order", e.key))
			}
		}
		if i+1 < len(list) {
			w.to = list[i+1].key
		}
		if err := w.tree(bucket, e.child, depth+1, leaf); err != nil {
			return err
		}
	}
	return nil
}

// outside says that a key is not where it would be looked up.
func (w *walk) outside(key []byte) bool {
	return w.from != nil && bytes.Compare(key, w.from) < 0 || w.to != nil && bytes.Compare(key, w.to) >= 0
}

func (w *walk) leaves(bucket string, p page, leaf func(element) error) error {
	if p.flags != flagLeaf {
		w.lose(bucket, p.id, fmt.Errorf("page has flags %#x, not those of a leaf", p.flags))
		return nil
	}
	list, err := p.elements()
	if err != nil {
		w.lose(bucket, p.id, err)
	}
	told := false
	for _, e := range list {
		if !told && w.outside(e.key) {
			w.lose(bucket, p.id, fmt.Errorf("key %q is not where it would be looked up", e.key))
			told = true
		}
		if err := leaf(e); err != nil {
			return err
		}
	}
	return nil
}

// freelist looks for pages that are both used and free: bbolt would overwrite them.
func (w *walk) freelist() {
	ids, err := w.f.freeIDs()
	if err != nil {
		w.lose("", w.f.meta.Freelist, err)
	}
	for _, n := range ids {
		if w.seen.has(n) {
			w.lose("", w.f.meta.Freelist, fmt.Errorf("page %d is both in use and free", n))
		}
	}
}
