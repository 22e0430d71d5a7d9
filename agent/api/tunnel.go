package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"vmsbridge/configs"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// ForService is the handler of what the service asks through the tunnel, with the token that it was
// told at registration: one camera's stills and state.
func (a *API) ForService() (http.Handler, error) {
	auth := identity.NewFixed()
	if err := auth.Add(a.opts.Visitor, serviceItself(a.opts.Config())); err != nil {
		return nil, err
	}
	cameras := func() []configs.Camera { return a.opts.Config().Cameras }
	return server.WithToken(auth, forOneCamera(cameras, a.v3)), nil
}

// forOneCamera lets through what the service may ask by a tunnel: the stills and the state of one
// camera of this bridge, which it must name in a header too. The service checks its users' rights
// before it asks; should it mix two requests up, the header and the request differ, and nothing is
// answered.
func forOneCamera(cameras func() []configs.Camera, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		named := r.Header.Get(vms.HeaderCamera)
		asked, ok := cameraAskedFor(r)
		switch {
		case !ok:
			http.Error(w, "only a camera's stills and state can be asked for through the tunnel", http.StatusForbidden)
		case named == "" || named != asked:
			http.Error(w, "the camera asked for is not the one in "+vms.HeaderCamera, http.StatusForbidden)
		case !slices.ContainsFunc(cameras(), func(c configs.Camera) bool { return c.ID == asked }):
			http.Error(w, "this bridge has no such camera", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// cameraAskedFor is the camera of a request for a still or a state; ok is false for any other
// request.
func cameraAskedFor(r *http.Request) (id string, ok bool) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return "", false
	}
	if r.URL.Path == vms.PathImage || r.URL.Path == vms.PathMedia {
		args, err := url.ParseQuery(r.URL.RawQuery)
		// a page token would name a camera of its own
		if err != nil || len(args["deviceId"]) != 1 || args.Has("pageToken") {
			return "", false
		}
		return args.Get("deviceId"), true
	}
	id, ok = strings.CutPrefix(r.URL.Path, vms.PathCameras+"/")
	return id, ok && id != "" && !strings.Contains(id, "/")
}
