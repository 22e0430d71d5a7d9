package file

// For the tests of what a check and a recovery find in files that no program has open.
var (
	CheckClosed = checkClosed
	FormOf      = formOf
	CheckOutbox = checkOutbox
	CheckPages  = checkPages
	Renew       = renew
)

// OpenUnread is Open without the reading beside the use.
func OpenUnread(path string, o Options) (*File, error) {
	f := newFile(path, o)
	return f, f.open()
}

// SegmentsOf is how many bytes the segments have, and whether they are whole.
func (f *File) SegmentsOf() (bytes int64, whole bool) {
	f.commitMu.Lock()
	defer f.commitMu.Unlock()
	f.pointMu.Lock()
	defer f.pointMu.Unlock()
	return f.segments.bytes(), f.segments.last.since != 0
}
