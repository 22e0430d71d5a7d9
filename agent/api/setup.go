package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"vmsbridge/agent/arming"
	"vmsbridge/agent/setup"
	"vmsbridge/configs"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// The page's way to set cameras up. All of it is for administrators of the bridge's own account who
// are signed in; a token of the configuration reads, and changes nothing.

// setupBody bounds what a wish may be, in bytes.
const setupBody = 16 << 10

// wish is a camera as the page describes it. Trial stands for all but the name.
type wish struct {
	Camera             string `json:"camera"` // of Try: the one that is to be changed
	Enabled            *bool  `json:"enabled"`
	Trial              string `json:"trial"`
	Name               string `json:"name"`
	Address            string `json:"address"`
	PreviewAddress     string `json:"previewAddress"`
	Username           string `json:"username"`
	Password           string `json:"password"`
	AllowInsecureBasic bool   `json:"allowInsecureBasic"`
}

func (w wish) draft() setup.Draft {
	return setup.Draft{Camera: w.Camera, Name: w.Name, URL: w.Address, PreviewURL: w.PreviewAddress,
		Username: w.Username,
		Password: configs.NewSecret(w.Password), AllowInsecureBasic: w.AllowInsecureBasic}
}

// setupRoutes are what the page asks and wishes.
func (a *API) setupRoutes(mux *http.ServeMux) {
	s := a.opts.Setup
	a.forAdministrators(mux, "GET /web/cameras", func(*http.Request, identity.Principal) (any, error) {
		list, err := s.Cameras()
		shown := []map[string]any{}
		for _, c := range list {
			shown = append(shown, map[string]any{"id": c.ID, "name": c.Name, "address": c.URL,
				"previewAddress": c.PreviewURL,
				"username":       c.Username, "hasPassword": c.HasPassword, "allowInsecureBasic": c.AllowInsecureBasic,
				"enabled": c.Enabled})
		}
		return shown, err
	})
	a.forAdministrators(mux, "POST /web/cameras:search", func(r *http.Request, _ identity.Principal) (any, error) {
		list, err := s.Search(r.Context())
		shown := []map[string]any{}
		for _, d := range list {
			host := ""
			if d.Host.IsValid() {
				host = d.Host.String()
			}
			shown = append(shown, map[string]any{"host": host, "name": d.Name, "hardware": d.Hardware,
				"addresses": d.Addresses})
		}
		return shown, err
	})
	a.forAdministrators(mux, "POST /web/cameras:try", func(r *http.Request, _ identity.Principal) (any, error) {
		w, err := wished(r)
		if err != nil {
			return nil, err
		}
		t, err := s.Try(r.Context(), w.draft())
		return map[string]any{"trial": t.ID, "address": t.URL, "previewAddress": t.PreviewURL, "name": t.Name,
			"by": t.By, "codec": t.Codec,
			"width": t.Picture.Width, "height": t.Picture.Height, "rate": t.Rate, "transport": t.Transport,
			"picture": t.Picture.JPEG}, err
	})
	a.forAdministrators(mux, "POST /web/cameras", func(r *http.Request, p identity.Principal) (any, error) {
		w, err := wished(r)
		if err != nil {
			return nil, err
		}
		id := ""
		if w.Trial != "" {
			id, err = s.AddTried(r.Context(), w.Trial, w.Name)
		} else {
			id, err = s.Add(r.Context(), w.draft())
		}
		if err == nil {
			a.opts.Log.Info("a camera was added by the page", "camera", id, "by", p.Holder)
		}
		return map[string]any{"id": id}, err
	})
	a.changeRoutes(mux)
	a.forAdministrators(mux, "POST /web/arm", func(r *http.Request, p identity.Principal) (any, error) {
		list, err := armed(r, a.opts.Arming, p.Holder)
		if refusal, ok := errors.AsType[*arming.Refusal](err); ok {
			err = &setup.Refusal{Reason: refusal.Reason}
		}
		return list, err
	})
	packing := make(chan struct{}, 1) // one at a time: it reads the log and the stores
	a.forAdministrators(mux, "POST /web/support", func(r *http.Request, p identity.Principal) (any, error) {
		if a.opts.Bundle == nil {
			return nil, &setup.Refusal{Reason: "This bridge packs no bundle: vmsbridge support-bundle does."}
		}
		select {
		case packing <- struct{}{}:
			defer func() { <-packing }()
		default:
			return nil, &setup.Refusal{Reason: "A bundle is being packed just now: try again in a moment."}
		}
		var out bytes.Buffer
		if err := a.opts.Bundle(r.Context(), &out); err != nil {
			return nil, err
		}
		a.opts.Log.Info("a support bundle was packed for the page", "by", p.Holder, "bytes", out.Len())
		return download{"vmsbridge-support.tar.gz", out.Bytes()}, nil
	})
}

