package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// TestCostOfStreams is the table of streams in uplink/BENCH.md, for scripts/bench uplink: 200
// bridges report beginnings and ends, each in turn, beside none and beside many subscribers of all
// of their motions; and what streams of one account cost another's event.
func TestCostOfStreams(t *testing.T) {
	if os.Getenv("UPLINK_STREAMS") == "" {
		t.Skip("it measures for a minute: scripts/bench uplink sets UPLINK_STREAMS to run it")
	}
	c := newCloud(t)
	const bridges = 200
	reg := vms.Registration{ID: "bridge-a", Cameras: []vms.RegisteredCamera{{ID: "cam-a"}}}
	for i := range bridges {
		reg.Cameras = append(reg.Cameras, vms.RegisteredCamera{ID: fmt.Sprint("cam-", i)})
	}
	require.NoError(t, clientOf(t, c.p.base, c.bridges["a"]).Register(t.Context(), reg))
	viewer := c.bearer("asu@a.org")
	var told, seconds atomic.Int64
	var lagMu sync.Mutex
	var lags []time.Duration
	stream := func() {
		_, made := c.api(viewer, "POST", "/api/v3.0/eventSubscriptions", `{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"types":["vms.motionDetectionEvent.v1"]}]}`)
		var sub struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(made), &sub), made)
		r, err := http.NewRequestWithContext(t.Context(), "GET",
			c.p.base+"/api/v3.0/eventSubscriptions/"+sub.ID+"/stream", nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+viewer)
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.Equal(t, 200, res.StatusCode)
		go func() {
			defer res.Body.Close()
			for s := bufio.NewScanner(res.Body); s.Scan(); {
				if strings.HasPrefix(s.Text(), "data: ") {
					told.Add(1)
				}
			}
		}()
	}
	cpu := func() time.Duration {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.p.cmd.Process.Pid))
		require.NoError(t, err)
		f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+2:]))
		user, err1 := strconv.Atoi(f[11])
		system, err2 := strconv.Atoi(f[12])
		require.NoError(t, err1)
		require.NoError(t, err2)
		return time.Duration(user+system) * 10 * time.Millisecond
	}
	n := 0
	report := func(what string, events int) (cost time.Duration) {
		before, began, was := cpu(), time.Now(), told.Load()
		var all sync.WaitGroup
		for i := range bridges {
			all.Go(func() {
				b := clientOf(t, c.p.base, c.bridges["a"])
				for k := range events {
					ev := motion(c.accounts["a"], fmt.Sprint("cam-", i), n+k)
					if err := b.Report(t.Context(), ev); err != nil {
						t.Error(err)
						return
					}
					ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(time.Millisecond))
					if err := b.Report(t.Context(), ev); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		took, spent := time.Since(began), cpu()-before
		n += events
		accepted := bridges * events * 2
		t.Logf("%s: %.0f events/s, %.3f ms of processor time an accepted event, %d told", what,
			float64(accepted)/took.Seconds(), spent.Seconds()*1000/float64(accepted), told.Load()-was)
		return spent / time.Duration(accepted)
	}
	report("warm", 5)
	alone := report("alone", 20)
	for range 50 {
		stream()
	}
	beside := report("beside 50 streams", 20)
	t.Logf("ratio %.2f", float64(beside)/float64(alone))

	// Another account's events, beside 640 streams of this one.
	for range 40 {
		_, made := c.api(viewer, "POST", "/api/v3.0/eventSubscriptions", `{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"types":["vms.motionDetectionEvent.v1"]}]}`)
		var sub struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(made), &sub), made)
		for range 15 {
			r, err := http.NewRequestWithContext(t.Context(), "GET",
				c.p.base+"/api/v3.0/eventSubscriptions/"+sub.ID+"/stream", nil)
			require.NoError(t, err)
			r.Header.Set("Authorization", "Bearer "+viewer)
			res, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			if res.StatusCode == 200 {
				seconds.Add(1)
			}
			go func() { defer res.Body.Close(); _, _ = bufio.NewReader(res.Body).WriteTo(nopWriter{}) }()
		}
	}
	other := c.bearer("asu@b.org")
	_, made := c.api(other, "POST", "/api/v3.0/eventSubscriptions", `{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"types":["vms.motionDetectionEvent.v1"]}]}`)
	var sub struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(made), &sub), made)
	r, err := http.NewRequestWithContext(t.Context(), "GET", c.p.base+"/api/v3.0/eventSubscriptions/"+sub.ID+"/stream",
		nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+other)
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	var accepted []time.Duration
	b := clientOf(t, c.p.base, c.bridges["b"])
	for k := range 40 {
		began := time.Now()
		require.NoError(t, b.Report(t.Context(), motion(c.accounts["b"], "cam-b", 5000+k)))
		accepted = append(accepted, time.Since(began))
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "data: ") {
			continue
		}
		lagMu.Lock()
		lags = append(lags, time.Since(began))
		lagMu.Unlock()
	}
	slices.Sort(accepted)
	slices.Sort(lags)
	t.Logf("beside %d streams of another account: accepted p50 %v, worst %v; told p50 %v, worst %v", 50+seconds.Load(),
		accepted[20], accepted[39], lags[20], lags[39])
}

type nopWriter struct{}

func (nopWriter) Write(b []byte) (int, error) { return len(b), nil }
