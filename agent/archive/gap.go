package archive

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// gapEvent tells the service what it will not be told: a time for which the bridge counts as
// offline, with the sums as the reason.
func gapEvent(b configs.Bridge, version string, m journal.Missing) vms.Event {
	ev := vms.Event{Type: vms.TypeDeviceStatus, StartTimestamp: m.Start, EndTimestamp: vms.Ptr(m.To.Time), Span: true,
		AccountID: b.Account,
		ActorID:   b.ID, ActorAccountID: b.Account, ActorType: vms.ActorBridge, CreatorID: vms.CreatorHealth,
		Owner: vms.OwnerSelf}
	reason := fmt.Sprintf("%d events of %s to %s were not reported: the service was away for too long (%d waited "+
		"longer than journal.outbox_max_age, the others had no room in journal.outbox_max_size). By type: %s. By "+
		"actor: %s. The bridge's own list has them.",
		m.Events, m.From, m.To, m.ByAge, counts(m.Types), counts(m.Actors))
	ev.SetData(vms.DeviceCloudStatusUpdate(vms.CreatorHealth, vms.StatusBridgeOffline),
		vms.CreatorDetails(vms.CreatorHealth, vms.CreatorInfo{ID: b.ID, Vendor: "vmsbridge", Application: "vmsbridge",
			Version: version, Reason: reason}))
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
