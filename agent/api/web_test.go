package api

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/health"
	"vmsbridge/configs"
	"vmsbridge/uplink/identity"
)

// The page's status shows a user the cameras that the user may see, and of the rest what the health
// checks tell anybody.
func TestThePageShowsWhatOneMaySee(t *testing.T) {
	a := &API{opts: Options{Config: configs.Default, Status: func() health.Report {
		return health.Report{Name: "Depot",
			Cameras:  []health.Camera{{ID: "gate", Name: "Gate"}, {ID: "vault", Name: "Vault"}},
			Problems: []health.Problem{{Text: "vault (wrong password)", Public: "a camera is away", Hint: "look"}},
			Config:   health.Config{File: "/etc/secret-place.yaml"},
			Service:  &health.Link{URL: "https://service.example"},
			Disk:     health.Space{Path: "/var/lib/x"}}
	}}}
	status := func(p identity.Principal) (r health.Report, text string) {
		w := httptest.NewRecorder()
		a.webStatus(w, httptest.NewRequest("GET", "/web/status", nil), p)
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &r))
		return r, w.Body.String()
	}
	for name, p := range map[string]identity.Principal{"a token": {},
		"an administrator": {Grants: &identity.Grants{All: true}}} {
		r, _ := status(p)
		require.Len(t, r.Cameras, 2, name)
		require.Contains(t, r.Problems[0].Text, "vault", name)
		require.NotNil(t, r.Service, name)
	}
	for name, p := range map[string]identity.Principal{"a limited token": {Cameras: []string{"gate"}},
		"a user": {Grants: &identity.Grants{Devices: map[string]string{"gate": "R"}}}} {
		r, text := status(p)
		require.Len(t, r.Cameras, 1, name)
		require.Equal(t, "gate", r.Cameras[0].ID, name)
		require.Equal(t, "a camera is away", r.Problems[0].Text)
		require.Equal(t, "look", r.Problems[0].Hint)
		for _, secret := range []string{"ault", "secret-place", "service.example", "/var/lib"} {
			require.NotContains(t, text, secret, name)
		}
	}
}

// A quiet page's stream outlasts the deadline of its last write, which HTTP/2 keeps also between
// writes.
func TestAQuietPageIsToldOn(t *testing.T) {
	require.Greater(t, changesWait, (changesSign+10)*changesEvery)
}
