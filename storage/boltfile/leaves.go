package boltfile

// Leaves visits the keys and values of every page in the file that looks like a leaf, whether or
// not the tree leads there; so also of pages that bbolt has freed: older values, and values since
// deleted, come too, in no order. Inline buckets and pages that break off are followed as far as
// they go. An error of visit ends the walk.
func (f *File) Leaves(visit func(key, value []byte) error) error {
	sizes := []int{f.meta.PageSize}
	if f.metas == 0 {
		sizes = []int{4096, 16384, 65536}
	}
	for _, pageSize := range sizes {
		pages := uint64(f.size) / uint64(pageSize)
		for id := uint64(2); id < pages; id++ {
			p, err := f.readAt(id, pageSize, pages)
			if err != nil || p.flags != flagLeaf {
				continue
			}
			if err := visitStray(p, true, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func visitStray(p page, inline bool, visit func(key, value []byte) error) error {
	list, _ := p.elements()
	for _, e := range list {
		if e.bucket {
			if inline && len(e.value) > 16 {
				if inner, err := parseHeader(e.value[16:]); err == nil && inner.flags == flagLeaf && inner.id == 0 &&
					e.value[0] == 0 {
					if err := visitStray(inner, false, visit); err != nil {
						return err
					}
				}
			}
			continue
		}
		if err := visit(e.key, e.value); err != nil {
			return err
		}
	}
	return nil
}
