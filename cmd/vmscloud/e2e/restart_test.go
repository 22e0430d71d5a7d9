package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/identity/identitytest"
	"vmsbridge/uplink/vms"
)

// A bridge with sixteen cameras is stopped and starts again, and once more with another program ten
// seconds later: no status event is there that was not there before, each still goes on, and no
// mail is sent to somebody who is told of everything. Then it is killed: all are out of reach soon,
// and when it is back, the spans of each meet, and two mails were sent.
func TestARestartIsNoOutageAndAKillIsOne(t *testing.T) {
	const cameras = 16
	mail := identitytest.StartSMTP(t, "none", "", "")
	dir := t.TempDir()
	letters := filepath.Join(dir, "letters.yaml")
	require.NoError(t,
		os.WriteFile(letters, fmt.Appendf(nil, "mail: {server: %q, security: none, from: cameras@example.org}\n",
			mail.Address()), 0o600))
	s := startCloud(t, "--letters", letters)
	s.notify(t, "admin@localhost")
	for mail.Waiting() > 0 {
		mail.Next(t) // of the making of the account
	}
	user := s.command(t, "token", "create", "--kind", "user", "--quiet")
	address := fmt.Sprintf("127.0.0.1:%d", harness.Port(t))
	sim := launch(t, "camsim", "--listen", address, "--path", "/cam", "--codec", "mjpeg", "--size", "160x96", "--fps",
		"2", "--length", "10", "--scene", "quiet")
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
		for ev, err := range c.AllEvents(t.Context(), vms.Query{Actors: actors, Types: []string{vms.TypeDeviceStatus},
			Ascending: true, PageSize: 500,
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
	// An upgrade puts another program in the old one's place, and takes longer than a tunnel's end
	// without goodbye may.
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	for range p.lines {
	}
	time.Sleep(10 * time.Second) // the upgrade itself
	p = b.start(t)
	require.Eventually(t, func() bool { return seen() == cameras }, time.Minute, 50*time.Millisecond)
	after, _ := spans()
	require.Zero(t, mail.Waiting(), "mails of a restart and an upgrade")
	for id, list := range before {
		require.Len(t, list, 1)
		require.Len(t, after[id], 1, id)
		require.Equal(t, list[0].ID, after[id][0].ID)
		require.True(t, after[id][0].Ongoing(), id)
	}

	require.NoError(t, p.cmd.Process.Kill())
	took := reach(vms.StatusBridgeOffline, cameras+1)
	t.Logf("all out of reach %v after the kill", took)
	require.Equal(t, "A bridge is offline", mail.Next(t).Subject)
	listed, err := c.Cameras(t.Context(), "")
	require.NoError(t, err)
	for _, cam := range listed.Results {
		require.Equal(t, vms.StatusBridgeOffline, cam.Status.ConnectionStatus)
	}
	b.start(t)
	reach(vms.StatusOnline, cameras+1)
	require.Equal(t, "A bridge is online again", mail.Next(t).Subject)
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
	require.Zero(t, mail.Waiting(), "one mail an outage")
}

// notify lets a user be told of every device's status.
func (s *cloud) notify(t *testing.T, email string) {
	t.Helper()
	link := s.command(t, "user", "link", "--quiet", email)
	session := s.people(t, "/g/aaa/reset_password", "", map[string]any{"token": link, "password": password}, nil)
	require.NotEmpty(t, session)
	id := regexp.MustCompile(`(\w+) +` + email).FindStringSubmatch(s.command(t, "user", "list"))
	require.NotNil(t, id)
	period := []string{}
	for day := range 7 {
		period = append(period, fmt.Sprintf("%d-0000-2400", day))
	}
	s.people(t, "/g/user", session, map[string]any{"id": id[1], "is_notify_enable": 1, "notify_period": period,
		"json": `{"vms":{"notify_levels":[3]}}`}, nil)
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
