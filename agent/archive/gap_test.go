package archive

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

// What tells the service of missing events is an event that it takes, and keeps its id while the
// sum grows.
func TestGapEvent(t *testing.T) {
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	m := journal.Missing{Events: 25, Start: vms.At(at), From: vms.At(at.Add(time.Hour)),
		To: vms.At(at.Add(5 * time.Hour)), ByAge: 3,
		Types: map[string]int{vms.TypeMotion: 25}, Actors: map[string]int{}}
	for i := range 25 {
		m.Actors[string(rune('a'+i))] = 1
	}
	b := configs.Bridge{ID: "bridge-1", Account: "acc-1"}
	ev := gapEvent(b, "v1", m)
	require.Empty(t, vms.Check(ev))
	var info vms.CreatorInfo
	require.NoError(t, ev.Data[1].Into(&info))
	require.Contains(t, info.Reason, "25 events of 2026-11-01T01:00:00.000+00:00 to 2026-11-01T05:00:00.000+00:00")
	require.Contains(t, info.Reason, "and 5 others")
	m.Events, m.To = 99, vms.At(at.Add(9*time.Hour))
	require.Equal(t, ev.ID, gapEvent(b, "v1", m).ID)
}
