package pipeline

import (
	"testing"

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
	type row struct {
		status     string
		start, end int
	}
	var got []row
	for _, ev := range d.newest(t) {
		require.Equal(t, vms.TypeDeviceStatus, ev.Type)
		require.Equal(t, ev.NaturalID(), ev.ID)
		require.NotNil(t, ev.EndTimestamp)
		require.Contains(t, ev.DataSchemas, "vms.deviceCloudStatusUpdate.v1")
		var status struct {
			NewStatus struct {
				ConnectionStatus string `json:"connectionStatus"`
			} `json:"newStatus"`
		}
		require.NoError(t, ev.Data[1].Into(&status))
		got = append(got, row{status.NewStatus.ConnectionStatus, int(ev.StartTimestamp.Sub(epoch).Milliseconds()), int(ev.EndTimestamp.Sub(epoch).Milliseconds())})
	}
	require.Equal(t, []row{{"online", 100, 5000}, {"deviceOffline", 5000, 5001}, {"online", 5001, 9000}}, got)
}
