package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/vfs"
	"vmsbridge/uplink/vms"
)

// room is how much the events may take: bytes, or a share of the disk.
type room struct {
	bytes int64
	share float64
}

// UnmarshalText reads 20GB, 512MiB, 50% or 0.
func (r *room) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if p, ok := strings.CutSuffix(s, "%"); ok {
		v, err := strconv.ParseFloat(p, 64)
		if err != nil || v <= 0 || v > 95 {
			return fmt.Errorf("%q is no share of a disk: give 1%% to 95%%", s)
		}
		*r = room{share: v / 100}
		return nil
	}
	n, err := configs.ParseSize(s)
	if err != nil {
		return fmt.Errorf("%q is neither a size such as 20GB nor a share of the disk such as 50%%, nor 0 for no limit",
			s)
	}
	if n != 0 && n < leastRoom || n > 1e18 {
		return fmt.Errorf("%q is no size for events: give at least %d MB", s, int(leastRoom/1e6))
	}
	*r = room{bytes: int64(n)}
	return nil
}

// leastRoom is the smallest limit; below it, the file's own overhead counts for too much.
const leastRoom = 16e6

// limit is r in bytes on the disk that holds dir, 0 for none.
func (r room) limit(dir string) int64 {
	if r.share == 0 {
		return r.bytes
	}
	size, err := vfs.OS.Capacity(dir)
	if err != nil {
		return 0
	}
	return int64(r.share * float64(size))
}

// retention removes events that are too old, and where all take too much, the oldest of the
// accounts that have most.
type retention struct {
	events *ledger
	dir    string
	keep   time.Duration // 0: however old
	most   room
	log    *slog.Logger
	gone   *prometheus.CounterVec
	// clock is the wall clock, and how long the program has been running, which only grows.
	clock func() (wall time.Time, up time.Duration)
	zero  time.Time     // of the program's running, by the wall clock as it was when looked at last
	trust time.Duration // from when on, in the program's running, the wall clock is believed
}

// steadyFor is how long the clock must have run without a step before the age of an event counts: a
// clock that jumps ahead must not have all events removed.
const steadyFor = time.Hour

// retainEvery is how often it looks. retainTo is what is left of the limit after events had to go
// for it.
const (
	retainEvery = 10 * time.Minute
	retainTo    = 0.95
)

func newRetention(events *ledger, dir string, keep time.Duration, most room, reg prometheus.Registerer,
	log *slog.Logger) *retention {
	began := time.Now()
	r := &retention{clock: func() (time.Time, time.Duration) {
		now := time.Now()
		return now.Round(0), now.Sub(began) // Round leaves the wall clock only, Sub is by the other
	}, events: events, dir: dir, keep: keep, most: most, log: log,
		gone: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vmscloud_events_removed_total",
			Help: "Events that were removed, by the limit that they were beyond."},
			[]string{"limit"})}
	if reg != nil {
		reg.MustRegister(r.gone)
	}
	return r
}

// Run looks at once and then again and again until ctx is done.
func (r *retention) Run(ctx context.Context) error {
	tick := time.NewTicker(retainEvery)
	defer tick.Stop()
	for {
		if err := r.once(ctx); err != nil && ctx.Err() == nil {
			r.log.Error("old events could not be removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// steady is the wall clock, and whether it has run for long enough without a step.
func (r *retention) steady() (wall time.Time, yes bool) {
	wall, up := r.clock()
	zero, first := wall.Add(-up), r.zero.IsZero()
	if step := zero.Sub(r.zero); step.Abs() > time.Minute { // less is a clock that is being slewed
		if !first {
			r.log.Warn("the clock was set: no event is removed for its age until it has run for an hour without that",
				"by", step, "hint", "see that the machine gets the time (NTP)")
		}
		r.zero, r.trust = zero, up+steadyFor
	}
	return wall, up >= r.trust
}

func (r *retention) once(ctx context.Context) error {
	old := journal.Retention{Stop: ctx.Err} // of none, but for keep; PostgreSQL's partitions are seen to by it, too
	if wall, steady := r.steady(); steady && r.keep > 0 {
		old.Before = wall.Add(-r.keep)
	}
	n, err := r.events.Prune(old)
	r.gone.WithLabelValues("keep").Add(float64(n))
	if err != nil {
		return err
	}
	if n > 0 {
		r.log.Info("old events removed", "events", n, "kept_for", r.keep)
	}
	file := r.events.file()
	if file == nil {
		return nil // its disk is PostgreSQL's
	}
	limit := r.most.limit(r.dir)
	s, err := file.OutboxStats()
	if err != nil || limit == 0 {
		return err
	}
	if used := s.Bytes - s.Free; used > limit && s.Events > 0 {
		n, err := r.shorten(ctx, float64(limit)/float64(used)*retainTo)
		r.gone.WithLabelValues("max-size").Add(float64(n))
		if err != nil || n == 0 {
			return err
		}
		r.log.Warn("old events were removed, of the accounts that have most: all together took more than --max-size",
			"events", n, "took_bytes", used, "max_bytes", limit, "hint", "raise --max-size, or lower --keep")
	}
	_, err = file.Compact(ctx)
	return err
}

// shorten removes events until a share of all is left. What an account has beyond what the others
// leave it goes, its oldest first; who has less keeps all.
func (r *retention) shorten(ctx context.Context, share float64) (removed int, err error) {
	events, bytes, all := map[string]int{}, map[string]int64{}, int64(0)
	err = r.events.file().Weigh(ctx.Err, func(a vms.Actor, n int) {
		whose := accountOf(a)
		events[whose]++
		bytes[whose] += int64(n)
		all += int64(n)
	})
	if err != nil {
		return 0, err
	}
	most := level(slices.Collect(maps.Values(bytes)), int64(share*float64(all)))
	for _, whose := range slices.Sorted(maps.Keys(bytes)) {
		has := bytes[whose]
		if has <= most {
			continue
		}
		over := int(math.Ceil(float64(events[whose]) * float64(has-most) / float64(has)))
		n, err := r.events.Prune(journal.Retention{Oldest: min(over, events[whose]-1),
			Of: func(a vms.Actor) bool { return accountOf(a) == whose }, Stop: ctx.Err})
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// level is what each may have at most, so that all together have no more than the total.
func level(each []int64, total int64) int64 {
	slices.Sort(each)
	for i, n := range each {
		if left := int64(len(each) - i); n*left > total {
			return max(total, 0) / left
		}
		total -= n
	}
	return math.MaxInt64
}
