package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/identitytest"
	"vmsbridge/uplink/tunnel"
	"vmsbridge/uplink/vms"
)

// dial opens the tunnel of a bridge of account a, until stop, which says no goodbye.
func (c *cloud) dial(bridge string) (stop func()) {
	c.t.Helper()
	d, err := tunnel.New(tunnel.Options{URL: c.p.base, Bridge: bridge,
		Token:   func(context.Context) (string, error) { return c.bridges["a"], nil },
		Handler: http.NotFoundHandler()})
	require.NoError(c.t, err)
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = d.Run(ctx) }()
	require.Eventually(c.t, d.Up, time.Minute, time.Millisecond)
	return func() { cancel(); <-done }
}

// A box with sixteen cameras dies. Within ten seconds the list of cameras, the events and a
// subscriber say so, and one letter goes out. The service is killed and starts again: no second
// letter. The box is back: one letter.
func TestAnOutageIsToldOnce(t *testing.T) {
	t.Parallel()
	server := identitytest.StartSMTP(t, "none", "", "")
	file := filepath.Join(t.TempDir(), "letters.yaml")
	require.NoError(t, os.WriteFile(file, []byte("mail: {server: "+`"`+server.Address()+`"`+", security: none, from: cameras@example.org}\n"), 0o600))
	c := newCloud(t, "--letters", file, "--log-level", "debug")
	_, me, _ := c.as("asu@a.org", "GET", "/g/user", nil)
	period := []string{}
	for day := range 7 {
		period = append(period, fmt.Sprintf("%d-0000-2400", day))
	}
	code, out, _ := c.as("asu@a.org", "POST", "/g/user", map[string]any{"id": me["id"], "is_notify_enable": 1, "notify_period": period, "json": `{"vms":{"notify_levels":[3]}}`})
	require.Equal(t, 200, code, "%v", out)
	for server.Waiting() > 0 {
		server.Next(t) // from when the accounts were made
	}

	account, since := c.accounts["a"], time.Now().Truncate(time.Millisecond)
	reg := registration("a")
	for i := range 15 {
		reg.Cameras = append(reg.Cameras,
			vms.RegisteredCamera{ID: fmt.Sprintf("cam-a-%d", i), Name: fmt.Sprintf("Yard %d", i)})
	}
	for i := range reg.Cameras {
		reg.Cameras[i].ConnectionStatus = vms.StatusOnline
	}
	status := func(camera string) vms.Event {
		ev := motion(account, camera, 0)
		ev.Type, ev.CreatorID, ev.StartTimestamp = vms.TypeDeviceStatus, vms.CreatorHealth, vms.At(since)
		ev.SetData(vms.DeviceCloudStatusUpdate("", vms.StatusOnline))
		return ev
	}
	begin := func() (stop func()) {
		b := clientOf(t, c.p.base, c.bridges["a"])
		require.NoError(t, b.Register(t.Context(), reg))
		for _, cam := range reg.Cameras {
			require.NoError(t, b.Report(t.Context(), status(cam.ID)))
		}
		return c.dial(reg.ID)
	}
	stop := begin()
	bearer := c.bearer("asu@a.org")
	code, made := c.api(bearer, "POST", "/api/v3.0/eventSubscriptions", `{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"actors":["bridge:bridge-a","camera:cam-a-7"]}]}`)
	require.Equal(t, 201, code, made)
	var sub struct {
		Delivery struct {
			URL string `json:"sseUrl"`
		} `json:"deliveryConfig"`
	}
	require.NoError(t, json.Unmarshal([]byte(made), &sub))
	heard := make(chan vms.Event, 100)
	r, err := http.NewRequestWithContext(t.Context(), "GET", sub.Delivery.URL, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+bearer)
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode)
	defer res.Body.Close()
	go func() {
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			var ev vms.Event
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(text), &ev) == nil {
				heard <- ev
			}
		}
	}()

	stop() // without a goodbye
	died := time.Now()
	for seen := map[string]bool{}; len(seen) < 4; {
		select {
		case ev := <-heard:
			seen[ev.ActorID+" "+fmt.Sprint(ev.Ongoing())] = true // of each the one that ends and the one that begins
		case <-time.After(time.Minute):
			t.Fatal("the subscriber hears nothing")
		}
	}
	told := time.Since(died)
	cams, err := clientOf(t, c.p.base, bearer).Cameras(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, cams.Results, 16)
	for _, cam := range cams.Results {
		require.Equal(t, vms.StatusBridgeOffline, cam.Status.ConnectionStatus, cam.ID)
	}
	letter := server.Next(t)
	require.Equal(t, []string{"asu@a.org"}, letter.To)
	require.Equal(t, "A bridge is offline", letter.Subject)
	require.Contains(t, letter.Text, "- Gate of a")
	require.Contains(t, letter.Text, "- Yard 14")
	require.Less(t, told, 30*time.Second, "ten seconds, on a machine with time")
	require.Eventually(t, func() bool { return strings.Contains(c.p.logged(), `"kind":"bridge_status"`) }, time.Minute,
		10*time.Millisecond, "the service to note that the letter is sent")

	c.p.kill()
	c.p = startProcess(t, c.data, "--listen", "127.0.0.1:0", "--letters", file)
	u := clientOf(t, c.p.base, bearer)
	cams, err = u.Cameras(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, vms.StatusBridgeOffline, cams.Results[7].Status.ConnectionStatus,
		"it holds over a start of the service")
	defer begin()()
	letter = server.Next(t)
	require.Equal(t, "A bridge is online again", letter.Subject, "and nobody is told of it twice")
	page, err := u.Events(t.Context(), vms.Query{Actors: []vms.Actor{{Type: vms.ActorCamera, ID: "cam-a-7"}},
		Types: []string{vms.TypeDeviceStatus}, Ascending: true, PageSize: 10,
		Include: []string{vms.SchemaDeviceStatus, vms.SchemaPreviousStatus}}, "")
	require.NoError(t, err)
	require.Len(t, page.Results, 3)
	for i, want := range []string{vms.StatusOnline, vms.StatusBridgeOffline, vms.StatusOnline} {
		require.Equal(t, want, newStatus(page.Results[i]))
		if i > 0 {
			require.Equal(t, page.Results[i].StartTimestamp, *page.Results[i-1].EndTimestamp, "the spans meet")
			require.Len(t, page.Results[i].Data, 2, "what was before is there")
		}
	}
	require.Zero(t, server.Waiting())
}

