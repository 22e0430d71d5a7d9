package stills

import (
	"fmt"
	"sort"

	"vmsbridge/storage/stills/segment"
)

// Op is how a still's time must relate to the time asked for. Of those that do, the nearest is
// meant.
type Op uint8

// The operators.
const (
	Before     Op = iota + 1 // the newest still strictly before
	AtOrBefore               // the newest still not after
	At                       // the still of exactly this nanosecond
	AtOrAfter                // the oldest still not before
	After                    // the oldest still strictly after
)

func (o Op) String() string {
	switch o {
	case Before:
		return "before"
	case AtOrBefore:
		return "at or before"
	case At:
		return "at"
	case AtOrAfter:
		return "at or after"
	case After:
		return "after"
	}
	return fmt.Sprintf("op(%d)", uint8(o))
}

// pick is the index in a sorted list that op and t mean, or -1.
func pick(list []segment.Entry, op Op, t int64) int {
	n := len(list)
	if n == 0 {
		return -1
	}
	// The first entry that is not before t; that is behind it.
	at, behind := n, n
	if op == AtOrBefore || op == After {
		if list[n-1].Time > t {
			behind = sort.Search(n, func(i int) bool { return list[i].Time > t })
		}
	} else if list[n-1].Time >= t {
		at = sort.Search(n, func(i int) bool { return list[i].Time >= t })
	}
	i := -1
	switch op {
	case Before:
		i = at - 1
	case AtOrBefore:
		i = behind - 1
	case At:
		if at < n && list[at].Time == t {
			i = at
		}
	case AtOrAfter:
		i = at
	case After:
		i = behind
	}
	if i >= n {
		return -1
	}
	return i
}
