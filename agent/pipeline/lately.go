package pipeline

import "time"

// What came and was dropped lately is counted by slots of time.
const (
	slotTime    = 10 * time.Second
	recentSlots = 6
)

// lately counts what came, and what of it was dropped, in the last minute. Not safe for concurrent
// use.
type lately [recentSlots]slot

type slot struct {
	number        int64 // since 1970
	came, dropped int
}

func (l *lately) at(now time.Time) *slot {
	number := now.Unix() / int64(slotTime/time.Second)
	s := &l[number%recentSlots]
	if s.number != number {
		*s = slot{number: number}
	}
	return s
}

// sum adds them up; times is in how many slots something was dropped.
func (l *lately) sum(now time.Time) (came, dropped, times int) {
	oldest := now.Unix()/int64(slotTime/time.Second) - recentSlots
	for _, s := range l {
		if s.number <= oldest {
			continue
		}
		came, dropped = came+s.came, dropped+s.dropped
		if s.dropped > 0 {
			times++
		}
	}
	return came, dropped, times
}

// rate is how many came a second, by whole slots up to now without an empty one; the first of them
// began before or within it and does not count. 0 before there are such.
func (l *lately) rate(now time.Time) float64 {
	came, slots, last := 0, 0, now.Unix()/int64(slotTime/time.Second)-1
	for n := last; n > last-recentSlots+1; n-- {
		before, s := l[(n-1)%recentSlots], l[n%recentSlots]
		if s.number != n || s.came == 0 || before.number != n-1 || before.came == 0 {
			break
		}
		came, slots = came+s.came, slots+1
	}
	return float64(came) / (slotTime.Seconds() * float64(max(slots, 1)))
}

// often is the share of what came that was dropped, if some is dropped again and again: a single
// time does not count.
func (l *lately) often(now time.Time) float64 {
	const often, much = 3, 0.05
	came, dropped, times := l.sum(now)
	if share := float64(dropped) / float64(max(came, 1)); times >= often && share >= much {
		return min(share, 1)
	}
	return 0
}
