package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// trimEvery is how often the outbox is held against its caps. What comes in meanwhile is far less than its reserve.
const trimEvery = time.Minute

// trimOutbox keeps what waits for the service within journal.outbox_max_size and outbox_max_age.
func (a *Agent) trimOutbox(ctx context.Context) error {
	clock := steady{since: time.Now()}
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for {
		caps := journal.Caps{MaxBytes: int64(a.cfg().Journal.OutboxMaxSize)}
		if age := a.cfg().Journal.OutboxMaxAge; age > 0 && clock.lasts(time.Now()) >= housekeepEvery-clockSlack {
			caps.Before = a.aged(age)
		}
		if n, err := a.journal.Trim(caps, func(m journal.Missing) vms.Event { return gapEvent(a.cfg().Bridge, a.opts.Version, m) }); err != nil {
			a.log.Warn("keep the outbox within its caps", "error", err)
		} else if n > 0 {
			a.log.Warn("events will not be reported: the service was away for too long; they are in the bridge's own list", "events", n)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// gapEvent tells the service what it will not be told: a time for which the bridge counts as offline, with the sums as the
// reason.
func gapEvent(b configs.Bridge, version string, m journal.Missing) vms.Event {
	ev := vms.Event{Type: vms.TypeDeviceStatus, StartTimestamp: m.Start, EndTimestamp: vms.Ptr(m.To.Time), Span: true, AccountID: b.Account,
		ActorID: b.ID, ActorAccountID: b.Account, ActorType: vms.ActorBridge, CreatorID: vms.CreatorHealth, Owner: vms.OwnerSelf}
	reason := fmt.Sprintf("%d events of %s to %s were not reported: the service was away for too long (%d waited longer than journal.outbox_max_age, the others had no room in journal.outbox_max_size). By type: %s. By actor: %s. The bridge's own list has them.",
		m.Events, m.From, m.To, m.ByAge, counts(m.Types), counts(m.Actors))
	ev.SetData(vms.DeviceCloudStatusUpdate(vms.CreatorHealth, vms.StatusBridgeOffline),
		vms.CreatorDetails(vms.CreatorHealth, vms.CreatorInfo{ID: b.ID, Vendor: "vmsbridge", Application: "vmsbridge", Version: version, Reason: reason}))
	ev.ID = ev.NaturalID()
	return ev
}

// counts lists how many there are of each, the most first, twenty at most.
func counts(n map[string]int) string {
	names := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		if n[a] != n[b] {
			return n[b] - n[a]
		}
		return strings.Compare(a, b)
	})
	var out []string
	for _, name := range names {
		if len(out) == 20 {
			out = append(out, fmt.Sprintf("and %d others", len(names)-len(out)))
			break
		}
		out = append(out, fmt.Sprintf("%s %d", name, n[name]))
	}
	return strings.Join(out, ", ")
}
