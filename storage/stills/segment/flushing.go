package segment

// Flushing is a flush of a writer's file as it was when the flush was begun.
type Flushing struct {
	*Writer
	end    uint32
	ends   bool
	block  Block
	index  []byte
	sealed bool
	Err    error // why it went wrong
}

// BeginFlush begins a flush. The writer's caller holds its lock for that, and for Done, but not for
// Run.
func (w *Writer) BeginFlush() Flushing {
	f := Flushing{Writer: w, end: w.pos, ends: w.ends, block: w.block, index: w.index, Err: w.again()}
	w.ends, w.dirty = false, false
	return f
}

// Run flushes. A full segment is sealed when its records are on the device. The index itself is
// left to the system: if a crash takes it, the records are read instead.
func (f *Flushing) Run() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Err != nil || f.closed {
		return
	}
	if f.Err = f.file.Sync(); f.Err != nil || f.index == nil {
		return
	}
	if f.end, f.Err = Seal(f.file, f.block, f.index, f.end); f.Err == nil {
		f.ends, f.sealed = true, true
	}
}

// Done takes the flush down, and returns how many bytes it wrote to the device: whole pages.
func (f *Flushing) Done() int64 {
	w := f.Writer
	if f.sealed {
		w.index, w.pos = nil, f.end
	}
	if f.Err != nil {
		w.failed, w.dirty, w.ends = true, true, w.ends || f.ends
		return 0
	}
	n := int64((f.end+PageBytes-1)&^(PageBytes-1)) - int64(w.flushed&^(PageBytes-1))
	if f.ends {
		n += PageBytes
	}
	w.flushed = max(w.flushed, f.end)
	return max(n, 0)
}

// again writes once more what a flush that went wrong should have brought to the device: after
// that, the system takes it for written and a second fsync does nothing (A. Rebello and others,
// "Can Applications Recover from fsync Failures?", USENIX ATC 2020). As long as the machine runs,
// it can be read.
func (w *Writer) again() error {
	if !w.failed {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	p := make([]byte, windowBytes)
	foot := w.block.Capacity - BlockBytes
	for _, b := range [][2]uint32{{0, BlockBytes}, {max(w.flushed, BlockBytes), w.pos},
		{foot, w.block.Capacity}} {
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