// download is an answer that a browser keeps as a file.
type download struct {
	name    string
	content []byte
}

func (d download) send(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/gzip")
	w.Header().Set("Content-Disposition", `attachment; filename="`+d.name+`"`)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(d.content)
}

// stream is an answer that goes on; an error means that nothing of it was sent.
type stream func(w http.ResponseWriter) error

// changeRoutes are what it wishes of a camera that is there.
func (a *API) changeRoutes(mux *http.ServeMux) {
	a.forAdministrators(mux, "PATCH /web/cameras/{id}", func(r *http.Request, p identity.Principal) (any, error) {
		w, err := wished(r)
		if err == nil {
			err = a.opts.Setup.Change(r.Context(), r.PathValue("id"),
				setup.Change{Name: w.Name, Enabled: w.Enabled, Trial: w.Trial})
		}
		if err != nil {
			return nil, err
		}
		a.opts.Log.Info("a camera was changed by the page", "camera", r.PathValue("id"), "by", p.Holder)
		return map[string]any{"id": r.PathValue("id")}, nil
	})
	a.forAdministrators(mux, "DELETE /web/cameras/{id}", func(r *http.Request, p identity.Principal) (any, error) {
		if err := a.opts.Setup.Remove(r.Context(), r.PathValue("id")); err != nil {
			return nil, err
		}
		a.opts.Log.Info("a camera was removed by the page", "camera", r.PathValue("id"), "by", p.Holder)
		return map[string]any{"id": r.PathValue("id")}, nil
	})
}

// wished reads what the page sent. What it says of a bad one holds nothing of it: there may be a
// password in it.
func wished(r *http.Request) (w wish, err error) {
	if !oneObject(r, setupBody, &w) {
		return w, &setup.Refusal{Reason: "The body must be one JSON object with the known keys, 16 kB at most."}
	}
	return w, nil
}

// forAdministrators serves a path to those who may set the bridge up.
func (a *API) forAdministrators(mux *http.ServeMux, pattern string,
	do func(r *http.Request, p identity.Principal) (any, error)) {
	mux.Handle(pattern, server.WithPrincipal(authenticators{&a.tokens, a.users}, identity.ScopeRead,
		func(w http.ResponseWriter, r *http.Request, p identity.Principal) {
			if !administers(p, a.opts.Config().Bridge.Account) {
				refused(w, http.StatusForbidden, vms.ReasonPermission,
					"Only an administrator of this bridge may set it up: sign in as one.")
				return
			}
			out, err := do(r, p)
			if s, is := out.(stream); is && err == nil {
				if err = s(w); err == nil {
					return
				}
			}
			refusal, ok := errors.AsType[*setup.Refusal](err)
			switch {
			case ok:
				refused(w, http.StatusBadRequest, vms.ReasonValue, refusal.Reason)
			case err != nil:
				a.opts.Log.Error("set up cameras", "by", p.Holder, "error", err)
				refused(w, http.StatusInternalServerError, vms.ReasonUnexpectedError,
					"The bridge could not do it; its log says why.")
			default:
				if file, is := out.(download); is {
					file.send(w)
					return
				}
				answer(w, out)
			}
		}))
}

// administers tells whether somebody may set the bridge up: a user with all rights in the bridge's
// account, who is signed in.
func administers(p identity.Principal, account string) bool {
	return p.Kind == identity.KindUser && p.AccountID == account && p.Grants != nil && p.Grants.All &&
		p.May(identity.ScopeAll)
}

func refused(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(vms.NewError(code, reason, message))
}
