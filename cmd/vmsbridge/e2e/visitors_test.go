package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Sixty-four who look at pages with six connections each, all of them behind one router, get their
// answers from both programs, and from the service beside fifty who follow events. They come from
// an address that is not the machine's own for that, in a network of its own.
func TestManyBehindOneRouter(t *testing.T) {
	const inside, address = "VMSBRIDGE_TEST_INSIDE", "192.0.2.7"
	if os.Getenv(inside) == "" {
		needProgram(t, "unshare", "util-linux")
		needProgram(t, "ip", "iproute2")
		self, err := os.Executable()
		require.NoError(t, err)
		if out, err := exec.Command("unshare", "--user", "--map-root-user", "--net",
			"true").CombinedOutput(); err != nil {
			t.Skipf("this machine has no namespaces for the test: %s", out)
		}
		cmd := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--net", self,
			"-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), inside+"=1", "VMSBRIDGE_TEST_PROGRAMS="+bin)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	for _, args := range []string{"link set lo up", "address add " + address + "/32 dev lo"} {
		out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
		require.NoError(t, err, "ip %s: %s", args, out)
	}
	s := newSite(t, "")
	s.set("listen: \"127.0.0.1", "listen: \"0.0.0.0")
	s.cloud.kill()
	s.cloud = start(t, "vmscloud", "run", "--data", s.path("cloud"), "--listen", fmt.Sprintf("0.0.0.0:%d", s.cloudPort),
		"--host", address)
	s.cloud.line("vmscloud serves", 20*time.Second)
	s.startBridge()
	s.bridge.line("registered with the service", 20*time.Second)
	for _, to := range []struct {
		base, token string
		followers   int
	}{{s.local, lanToken, 0}, {s.service, s.token, 50}} {
		base := strings.Replace(to.base, "127.0.0.1", address, 1)
		ask := func(c *http.Client, method, path, token, body string) (*http.Response, error) {
			r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
			require.NoError(t, err)
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			return c.Do(r)
		}
		var told atomic.Int32
		var following sync.WaitGroup
		for range to.followers {
			res, err := ask(http.DefaultClient, http.MethodPost, "/api/v3.0/eventSubscriptions", to.token,
				`{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"actors":["bridge:bridge-1"],"types":[{"id":"vms.motionDetectionEvent.v1"}]}]}`)
			require.NoError(t, err)
			var made struct {
				Delivery struct {
					URL string `json:"sseUrl"`
				} `json:"deliveryConfig"`
			}
			text, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.NoError(t, json.Unmarshal(text, &made))
			require.Contains(t, made.Delivery.URL, "/api/", "%s", text)
			at := made.Delivery.URL
			stream, err := ask(http.DefaultClient, http.MethodGet, at[strings.Index(at, "/api/"):], to.token, "")
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, stream.StatusCode)
			t.Cleanup(func() { _ = stream.Body.Close() })
			following.Go(func() {
				for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
					if strings.HasPrefix(lines.Text(), "data: ") {
						told.Add(1)
						return
					}
				}
			})
		}
		var answered, other atomic.Int32
		var visitors, together sync.WaitGroup
		for range 64 {
			c := &http.Client{Timeout: stretched(30 * time.Second), Transport: &http.Transport{MaxIdleConnsPerHost: 6}}
			t.Cleanup(c.CloseIdleConnections)
			together.Add(6)
			for range 6 {
				visitors.Go(func() {
					for i := range 3 {
						res, err := ask(c, http.MethodGet,
							[]string{"/healthz", "/api/v3.0/cameras", "/api/v3.0/users/self"}[i], to.token, "")
						if i == 0 {
							together.Done()
							together.Wait() // so that all connections stand at once
						}
						if err != nil {
							t.Log(err)
							other.Add(1)
							continue
						}
						if _, err := io.Copy(io.Discard, res.Body); err == nil && res.StatusCode == http.StatusOK {
							answered.Add(1)
						} else {
							t.Log(i, res.Status, err)
							other.Add(1)
						}
						_ = res.Body.Close()
					}
				})
			}
		}
		visitors.Wait()
		require.Zero(t, other.Load(), "of %s", base)
		require.EqualValues(t, 64*6*3, answered.Load())
		if to.followers == 0 {
			continue
		}
		now := time.Now().UTC().Format("2006-01-02T15:04:05.000+00:00")
		res, err := ask(http.DefaultClient, http.MethodPost, "/api/v3.0/events", strings.TrimSpace(s.read(s.path("bridge.token"))), `{"type":"vms.motionDetectionEvent.v1","startTimestamp":"`+now+
			`","endTimestamp":null,"span":true,"accountId":"`+s.account+`","actorId":"bridge-1","actorAccountId":"`+s.account+`","actorType":"bridge","creatorId":"test",
			"dataSchemas":["vms.creatorDetails.v1"],"data":[{"type":"vms.creatorDetails.v1","creatorId":"test","id":"x","name":"y","vendor":"z"}]}`)
		require.NoError(t, err)
		text, _ := io.ReadAll(res.Body)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusCreated, res.StatusCode, "%s", text)
		until(t, 20*time.Second, "the event to be told to all who follow",
			func() bool { return told.Load() == int32(to.followers) })
		following.Wait()
		http.DefaultClient.CloseIdleConnections()
	}
}
