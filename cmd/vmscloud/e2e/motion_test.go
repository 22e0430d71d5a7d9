package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/vms"
)

// BenchmarkMotion is the whole way: cameras in which people walk (camsim), vmsbridge and vmscloud
// as they are shipped, each a process of its own. It goes on for UPLINK_MOTION seconds and reports,
// of each motion,
//
//   - confirm: from the first picture with motion, which is the event's start, to the picture at
//     which the detector is sure,
//   - beyond: from that picture's arrival at the bridge until the service has stored the event and
//     told a subscriber, and
//   - whole: both together.
//
// scripts/bench uplink
func BenchmarkMotion(b *testing.B) {
	seconds, err := strconv.Atoi(os.Getenv("UPLINK_MOTION"))
	if err != nil {
		b.Skip("it takes minutes: UPLINK_MOTION=150")
	}
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		b.Skip("ffmpeg is not installed: apt install ffmpeg (scripts/deps does)")
	}
	for b.Loop() {
		walkers(b, time.Duration(seconds)*time.Second)
	}
	b.ReportMetric(0, "ns/op")
}

// walkers are several views of two cameras, whose loops are of different lengths.
const walkers1, walkers2 = 11, 13 // seconds

func walkers(b *testing.B, long time.Duration) {
	s := startCloud(b)
	var cameras strings.Builder
	for i, length := range []int{walkers1, walkers2} {
		address := fmt.Sprintf("127.0.0.1:%d", harness.Port(b))
		sim := launch(b, "camsim", "--listen", address, "--path", "/cam", "--codec", []string{"h264", "mjpeg"}[i],
			"--length", strconv.Itoa(length))
		sim.line(b, "camsim ready", time.Minute)
		for n := range 2 {
			fmt.Fprintf(&cameras, "  - {id: cam%d, url: \"rtsp://%s/cam\", transport: tcp}\n", 2*i+n, address)
		}
	}
	accepted := s.follow(b)
	br := newSite(b, s, cameras.String())
	p := br.start(b)
	b.Logf("the bridge runs since %s", time.Now().UTC().Format(time.StampMilli))
	var confirm, beyond, whole []time.Duration
	waits := map[string]began{}
	known := map[string]time.Time{}
	for end := time.After(long); ; {
		select {
		case text := <-p.lines:
			if m, ok := readBegan(text); ok {
				waits[m.id] = m
			}
		case a := <-accepted:
			if _, ok := known[a.id]; !ok {
				known[a.id] = a.at
			}
		case <-end:
			for id, m := range waits {
				at, ok := known[id]
				if !ok {
					continue // it has just happened
				}
				if d := at.Sub(m.confirmed); d > 300*time.Millisecond {
					b.Logf("%s: confirmed at %s, accepted %s later", id, m.confirmed.Format(time.StampMilli), d)
				}
				confirm, beyond, whole = append(confirm, m.confirmed.Sub(m.start)), append(beyond, at.Sub(m.confirmed)),
					append(whole, at.Sub(m.start))
			}
			require.NotEmpty(b, whole, "nothing moved")
			b.ReportMetric(float64(len(whole)), "motions")
			for name, all := range map[string][]time.Duration{"confirm": confirm, "beyond": beyond, "whole": whole} {
				slices.Sort(all)
				b.ReportMetric(float64(all[len(all)/2].Milliseconds()), "p50-ms-"+name)
				b.ReportMetric(float64(all[len(all)*99/100].Milliseconds()), "p99-ms-"+name)
			}
			return
		}
	}
}

// began is what the bridge logs of a motion.
type began struct {
	id               string
	start, confirmed time.Time
}

func readBegan(line string) (began, bool) {
	var l struct {
		Msg, Camera      string
		Start, Confirmed vms.Time
	}
	if json.Unmarshal([]byte(line), &l) != nil || l.Msg != "motion began" {
		return began{}, false
	}
	ev := vms.Event{Type: vms.TypeMotion, ActorID: l.Camera, StartTimestamp: l.Start}
	return began{ev.NaturalID(), l.Start.Time, l.Confirmed.Time}, true
}

// arrival is an event that the service has accepted.
type arrival struct {
	id string
	at time.Time
}

// follow subscribes to the motions of the account until the end of the test.
func (s *cloud) follow(b *testing.B) <-chan arrival {
	token := s.command(b, "token", "create", "--kind", "user", "--quiet")
	call := func(method, url, body string) *http.Response {
		req, err := http.NewRequestWithContext(b.Context(), method, url, strings.NewReader(body))
		require.NoError(b, err)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		require.NoError(b, err)
		return res
	}
	res := call(http.MethodPost, s.url+"/api/v3.0/eventSubscriptions",
		`{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"types":[{"id":"`+vms.TypeMotion+`"}]}]}`)
	var sub struct {
		DeliveryConfig struct {
			SSEURL string `json:"sseUrl"`
		} `json:"deliveryConfig"`
	}
	require.Equal(b, http.StatusCreated, res.StatusCode)
	require.NoError(b, json.NewDecoder(res.Body).Decode(&sub))
	require.NoError(b, res.Body.Close())
	stream := call(http.MethodGet, sub.DeliveryConfig.SSEURL, "")
	require.Equal(b, http.StatusOK, stream.StatusCode)
	out := make(chan arrival, 1000)
	b.Cleanup(func() { _ = stream.Body.Close() })
	go func() {
		for sc := bufio.NewScanner(stream.Body); sc.Scan(); {
			if id, ok := strings.CutPrefix(sc.Text(), "id: "); ok {
				out <- arrival{id, time.Now()}
			}
		}
	}()
	return out
}
