package server

import (
	"net/http"
	"net/url"
	"strings"

	"vmsbridge/uplink/vms"
)

// PathSnapshot is where Snapshot is to be mounted.
const PathSnapshot = "/snapshot/{picture}"

// Snapshot answers GET /snapshot/CAMERA.jpg with the newest image of a camera, for programs that
// know an address with a user name and a password and nothing else, such as Home Assistant's
// generic camera. The password is a bearer token; the name is not looked at. Everything else is as
// for api, the handler that New makes, whose liveImage.jpeg it is.
func Snapshot(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		camera, ok := strings.CutSuffix(r.PathValue("picture"), ".jpg")
		if !ok {
			http.Error(w, "ask for /snapshot/CAMERA.jpg, with the camera's id", http.StatusNotFound)
			return
		}
		if r.Header.Get("Authorization") == "" {
			w.Header().Set("WWW-Authenticate", `Basic realm="vms", charset="UTF-8"`)
			http.Error(w, "sign in with a bearer token, or with basic authentication whose password is one",
				http.StatusUnauthorized)
			return
		}
		asked := r.Clone(r.Context())
		if _, password, basic := r.BasicAuth(); basic {
			asked.Header.Set("Authorization", "Bearer "+password)
		}
		query := asked.URL.Query()
		query.Set("deviceId", camera)
		asked.URL = &url.URL{Path: vms.PathLiveImage, RawQuery: query.Encode()}
		api.ServeHTTP(w, asked)
	})
}
