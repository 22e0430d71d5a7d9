package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/vms"
)

// site is a service and a bridge with its cameras, all on this machine.
type site struct {
	t         *testing.T
	dir       string
	account   string
	token     string // of a user
	service   string // base address
	cloudPort int
	cloud     *program
	bridge    *program
	local     string // base address of the bridge's own interface
	yaml      string
	cloudArgs []string // more of the service's command line
}

// lanToken opens the bridge's own interface.
const lanToken = "lan-token-0123456789abcdef"

// newSite makes the service's account and tokens and starts it. cameras is the YAML below
// "cameras:", more is further sections.
func newSite(t *testing.T, cameras string, more ...string) *site {
	t.Helper()
	return newSiteIn(t, t.TempDir(), cameras, more...)
}

// newSiteIn is newSite with all that it keeps below a folder.
func newSiteIn(t *testing.T, dir, cameras string, more ...string) *site {
	t.Helper()
	return newSiteWith(t, &site{dir: dir}, nil, cameras, more...)
}

// newSiteWith is newSiteIn for a site of which the folder and the service's arguments are known,
// and more arguments of vmscloud init.
func newSiteWith(t *testing.T, s *site, initArgs []string, cameras string, more ...string) *site {
	t.Helper()
	if s.t = t; s.cloudPort == 0 {
		s.cloudPort = harness.Port(t)
	}
	s.service = fmt.Sprintf("http://127.0.0.1:%d", s.cloudPort)
	data := s.path("cloud")
	s.account = command(t, "vmscloud", append([]string{"init", "--data", data, "--account", "e2e", "--quiet"},
		initArgs...)...)
	s.token = command(t, "vmscloud", "token", "create", "--data", data, "--kind", "user", "--account", s.account,
		"--quiet")
	bridgeToken := command(t, "vmscloud", "token", "create", "--data", data, "--kind", "bridge", "--account", s.account,
		"--quiet")
	s.write("bridge.token", bridgeToken)
	s.write("lan.token", lanToken)
	port := harness.Port(t)
	s.local = fmt.Sprintf("http://127.0.0.1:%d", port)
	s.yaml = s.write("vmsbridge.yaml", fmt.Sprintf(`
bridge: {id: bridge-1, name: "E2E", account: %q, data: %q}
service: {url: %q, token_file: bridge.token}
clock: {wait: 0s}
api: {listen: "127.0.0.1:%d", tokens: [{name: lan, token_file: lan.token, scopes: [read, report]}]}
stills: {max_size: 256MiB}
log: {level: debug}
%s
cameras:
%s`, s.account, s.path("bridge"), s.service, port, strings.Join(more, "\n"), cameras))
	s.startCloud()
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) write(name, text string) string {
	s.t.Helper()
	require.NoError(s.t, os.WriteFile(s.path(name), []byte(text), 0o600))
	return s.path(name)
}

func (s *site) read(path string) string {
	s.t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(s.t, err)
	return string(b)
}

// health is what the bridge says of itself.
func (s *site) health() (h struct {
	Status, Tunnel string
	Problems       []string
}) {
	s.t.Helper()
	_, _, body := get(s.t, s.local+"/healthz", "")
	require.NoError(s.t, json.Unmarshal(body, &h), "%s", body)
	return h
}

// metrics are the bridge's own.
func (s *site) metrics() string {
	s.t.Helper()
	code, _, body := get(s.t, s.local+"/metrics", lanToken)
	require.Equal(s.t, http.StatusOK, code)
	return string(body)
}

// set replaces a part of the bridge's YAML.
func (s *site) set(old, new string) {
	s.t.Helper()
	b, err := os.ReadFile(s.yaml)
	require.NoError(s.t, err)
	require.Contains(s.t, string(b), old)
	s.write(filepath.Base(s.yaml), strings.Replace(string(b), old, new, 1))
}

func (s *site) startCloud() {
	s.t.Helper()
	s.cloud = start(s.t, "vmscloud",
		append([]string{"run", "--data", s.path("cloud"), "--listen", fmt.Sprintf("127.0.0.1:%d", s.cloudPort),
			"--print-events"}, s.cloudArgs...)...)
	until(s.t, 10*time.Second, "the service to answer", func() bool {
		res, err := http.Get(s.service + "/healthz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return true
	})
}

func (s *site) startBridge() {
	s.t.Helper()
	s.bridge = start(s.t, "vmsbridge", "run", "--config", s.yaml)
	s.bridge.line("the bridge runs", 20*time.Second)
}

// get asks the service as the user does.
func (s *site) get(path string) (int, http.Header, []byte) {
	s.t.Helper()
	return get(s.t, s.service+path, s.token)
}

func get(t *testing.T, address, token string) (int, http.Header, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := (&http.Client{Timeout: 20 * time.Second}).Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, res.Header, body
}

// events lists all of a camera's events of a type at the service, oldest first, by following the
// pages; none before the bridge has registered the camera there.
func (s *site) events(camera, kind string) []vms.Event {
	s.t.Helper()
	q := url.Values{"actor": {"camera:" + camera}, "type__in": {kind}, "sort": {"+startTimestamp"}, "pageSize": {"7"},
		"startTimestamp__gte": {"2020-01-01T00:00:00.000+00:00"},
		"startTimestamp__lte": {"2100-01-01T00:00:00.000+00:00"},
		"include":             {"data.vms.fullFrameImageUrl.v1,data.vms.objectDetection.v1,data.vms.deviceCloudStatusUpdate.v1"}}
	var all []vms.Event
	for {
		registered := strings.Contains(s.bridge.output(), "registered with the service")
		code, _, body := s.get("/api/v3.0/events?" + q.Encode())
		if code == http.StatusNotFound && !registered {
			return nil
		}
		require.Equal(s.t, http.StatusOK, code, "%s", body)
		var page vms.EventPage
		require.NoError(s.t, json.Unmarshal(body, &page))
		all = append(all, page.Results...)
		if page.NextPageToken == "" {
			require.Equal(s.t, page.TotalSize, len(all))
			return all
		}
		q.Set("pageToken", page.NextPageToken)
	}
}

// image asks the service for the image of a camera before a time.
func (s *site) image(camera, kind string, before time.Time) (jpeg []byte, at time.Time) {
	s.t.Helper()
	address := vms.ImageURL("", camera, kind, vms.OpBefore, before)
	code, header, body := s.get(address)
	require.Equal(s.t, http.StatusOK, code, "%s: %s", address, tail(string(body), 500))
	require.Equal(s.t, "image/jpeg", header.Get("Content-Type"))
	stamp, err := vms.ParseTime(header.Get("X-Vms-Timestamp"))
	require.NoError(s.t, err)
	return body, stamp.Time
}

// cameraYAML is one camera of the list.
func cameraYAML(id, url, preview, transport, user, passwordFile string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  - {id: %q, name: %q, url: %q, transport: %s", id, "Camera "+id, url, transport)
	if preview != "" {
		fmt.Fprintf(&b, ", preview_url: %q", preview)
	}
	if user != "" {
		fmt.Fprintf(&b, ", username: %q, password_file: %q", user, passwordFile)
	}
	b.WriteString("}\n")
	return b.String()
}
