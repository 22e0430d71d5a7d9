package form

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
)

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
