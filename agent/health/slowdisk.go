package health

import (
	"log/slog"
	"sync"
	"time"
)

const (
	// slowWrite is how long an event or a flush of stills may take to become durable before the
	// disk counts as slow. A card takes some tens of milliseconds, one that erases some hundreds.
	slowWrite = 2 * time.Second
	// slowOver is how long no write may have been slow for the disk to count as well again.
	slowOver = time.Minute
)

// WriteTimer watches how long the disk takes over what is to be durable. Safe for concurrent use.
type WriteTimer struct {
	log *slog.Logger

	mu      sync.Mutex // guards all below
	busy    map[int]time.Time
	next    int
	since   time.Time     // of the slow time that lasts, or of the last one; zero: none
	last    time.Time     // when the last slow write ended
	until   time.Time     // when it was over; zero while it lasts
	longest time.Duration // write of it
	told    bool          // the log says that it lasts
}

// NewWriteTimer makes one that has seen no write.
func NewWriteTimer(log *slog.Logger) *WriteTimer { return &WriteTimer{log: log} }

// Write notes that a durable write begins; what it returns is to be called when that has ended.
func (d *WriteTimer) Write() (ended func()) {
	began := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy == nil {
		d.busy = map[int]time.Time{}
	}
	n := d.next
	d.next++
	d.busy[n] = began
	return func() { d.ended(n, began, time.Now()) }
}

func (d *WriteTimer) ended(n int, began, now time.Time) {
	d.mu.Lock()
	delete(d.busy, n)
	took := now.Sub(began)
	d.look(now)
	if took >= slowWrite {
		d.note(began, took)
		d.last = now
	}
	slow := !d.since.IsZero() && d.until.IsZero()
	news, over := slow && !d.told, !slow && d.told
	d.told = slow
	since, longest := d.since, d.longest
	d.mu.Unlock()
	switch {
	case news:
		d.log.Warn("the disk is slow; events and stills are kept, and come later", "took",
			took.Round(time.Millisecond).String(), "hint", slowDiskHint)
	case over:
		d.log.Info("the disk is no longer slow", "since", since.UTC().Format(time.RFC3339), "longest",
			longest.Round(time.Millisecond).String())
	}
}

// note adds a slow write, which may still go on, to the slow time that lasts, or begins one. mu is
// held.
func (d *WriteTimer) note(began time.Time, took time.Duration) {
	if d.since.IsZero() || !d.until.IsZero() {
		d.since, d.until, d.longest = began, time.Time{}, 0
	}
	d.longest = max(d.longest, took)
}

// look takes account of the writes under way, and of how long there was no slow one. mu is held.
func (d *WriteTimer) look(now time.Time) {
	for _, began := range d.busy {
		if took := now.Sub(began); took >= slowWrite {
			d.note(began, took)
			d.last = now
		}
	}
	if !d.since.IsZero() && d.until.IsZero() && now.Sub(d.last) >= slowOver {
		d.until = d.last
	}
}

// Report is for the status; nil: the disk has not been slow since the start.
func (d *WriteTimer) Report(now time.Time) *Slow {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look(now)
	if d.since.IsZero() {
		return nil
	}
	return &Slow{Since: d.since.UTC(), Until: d.until, Longest: d.longest.Seconds()}
}

const slowDiskHint = "see what else writes to that disk (iotop); if nothing does, replace the card by an SSD or a " +
	"card made for endurance"
