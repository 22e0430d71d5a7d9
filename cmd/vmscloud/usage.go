package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"vmsbridge/uplink/vms"
)

// usage is about how many bytes the events of each account take, held against what they may take.
// It is counted once at the start; then what is stored is added, and what is removed is found out
// when an account seems to have too much. The zero value has no limit. Safe for concurrent use.
type usage struct {
	limit int64       // of one account; 0: none
	alone func() bool // says that there is but one account, which may have all that there is; nil: there are more

	mu    sync.Mutex // guards bytes
	bytes map[string]int64
}

// weighEvery is how often it is counted again while an account has too much.
const weighEvery = 10 * time.Minute

func (u *usage) add(account string, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.bytes == nil {
		u.bytes = map[string]int64{}
	}
	u.bytes[account] += int64(n)
}

// drop forgets an account whose events are removed.
func (u *usage) drop(account string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.bytes, account)
}

// full says whether an account's events take all that they may.
func (u *usage) full(account string) bool {
	if u.limit == 0 || u.alone != nil && u.alone() {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.bytes[account] >= u.limit
}

func (u *usage) anyFull() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, n := range u.bytes {
		if n >= u.limit {
			return true
		}
	}
	return false
}

// weigh counts anew, unless ctx is done before it is.
func (l *ledger) weigh(ctx context.Context) error {
	bytes := map[string]int64{}
	l.usage.mu.Lock()
	before := maps.Clone(l.usage.bytes)
	l.usage.mu.Unlock()
	if err := l.file().Weigh(ctx.Err, func(a vms.Actor, n int) { bytes[accountOf(a)] += int64(n) }); err != nil {
		return err
	}
	u := &l.usage
	u.mu.Lock()
	defer u.mu.Unlock()
	for account, n := range u.bytes { // what came meanwhile is counted, be it twice
		bytes[account] += max(0, n-before[account])
	}
	u.bytes = bytes
	return nil
}

// keepWeighing counts at once, and again from time to time while that may let an account's events
// in again, until ctx is done.
func (l *ledger) keepWeighing(ctx context.Context) error {
	if l.usage.limit == 0 {
		return nil
	}
	tick := time.NewTicker(weighEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		if first || l.usage.anyFull() {
			if err := l.weigh(ctx); err != nil && ctx.Err() == nil {
				l.log.Error("it could not be counted how much the events of each account take", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// roomFor is nil if an account may have these events: the service's own, those that are stored
// already, so that spans end, and others while there is room.
func (l *ledger) roomFor(events []vms.Event) error {
	for _, ev := range events {
		if ev.Owner == "" || ev.Owner == vms.OwnerSelf || !l.usage.full(ev.AccountID) {
			continue
		}
		if l.size(keyed(ev).ID) > 0 {
			continue
		}
		return vms.NewError(http.StatusForbidden, vms.ReasonLimit,
			fmt.Sprintf("The events of the account take %d MB, all that an account's may take here: "+
				"the operator can raise --account-events, or lower --keep so that old ones go", l.usage.limit/1e6))
	}
	return nil
}
