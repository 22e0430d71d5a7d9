package model

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Period is a stretch of one day of the week, '<day>-<start>-<end>' in the records: Monday is 0,
// times are local minutes of the day, the end is not part of it. HHMM goes no further than 2359, so
// that this as the end means the end of the day.
type Period struct {
	Day, Start, End int
}

// ParsePeriod reads one, such as 0-0800-1730. The end may be 2400.
func ParsePeriod(s string) (Period, error) {
	bad := errors.New("must look like 0-0800-1730: a day from 0 (Monday) to 6, a start and a later end")
	part := strings.Split(s, "-")
	if len(part) != 3 || len(part[0]) != 1 || part[0] < "0" || part[0] > "6" {
		return Period{}, bad
	}
	start, err1 := clock(part[1])
	end, err2 := clock(part[2])
	if err1 != nil || err2 != nil || start >= end {
		return Period{}, bad
	}
	if end == 24*60-1 {
		end = 24 * 60
	}
	return Period{int(part[0][0] - '0'), start, end}, nil
}

// clock reads HHMM as minutes of the day.
func clock(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || len(s) != 4 || n%100 > 59 || n > 2400 {
		return 0, errors.New("must be a time of day HHMM")
	}
	return int(n/100*60 + n%100), nil
}

// Within says whether a time lies in one of the periods, in a timezone. No periods mean always; one
// that cannot be read holds nothing.
func Within(periods []string, zone string, at time.Time) bool {
	if len(periods) == 0 {
		return true
	}
	at = at.In(Zone(zone))
	day, minute := (int(at.Weekday())+6)%7, at.Hour()*60+at.Minute()
	for _, s := range periods {
		if p, err := ParsePeriod(s); err == nil && p.Day == day && p.Start <= minute && minute < p.End {
			return true
		}
	}
	return false
}
