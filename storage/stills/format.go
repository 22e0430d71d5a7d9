package stills

import (
	"encoding/binary"
	"hash/crc32"
)

// The disk form; format.md has the byte tables. All numbers are little-endian.
const (
	headMagic   = "VMSTILL1" // first block of a segment
	footMagic   = "VMSTILLE" // last block
	blockBytes  = 64
	recordMagic = 0x53a7e1d9
	recordHead  = 32
	align       = 8

	// A segment has so many bytes.
	minSegmentBytes = 64 << 10
	maxSegmentBytes = 1 << 30

	typeStill  = 1
	typeGap    = 2 // a time without pictures
	typePruned = 3 // the newest still of a camera that has none left
	typeSkip   = 4 // bytes that hold nothing: what a crash left of a record

	// version is the one that new segments have. Version 1 knew no lanes and no sizes in its index; its segments are read.
	version = 2
	// versionEra is that of segments begun while the clock was untrue (era.go), so that a program that does not know of eras
	// refuses the ring instead of showing wrong times. All else of it is as in version 2.
	versionEra = 3
)

// The lanes: each is a sequence of segments of its own. What goes into which is the ring's to say.
const (
	quiet = iota
	loud
	lanes
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	le         = binary.LittleEndian
)
