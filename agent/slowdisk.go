package agent

import (
	"log/slog"
	"sync"
	"time"

	"vmsbridge/agent/status"
)

const (
	// slowWrite is how long an event or a flush of stills may take to become durable before the disk counts as slow. A card takes
	// some tens of milliseconds, one that erases some hundreds.
	slowWrite = 2 * time.Second
	// slowOver is how long no write may have been slow for the disk to count as well again.
	slowOver = time.Minute
)

// slowDisk watches how long the disk takes over what is to be durable. Its zero value but for log works. Safe for concurrent use.
type slowDisk struct {
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

// write notes that a durable write begins; what it returns is to be called when that has ended.
func (d *slowDisk) write() (ended func()) {
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

func (d *slowDisk) ended(n int, began, now time.Time) {
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
		d.log.Warn("the disk is slow; events and stills are kept, and come later", "took", took.Round(time.Millisecond).String(), "hint", slowHint)
	case over:
		d.log.Info("the disk is no longer slow", "since", since.UTC().Format(time.RFC3339), "longest", longest.Round(time.Millisecond).String())
	}
}

// note adds a slow write, which may still go on, to the slow time that lasts, or begins one. mu is held.
func (d *slowDisk) note(began time.Time, took time.Duration) {
	if d.since.IsZero() || !d.until.IsZero() {
		d.since, d.until, d.longest = began, time.Time{}, 0
	}
	d.longest = max(d.longest, took)
}

// look takes account of the writes under way, and of how long there was no slow one. mu is held.
func (d *slowDisk) look(now time.Time) {
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

// report is for the status; nil: the disk has not been slow since the start.
func (d *slowDisk) report(now time.Time) *status.Slow {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.look(now)
	if d.since.IsZero() {
		return nil
	}
	return &status.Slow{Since: d.since.UTC(), Until: d.until, Longest: d.longest.Seconds()}
}

const slowHint = "see what else writes to that disk (iotop); if nothing does, replace the card by an SSD or a card made for endurance"

// judgeSlow says that the disk is slow, while it is.
func judgeSlow(r *status.Report, wrong complain) {
	s := r.Disk.Slow
	if s == nil || !s.Until.IsZero() {
		return
	}
	wrong(status.SlowDisk, "the disk that holds bridge.data is slow: events and stills are kept, and come later", slowHint,
		"the disk that holds %s has been slow since %s: a write took %.1f s; events and stills are kept, and come later", r.Disk.Path,
		s.Since.Format(time.RFC3339), s.Longest)
}
