package pipeline

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/camera"
	"vmsbridge/uplink/vms"
)

func TestPresenceMakesOneSpanPerState(t *testing.T) {
	d := &diary{}
	p := &presence{author: &author{account: "a", camera: "c", baseURL: "http://x", version: "1"}, out: d}
	p.Set(camera.Connecting, at(0))
	p.Set(camera.Online, at(100))
	p.Set(camera.Online, at(200))
	p.Set(camera.Connecting, at(5000))
	p.Set(camera.Stale, at(5000))
	p.Set(camera.Online, at(5000)) // in the same millisecond: still an event of its own
	p.Close(at(9000))
	require.Equal(t, []spell{{"online", 100, 5000}, {"deviceOffline", 5000, 5001}, {"online", 5001, 9000}},
		spells(t, d))
}

// spell is a status event; end is -1 for one that goes on.
type spell struct {
	status     string
	start, end int
}

func spells(t *testing.T, d *diary) (got []spell) {
	for _, ev := range d.newest(t) {
		require.Equal(t, vms.TypeDeviceStatus, ev.Type)
		require.Equal(t, ev.NaturalID(), ev.ID)
		end := -1
		if ev.EndTimestamp != nil {
			end = int(ev.EndTimestamp.Sub(epoch).Milliseconds())
		}
		require.Contains(t, ev.DataSchemas, "vms.deviceCloudStatusUpdate.v1")
		var status struct {
			NewStatus struct {
				ConnectionStatus string `json:"connectionStatus"`
			} `json:"newStatus"`
		}
		require.NoError(t, ev.Data[1].Into(&status))
		got = append(got, spell{status.NewStatus.ConnectionStatus, int(ev.StartTimestamp.Sub(epoch).Milliseconds()),
			end})
	}
	return got
}

// Over a restart the state goes on if the camera still is in it, ends where the next one begins if
// it is not, and ended when it was last seen if nobody looked for too long.
func TestAStateGoesOnOverARestart(t *testing.T) {
	for name, c := range map[string]struct {
		state camera.State
		at    int
		want  []spell
	}{
		"the same":        {camera.Online, 39_000, []spell{{"online", 100, -1}}},
		"another":         {camera.Stale, 39_000, []spell{{"online", 100, 39_000}, {"deviceOffline", 39_000, -1}}},
		"after too long":  {camera.Online, 200_000, []spell{{"online", 100, 9000}, {"online", 200_000, -1}}},
		"after a trouble": {camera.Stale, 200_000, []spell{{"online", 100, 9000}, {"deviceOffline", 200_000, -1}}},
		"was ahead":       {camera.Online, -200_000, []spell{{"online", 100, 100}, {"online", -200_000, -1}}},
		"ahead, trouble":  {camera.Stale, -200_000, []spell{{"online", 100, 100}, {"deviceOffline", -200_000, -1}}},
		"a moment ahead":  {camera.Online, -900, []spell{{"online", 100, -1}}},
		"moment, trouble": {camera.Stale, -900, []spell{{"online", 100, 101}, {"deviceOffline", 101, -1}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &diary{touched: map[string]time.Time{}}
			a := &author{account: "a", camera: "c", baseURL: "http://x", version: "1"}
			p := &presence{author: a, out: d}
			p.Set(camera.Online, at(100))
			p.Leave(at(9000))
			require.Equal(t, []spell{{"online", 100, -1}}, spells(t, d))
			asked := 0
			next := &presence{author: a, out: d, resume: func(waits bool) (Resumed, bool, bool) {
				asked++
				return Resumed{Connection: "online", Start: at(100), Last: at(9000)}, true, waits && asked < 3
			}}
			next.Set(camera.Connecting, at(10_000))
			for range 3 {
				next.Set(c.state, at(c.at))
			}
			require.Equal(t, c.want, spells(t, d))
			require.Equal(t, map[bool]int{true: 3, false: 1}[c.state == camera.Online], asked,
				"again while it is not known yet")
			last := d.newest(t)
			if len(c.want) > 1 {
				require.Contains(t, last[len(last)-1].DataSchemas, vms.SchemaPreviousStatus)
			}
			next.Set(camera.InvalidCredentials, at(300_000))
			next.Close(at(400_000))
			for _, s := range spells(t, d) {
				require.NotEqual(t, -1, s.end)
			}
		})
	}
}
