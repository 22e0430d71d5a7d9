package stills

import (
	"sync"
	"time"
)

// wearCycles is how often a card's cells are taken to be written before they fail. Makers of
// microSD cards seldom say; their promises of hours of recording come to 900 to 6000 times the
// capacity for cards sold as enduring, and the cheapest cells are said to stand 300.
const wearCycles = 300

// wearMeter counts what goes to the device. Its zero value has counted nothing. Safe for concurrent
// use.
type wearMeter struct {
	mu    sync.Mutex
	total int64 // ever since the ring was made, but for what the last crash forgot
	since time.Duration
	hours [24]int64
	hour  int64 // of the uptime, that hours ends with
}

// hourAtLocked moves on to the hour of up.
func (w *wearMeter) hourAtLocked(up time.Duration) int {
	now := int64(up / time.Hour)
	for ; w.hour < now; w.hour++ {
		if now-w.hour > int64(len(w.hours)) {
			w.hour = now - int64(len(w.hours))
		}
		w.hours[(w.hour+1)%int64(len(w.hours))] = 0
	}
	return int(now % int64(len(w.hours)))
}

// Add counts n bytes that were written just now.
func (w *wearMeter) Add(n int64, up time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total += n
	w.hours[w.hourAtLocked(up)] += n
}

// AtLeast says that the ring had written so much by some time before Open.
func (w *wearMeter) AtLeast(total int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total = max(w.total, total)
}

// More says that so much was written before Open and is in no total.
func (w *wearMeter) More(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.total += n
}

// PerDay is what the last day wrote, or the time since Open in proportion; 0 in the first minute.
func (w *wearMeter) PerDay(up time.Duration) (total, perDay int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hourAtLocked(up)
	var sum int64
	for _, n := range w.hours {
		sum += n
	}
	span := min(up-w.since, 23*time.Hour+(up-time.Duration(up/time.Hour)*time.Hour))
	if span < time.Minute {
		return w.total, 0
	}
	return w.total, int64(float64(sum) * float64(day) / float64(span))
}

// lifetime is how long a card that endures that many written bytes lasts at that many a day, from
// new; 0 if nothing is known.
func lifetime(endurance, perDay int64) time.Duration {
	if endurance <= 0 || perDay <= 0 {
		return 0
	}
	days := float64(endurance) / float64(perDay)
	return time.Duration(min(days, 100*365)) * day
}