// A service that stood still, as one that was stopped or whose machine slept, has heard of nobody
// meanwhile, and bridges whose attempts failed wait before the next one: none is away for that. One
// that stays away is told of as ever.
func TestAServiceThatStoodStillMissesNobody(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	reg := registration("a")
	reg.Cameras[0].ConnectionStatus = vms.StatusOnline
	b := clientOf(t, c.p.base, c.bridges["a"])
	begin := func() (stop func()) {
		require.NoError(t, b.Register(t.Context(), reg))
		return c.dial(reg.ID)
	}
	away := func() bool { return strings.Contains(c.p.logged(), "a bridge is away") }
	stop := begin()
	require.NoError(t, c.p.cmd.Process.Signal(syscall.SIGSTOP))
	stop()
	time.Sleep(20 * time.Second)
	require.NoError(t, c.p.cmd.Process.Signal(syscall.SIGCONT))
	for end := time.Now().Add(6 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		require.False(t, away(), "it is due: for that it was not heard of while nobody could be")
	}
	stop = begin()
	time.Sleep(15 * time.Second) // until it counts again who is silent
	require.False(t, away())
	stop()
	require.Eventually(t, away, time.Minute, 10*time.Millisecond)
	ask := vms.Query{Actors: []vms.Actor{{Type: vms.ActorBridge, ID: reg.ID}}, Types: []string{vms.TypeDeviceStatus},
		Ascending: true, PageSize: 10, Include: []string{vms.SchemaDeviceStatus}}
	page, err := clientOf(t, c.p.base, c.bearer("asu@a.org")).Events(t.Context(), ask, "")
	require.NoError(t, err)
	require.Len(t, page.Results, 2)
	require.Equal(t, vms.StatusOnline, newStatus(page.Results[0]))
	require.Equal(t, vms.StatusBridgeOffline, newStatus(page.Results[1]))
}
