package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/configs"
	"vmsbridge/uplink/vms"
)

// Whatever the service asks by the tunnel, it gets the stills and the state of the one camera that
// it names.
func TestTheTunnelAnswersForOneCamera(t *testing.T) {
	passed := 0
	h := forOneCamera(func() []configs.Camera { return []configs.Camera{{ID: "gate"}, {ID: "yard"}} },
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed++ }))
	const still = vms.PathImage + "?type=main&timestamp__lt=x&deviceId="
	for _, c := range []struct {
		method, path, named string
		ok                  bool
	}{
		{"GET", still + "gate", "gate", true},
		{"HEAD", still + "yard", "yard", true},
		{"GET", vms.PathCameras + "/gate", "gate", true},
		{"GET", vms.PathCameras + "/gate?include=status", "gate", true},
		{"GET", still + "gate", "", false},
		{"GET", still + "gate", "yard", false},
		{"GET", still + "yard&deviceId=gate", "gate", false},
		{"GET", still + "gate&deviceId=yard", "gate", false},
		{"GET", still + "gate&pageToken=x", "gate", false},
		{"GET", vms.PathImage + "?pageToken=x", "", false},
		{"GET", still + "gate;deviceId=yard", "gate", false},
		{"GET", still + "cellar", "cellar", false},
		{"GET", vms.PathCameras + "/yard", "gate", false},
		{"GET", vms.PathCameras + "/", "", false},
		{"GET", vms.PathCameras + "/gate/../yard", "gate", false},
		{"GET", vms.PathCameras, "gate", false},
		{"POST", still + "gate", "gate", false},
		{"POST", "/api/v3.0/events", "gate", false},
		{"GET", "/api/v3.0/events?actor=camera:gate", "gate", false},
		{"GET", "/metrics", "gate", false},
		{"GET", "/g/user", "gate", false},
	} {
		r, before, w := httptest.NewRequest(c.method, c.path, nil), passed, httptest.NewRecorder()
		if c.named != "" {
			r.Header.Set(vms.HeaderCamera, c.named)
		}
		h.ServeHTTP(w, r)
		require.Equal(t, c.ok, passed > before, "%+v", c)
		if !c.ok {
			require.Equal(t, http.StatusForbidden, w.Code, "%+v", c)
		}
	}
}
