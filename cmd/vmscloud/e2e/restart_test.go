package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/vms"
)

// A bridge with sixteen cameras is stopped and starts again: no status event is there that was not there before, and each still goes
// on. Then it is killed: all are out of reach soon, and when it is back, the spans of each meet.
func TestARestartIsNoOutageAndAKillIsOne(t *testing.T) {
	const cameras = 16
	s := startCloud(t)
	user := s.command(t, "token", "create", "--kind", "user", "--quiet")
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	sim := launch(t, "camsim", "--listen", address, "--path", "/cam", "--codec", "mjpeg", "--size", "160x96", "--fps", "2", "--length", "10", "--scene", "quiet")
	sim.line(t, "camsim ready", time.Minute)
	yaml := ""
	for i := range cameras {
		yaml += fmt.Sprintf("  - {id: cam%d, url: \"rtsp://%s/cam\"}\n", i, address)
	}
	b := newSite(t, s, yaml)
	c, err := client.New(client.Options{BaseURL: s.url, Token: client.Token(user)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	actors := []vms.Actor{{Type: vms.ActorBridge, ID: "bridge-1"}}
	for i := range cameras {
		actors = append(actors, vms.Actor{Type: vms.ActorCamera, ID: camera(i)})
	}
	// spans are the status events of all, by actor, oldest first, and how many go on.
	spans := func() (all map[string][]vms.Event, going map[string]int) {
		all, going = map[string][]vms.Event{}, map[string]int{}
		for ev, err := range c.AllEvents(t.Context(), vms.Query{Actors: actors, Types: []string{vms.TypeDeviceStatus}, Ascending: true, PageSize: 500,
			Include: []string{vms.SchemaDeviceStatus, vms.SchemaPreviousStatus}}) {
			if err != nil {
				return nil, nil // it has not registered yet
			}
			all[ev.ActorID] = append(all[ev.ActorID], ev)
			if ev.Ongoing() {
				going[statusOf(t, ev)]++
			}
		}
		return all, going
	}
	reach := func(status string, n int) time.Duration {
		t.Helper()
		began := time.Now()
		require.Eventually(t, func() bool {
			_, going := spans()
			return going[status] == n && len(going) == 1
		}, 2*time.Minute, 100*time.Millisecond, status)
		return time.Since(began)
	}
	p := b.start(t)
	reach(vms.StatusOnline, cameras+1)
	before, _ := spans()

	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	for range p.lines { // until it has ended
	}
	p = b.start(t)
	seen := func() float64 { // cameras that the new one has pictures of
		n := 0.0
		for line := range strings.Lines(b.ask(t, "GET", "/api/v3.0/cameras?include=status&pageSize=100", "")) {
			n += float64(strings.Count(line, `"online"`))
		}
		return n
	}
	require.Eventually(t, func() bool { return seen() == cameras }, time.Minute, 50*time.Millisecond)
	after, _ := spans()
	for id, list := range before {
		require.Len(t, list, 1)
		require.Len(t, after[id], 1, id)
		require.Equal(t, list[0].ID, after[id][0].ID)
		require.True(t, after[id][0].Ongoing(), id)
	}

	require.NoError(t, p.cmd.Process.Kill())
	took := reach(vms.StatusBridgeOffline, cameras+1)
	t.Logf("all out of reach %v after the kill", took)
	listed, err := c.Cameras(t.Context(), "")
	require.NoError(t, err)
	for _, cam := range listed.Results {
		require.Equal(t, vms.StatusBridgeOffline, cam.Status.ConnectionStatus)
	}
	b.start(t)
	reach(vms.StatusOnline, cameras+1)
	final, _ := spans()
	for id, list := range final {
		require.Len(t, list, 3, id)
		for i, want := range []string{vms.StatusOnline, vms.StatusBridgeOffline, vms.StatusOnline} {
			require.Equal(t, want, statusOf(t, list[i]))
			if i > 0 {
				require.Equal(t, list[i].StartTimestamp, *list[i-1].EndTimestamp, "%s: the spans meet", id)
				require.Contains(t, list[i].DataSchemas, vms.SchemaPreviousStatus)
			}
		}
	}
}

func statusOf(t *testing.T, ev vms.Event) string {
	t.Helper()
	var s struct {
		NewStatus vms.ConnectionStatus `json:"newStatus"`
	}
	for _, d := range ev.Data {
		if d.Type == vms.SchemaDeviceStatus {
			require.NoError(t, d.Into(&s))
		}
	}
	return s.NewStatus.ConnectionStatus
}
