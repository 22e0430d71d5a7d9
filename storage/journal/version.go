package journal

// Keys of the format bucket.
var (
	keyVersion = []byte("version") // one byte: formatVersion
	keyClean   = []byte("clean")   // present if the journal was closed in good order
	keyLow     = []byte("low")     // sequence: every event with a lower one has left the outbox
	keyCount   = []byte("count")   // number of events
)

// formatVersion 1 had no length classes and no count; Open makes a new file of it.
const formatVersion = 2
