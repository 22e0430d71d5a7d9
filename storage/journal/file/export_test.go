package file

// For the tests of what a check and a recovery find in files that no program has open.
var (
	CheckClosed = checkClosed
	FormOf      = formOf
	CheckOutbox = checkOutbox
	CheckPages  = checkPages
	Salvage     = salvage
)

// OpenUnread is Open without the reading beside the use.
func OpenUnread(path string, o Options) (*File, error) {
	f := newFile(path, o)
	return f, f.open()
}
