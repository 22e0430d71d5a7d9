package segment

import (
	"fmt"
	"strconv"
	"strings"
)

// The names in the ring's folder.
const (
	namePrefix = "stills-"
	nameSuffix = ".seg"
	// LockName is the file that the process locks which has the ring open.
	LockName = "LOCK"
	// ManifestName is the file that names the segments; see Manifest.
	ManifestName = "MANIFEST"
	// BlankName is an empty file on its way to another name.
	BlankName     = "blank"
	droppedPrefix = "dropped-"
)

// DroppedName is the name of an empty file that says that the segment of that number was dropped.
func DroppedName(number uint64) string { return fmt.Sprintf("%s%012d", droppedPrefix, number) }

// DroppedNumber is the number in a name that DroppedName made.
func DroppedNumber(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, droppedPrefix)
	n, err := strconv.ParseUint(digits, 10, 63)
	return n, ok && err == nil && n > 0 && name == DroppedName(n)
}

// IsForeign says whether a name in the folder is none that the ring gives.
func IsForeign(name string) bool {
	_, isSegment := SegmentNumber(name)
	_, isDropped := DroppedNumber(name)
	return !isSegment && !isDropped && name != LockName && name != ManifestName && name != BlankName
}

// SegmentName is the name of the segment of that number.
func SegmentName(number uint64) string {
	return fmt.Sprintf("%s%012d%s", namePrefix, number, nameSuffix)
}

// SegmentNumber is the number in a segment's name; other names are of foreign files.
func SegmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, namePrefix)
	digits, ok2 := strings.CutSuffix(digits, nameSuffix)
	n, err := strconv.ParseUint(digits, 10, 63)
	return n, ok && ok2 && err == nil && n > 0 && name == SegmentName(n)
}
