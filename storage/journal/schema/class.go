package schema

import "math"

// An event's length has a class, which is a part of its places in the indexes. A query that bounds
// the end then reads only those starts from which an event of the class can reach the bound: an
// event of a minute that ended today started today. Without it, one camera that was offline for a
// month would make every such query read a month.
const (
	classLonger  = 6 // than classBounds' last
	ClassOngoing = 7 // of an event without an end
)

// classBounds are the lengths in milliseconds below which the classes from 0 on end: about 1
// minute, 9 minutes, 70 minutes, 9 hours, 3 days, 25 days.
var classBounds = [classLonger]int64{1 << 16, 1 << 19, 1 << 22, 1 << 25, 1 << 28, 1 << 31}

// lengthClass is the class of an event from start to end, in milliseconds.
func lengthClass(start, end int64) byte {
	if end == EndOngoing {
		return ClassOngoing
	}
	for class, bound := range classBounds {
		if end-start < bound {
			return byte(class)
		}
	}
	return classLonger
}

// SureStarts are such bounds within which every event of a class ends from endMin to endMax,
// whatever its length within the class. hi may lie before lo: then there are none.
func SureStarts(class byte, endMin, endMax int64) (lo, hi int64) {
	if class >= classLonger {
		return 0, 0 // there is no longest
	}
	lo, hi = math.MinInt64, math.MinInt64
	if endMin > math.MinInt64 {
		lo = endMin
		if class > 0 {
			lo = endMin - classBounds[class-1]
		}
	}
	if endMax > math.MinInt64+classBounds[class] {
		hi = endMax - classBounds[class] + 2
	}
	return lo, hi
}

// Starts are the bounds of the start, lo inclusive and hi exclusive, of events of a class that end
// from endMin to endMax.
func Starts(class byte, endMin, endMax int64) (lo, hi int64) {
	lo, hi = math.MinInt64, endMax+1 // no event ends before its start
	if class < classLonger && endMin > math.MinInt64+classBounds[class] {
		lo = endMin - classBounds[class] + 1
	}
	if class > 0 && class <= classLonger && endMax > math.MinInt64+classBounds[class-1] {
		hi = endMax - classBounds[class-1] + 1
	}
	return lo, hi
}
