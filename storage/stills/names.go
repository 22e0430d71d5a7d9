package stills

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	namePrefix = "stills-"
	nameSuffix = ".seg"
	// lockName is the file that the process locks which has the ring open.
	lockName = "LOCK"
)

func segmentName(number uint64) string {
	return fmt.Sprintf("%s%012d%s", namePrefix, number, nameSuffix)
}

// segmentNumber is the number in a segment's name; other names are of foreign files.
func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, namePrefix)
	digits, ok2 := strings.CutSuffix(digits, nameSuffix)
	n, err := strconv.ParseUint(digits, 10, 63)
	return n, ok && ok2 && err == nil && n > 0 && name == segmentName(n)
}
