package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// Who subscribes hears of an event when it begins, with no end, and again when it has one; and the
// service stops in time though somebody still follows.
func TestFollowingEvents(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	account := must(t, "init", "--data", data, "--account", "demo", "--quiet")
	bridge := must(t, "token", "create", "--data", data, "--kind", "bridge", "--quiet")
	user := must(t, "token", "create", "--data", data, "--kind", "user", "--quiet")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	b := clientOf(t, p.base, bridge)
	require.NoError(t,
		b.Register(t.Context(), vms.Registration{ID: "bridge-1", Cameras: []vms.RegisteredCamera{{ID: "cam-1"}}}))
	as := func(method, address, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+user)
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	var made struct {
		Delivery struct {
			URL string `json:"sseUrl"`
		} `json:"deliveryConfig"`
	}
	res := as("POST", p.base+"/api/v3.0/eventSubscriptions", `{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"actors":["camera:cam-1"],"types":[{"id":"`+vms.TypeMotion+`"}]}]}`)
	require.Equal(t, 201, res.StatusCode)
	require.NoError(t, json.NewDecoder(res.Body).Decode(&made))
	res = as("GET", made.Delivery.URL, "")
	require.Equal(t, 200, res.StatusCode)
	heard := make(chan vms.Event, 10)
	go func() {
		defer close(heard)
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var ev vms.Event
				if json.Unmarshal([]byte(text), &ev) == nil {
					heard <- ev
				}
			}
		}
	}()
	hear := func() vms.Event {
		select {
		case ev, ok := <-heard:
			require.True(t, ok)
			return ev
		case <-time.After(time.Minute):
			t.Fatal("nothing is heard")
			return vms.Event{}
		}
	}
	ev := motion(account, "cam-1", 0)
	require.NoError(t, b.Report(t.Context(), ev))
	got := hear()
	require.Equal(t, ev.ID, got.ID)
	require.Nil(t, got.EndTimestamp)
	ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(4200 * time.Millisecond))
	require.NoError(t, b.Report(t.Context(), ev))
	require.Equal(t, ev.EndTimestamp, hear().EndTimestamp)
	require.Zero(t, p.stop())
	p.mu.Lock()
	defer p.mu.Unlock()
	require.NotContains(t, p.log.String(), cutOff)
}
