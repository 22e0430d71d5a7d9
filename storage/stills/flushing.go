package stills

// flushing is a flush of a writer's file as it was when the flush was begun.
type flushing struct {
	*writer
	end     uint32
	ends    bool
	block   block
	listing *listing
	sealed  bool
	err     error
}

// flush begins a flush. The writer's caller holds its lock for that, and for done, but not for run.
func (w *writer) flush() flushing {
	f := flushing{writer: w, end: w.pos, ends: w.ends, block: w.block, listing: w.listing, err: w.again()}
	w.ends, w.dirty = false, false
	return f
}

// run flushes. A full segment is sealed when its records are on the device. The index itself is left to the system: if a
// crash takes it, the records are read instead.
func (f *flushing) run() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil || f.closed {
		return
	}
	if f.err = f.file.Sync(); f.err != nil || f.listing == nil {
		return
	}
	if f.end, f.err = seal(f.file, f.block, f.listing, f.end); f.err == nil {
		f.ends, f.sealed = true, true
	}
}

// done takes the flush down, and returns how many bytes it wrote to the device: whole pages.
func (f *flushing) done() int64 {
	w := f.writer
	if f.sealed {
		w.listing, w.pos = nil, f.end
	}
	if f.err != nil {
		w.failed, w.dirty, w.ends = true, true, w.ends || f.ends
		return 0
	}
	n := int64((f.end+pageBytes-1)&^(pageBytes-1)) - int64(w.flushed&^(pageBytes-1))
	if f.ends {
		n += pageBytes
	}
	w.flushed = max(w.flushed, f.end)
	return max(n, 0)
}

// again writes once more what a flush that went wrong should have brought to the device: after that, the system takes it
// for written and a second fsync does nothing (A. Rebello and others, "Can Applications Recover from fsync Failures?", USENIX
// ATC 2020). As long as the machine runs, it can be read.
func (w *writer) again() error {
	if !w.failed {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	p := make([]byte, windowBytes)
	foot := w.block.capacity - blockBytes
	for _, b := range [][2]uint32{{0, blockBytes}, {max(w.flushed, blockBytes), w.pos}, {foot, w.block.capacity}} {
		for at := b[0]; at < b[1]; {
			n, err := w.file.ReadAt(p[:min(windowBytes, b[1]-at)], int64(at))
			if n == 0 && err != nil {
				return err
			}
			if _, err := w.file.WriteAt(p[:n], int64(at)); err != nil {
				return err
			}
			at += uint32(n)
		}
	}
	w.failed, w.ends = false, true
	return nil
}
