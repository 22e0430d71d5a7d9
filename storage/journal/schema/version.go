package schema

import "errors"

// Keys of the format bucket.
var (
	KeyVersion = []byte("version") // one byte: Version
	KeyClean   = []byte("clean")   // present if the journal was closed in good order
	KeyLow     = []byte("low")     // sequence: every event with a lower one has left the outbox
	KeyRefused = []byte("refused") // sequence: no event with a lower one is parked; not there: none is
	KeyCount   = []byte("count")   // number of events
	// how many wait and are parked, with the outbox's sequence and low of that moment, 8 bytes each
	KeyTally = []byte("tally")
	KeyLog   = []byte("log") // in a file of VersionLogged: which log it belongs to
	// number of the segments beside the file, and of the last block that is in it, 8 bytes each
	KeySegments = []byte("segments")
	KeyProbe    = []byte("probe") // zeros, for a moment: whether there is room is tried by it
)

// Version is that of the form that this package writes and reads.
const Version = 2

// VersionLogged is that of a file that stands alone only together with the log beside it: it is
// open, or was not closed in good order. All else of it is as in Version, and Close makes that of
// it.
const VersionLogged = 3

var (
	// ErrNewer says that a newer version of the program wrote a file.
	ErrNewer = errors.New("the journal was written by a newer version of this program: install that version, or move " +
		"the file away, and all beside it whose names begin as its does")
	// ErrOlder says that a build of before the first release wrote a file, in form 1.
	ErrOlder = errors.New("the journal was written by a build of before version 1.0.0, whose files no version " +
		"reads: move the file away, and a new journal begins")
)
