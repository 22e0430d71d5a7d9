package segment

import (
	"encoding/binary"
	"hash/crc32"
)

// The disk form; format.md has the byte tables. All numbers are little-endian.
const (
	HeadMagic   = "VMSTILL1" // first block of a segment
	FootMagic   = "VMSTILLE" // last block
	BlockBytes  = 64         // of each of the two
	recordMagic = 0x53a7e1d9
	RecordHead  = 32 // bytes of a record's header
	Align       = 8  // a record begins at a multiple of that

	// A segment has so many bytes.
	MinSegmentBytes = 64 << 10
	MaxSegmentBytes = 1 << 30

	// The types of records.
	TypeStill  = 1
	TypeGap    = 2 // a time without pictures
	TypePruned = 3 // the newest still of a camera that has none left
	TypeSkip   = 4 // bytes that hold nothing: what a crash left of a record

	// Version is the one that new segments have. Version 1 was never released.
	Version = 2
	// VersionEra is that of segments begun while the clock was untrue, so that a program that does
	// not know of eras refuses the ring instead of showing wrong times. All else of it is as in
	// version 2.
	VersionEra = 3
)

// The lanes: each is a sequence of segments of its own. What goes into which is the ring's to say.
const (
	Quiet = iota
	Loud
	Lanes // how many there are
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	le         = binary.LittleEndian
)
