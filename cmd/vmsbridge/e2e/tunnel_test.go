package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// TestTheServiceAsksABridgeThatItCannotReach: the bridge registers no address, and stills and
// states come through its tunnel: to those who may see the camera, and as long as the bridge is
// there.
func TestTheServiceAsksABridgeThatItCannotReach(t *testing.T) {
	t.Parallel()
	cameras := cameraYAML("gate", sceneCamera(t, "mjpeg"), "", "auto", "", "")
	cameras += cameraYAML("cellar", "rtsp://127.0.0.1:1/none", "", "tcp", "", "")
	s := newSite(t, cameras)
	s.set(`listen: "127.0.0.1:`, `listen: "0.0.0.0:`) // and no public_url: nobody is told where the bridge is
	s.startBridge()
	s.bridge.line("the tunnel to the service stands", 20*time.Second)
	var newest string
	still := func(token string) (int, string, []byte) {
		newest = vms.ImageURL("", "gate", vms.ImagePreview, vms.OpBefore, time.Now().Add(time.Hour))
		code, _, body := get(t, s.service+newest, token)
		var e vms.Error
		_ = json.Unmarshal(body, &e)
		return code, e.Reason(), body
	}
	until(t, 60*time.Second, "a still through the tunnel", func() bool {
		code, _, body := still(s.token)
		return code == http.StatusOK && bytes.HasPrefix(body, []byte{0xff, 0xd8})
	})
	require.Equal(t, "up", s.health().Tunnel)
	require.Contains(t, s.metrics(), "vmsbridge_agent_tunnel_up 1")
	state := func(camera string) string {
		code, _, body := s.get(vms.PathCameras + "/" + camera + "?include=status")
		require.Equal(t, http.StatusOK, code, "%s", body)
		var c vms.Camera
		require.NoError(t, json.Unmarshal(body, &c))
		return c.Status.ConnectionStatus
	}
	require.Equal(t, vms.StatusOnline, state("gate"))
	require.Equal(t, vms.StatusDeviceOffline, state("cellar"))

	// Who may not see the camera gets nothing: not within the account, and not from another,
	// whatever its bridge says it is.
	other := command(t, "vmscloud", "token", "create", "--data", s.path("cloud"), "--kind", "user", "--account",
		s.account, "--camera", "cellar", "--quiet")
	code, _, _ := still(other)
	require.Equal(t, http.StatusNotFound, code)
	account := s.anotherAccount()
	token := func(kind string) string {
		return command(t, "vmscloud", "token", "create", "--data", s.path("cloud"), "--kind", kind, "--account",
			account, "--quiet")
	}
	code, _, _ = still(token("user"))
	require.Equal(t, http.StatusNotFound, code)
	s.write("thief.token", token("bridge"))
	thief := strings.NewReplacer("bridge.token", "thief.token", s.account, account, s.path("bridge"), s.path("thief"),
		strings.TrimPrefix(s.local, "http://127.0.0.1"), ":0").Replace(s.read(s.yaml))
	b := start(t, "vmsbridge", "run", "--config", s.write("thief.yaml", thief))
	b.line("the tunnel to the service stands", 20*time.Second) // the same ids, but in its own account
	theirs := token("user")
	until(t, 60*time.Second, "a still of the other account's own",
		func() bool { code, _, _ := still(theirs); return code == http.StatusOK })
	b.kill()
	until(t, 10*time.Second, "the other account's bridge to be away", func() bool {
		code, _, _ := still(theirs)
		return code == http.StatusServiceUnavailable
	})
	code, _, _ = still(s.token)
	require.Equal(t, http.StatusOK, code, "nothing of that touches the bridge's own tunnel")

	// Away and back.
	s.bridge.kill()
	until(t, 5*time.Second, "the service to know that the bridge is away", func() bool {
		code, reason, _ := still(s.token)
		require.Contains(t, []int{http.StatusOK, http.StatusServiceUnavailable}, code)
		return code == http.StatusServiceUnavailable && reason == vms.ReasonDeviceUnavailable
	})
	s.startBridge()
	until(t, 20*time.Second, "stills again", func() bool { code, _, _ := still(s.token); return code == http.StatusOK })

	// The service goes and comes back at the same place: the bridge dials again.
	s.cloud.kill()
	s.startCloud()
	until(t, 30*time.Second, "stills after the service was away",
		func() bool { code, _, _ := still(s.token); return code == http.StatusOK })
	for _, p := range []*program{s.bridge, s.cloud} {
		require.NotContains(t, p.output(), s.token)
		require.NotContains(t, p.output(), lanToken)
	}
	s.bridge.stop(5 * time.Second)
	s.cloud.stop(10 * time.Second)
}

// signUp gives the service's superuser the password hunter2hunter2 and returns a session.
func (s *site) signUp() (session string) { return s.signUpAs("admin@localhost") }

func (s *site) signUpAs(email string) (session string) {
	s.t.Helper()
	link := command(s.t, "vmscloud", "user", "link", "--data", s.path("cloud"), "--quiet", email)
	return keyOf(s.t, s.people("POST", "/g/aaa/reset_password", "",
		map[string]any{"token": link, "password": "hunter2hunter2"}, nil))
}

// keyOf is the session among cookies.
func keyOf(t *testing.T, cookies []*http.Cookie) string {
	t.Helper()
	at := slices.IndexFunc(cookies, func(c *http.Cookie) bool { return c.Name == "auth_key" })
	require.GreaterOrEqual(t, at, 0, "no session")
	return cookies[at].Value
}

// people asks the service's /g/ and reads the answer into out, which may be nil.
func (s *site) people(method, path, session string, body map[string]any, out any) []*http.Cookie {
	s.t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(s.t, err)
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.service+path, bytes.NewReader(raw))
	require.NoError(s.t, err)
	if session != "" {
		r.AddCookie(&http.Cookie{Name: "auth_key", Value: session})
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, res.Body.Close())
	require.Equal(s.t, http.StatusOK, res.StatusCode, "%s %s: %s", method, path, text)
	if out != nil {
		require.NoError(s.t, json.Unmarshal(text, out))
	}
	return res.Cookies()
}

// anotherAccount makes a sub-account at the service, as its superuser would, and returns its id.
func (s *site) anotherAccount() string {
	s.t.Helper()
	session := s.signUp()
	var made struct{ ID string }
	s.people("PUT", "/g/account", session,
		map[string]any{"name": "Other", "contact_first_name": "B", "contact_last_name": "C",
			"contact_email": "b@example.org"}, &made)
	require.NotEmpty(s.t, made.ID)
	s.people("POST", "/g/account", session, map[string]any{"id": made.ID, "status": []string{"active"}}, nil)
	return made.ID
}
