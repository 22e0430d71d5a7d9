package form

// Keys of the format bucket.
var (
	KeyVersion = []byte("version") // one byte: Version
	KeyClean   = []byte("clean")   // present if the journal was closed in good order
	KeyLow     = []byte("low")     // sequence: every event with a lower one has left the outbox
	KeyCount   = []byte("count")   // number of events
)

// Version is that of the form that this package writes and reads. Version 1 had no length classes and no count; Open makes a new file of
// it.
const Version = 2
