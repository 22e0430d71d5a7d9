package main

import (
	"errors"
	"time"
)

// side is a store of stills: the ring, or something else.
type side interface {
	// Append stores a still; it need not be durable before Flush.
	Append(camera string, t time.Time, jpeg []byte) error
	// Flush makes durable what was appended.
	Flush() error
	// Before reads the newest still of the camera before t.
	Before(camera string, t time.Time) (time.Time, []byte, error)
	// Prune deletes about so many bytes of the oldest stills.
	Prune(bytes int64) error
	Close() error
}

// contender is a side by its name, with what opens it in a folder.
type contender struct {
	name string
	open func(dir string) (side, error)
}

// sides are all that there are.
var sides = []contender{
	{"ring", openRing},
	{"plain writer", openPlain},
	{"file a still", openFiles},
	{"bbolt values", openBolt},
	{"SQLite blobs", openSQLite},
}

var errNone = errors.New("no such still")

// flushEvery is how often all sides flush.
const flushEvery = 2 * time.Second
