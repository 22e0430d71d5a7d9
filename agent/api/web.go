package api

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"vmsbridge/agent/health"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// What the page (agent/web) asks beyond the interface lives below /web/.

// webRoutes are those.
func (a *API) webRoutes(mux *http.ServeMux) {
	auth := authenticators{&a.tokens, a.users}
	for path, h := range map[string]func(http.ResponseWriter, *http.Request, identity.Principal){
		"GET /web/status": a.webStatus, "GET /web/changes": a.webChanges} {
		mux.Handle(path, server.WithPrincipal(auth, identity.ScopeRead, h))
	}
	a.setupRoutes(mux)
	a.tuningRoutes(mux)
	a.scheduleRoutes(mux)
	a.queueRoutes(mux)
	mux.HandleFunc("GET /web/begin", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]bool{"firstUser": a.users.nobodyYet(a.opts.Config().Bridge.Account)})
	})
}

// webStatus is the bridge's status as its reader may see it: whoever sees all cameras has it whole,
// others have their cameras and what the health checks tell anybody.
func (a *API) webStatus(w http.ResponseWriter, _ *http.Request, p identity.Principal) {
	r := a.opts.Status()
	if !seesAll(p) {
		r.Cameras = visible(p, r.Cameras)
		for i, problem := range r.Problems {
			if problem.Public != "" {
				r.Problems[i].Text = problem.Public
			}
		}
		r.Config, r.Service, r.Sinks, r.Disk.Path = health.Config{}, nil, nil, ""
	}
	answer(w, struct {
		health.Report
		MaySetUp bool `json:"maySetUp"`
	}{r, administers(p, a.opts.Config().Bridge.Account)})
}

func seesAll(p identity.Principal) bool { return p.Cameras == nil && (p.Grants == nil || p.Grants.All) }

func visible(p identity.Principal, all []health.Camera) []health.Camera {
	return slices.DeleteFunc(all, func(c health.Camera) bool {
		return !p.Sees(vms.Actor{Type: vms.ActorCamera, ID: c.ID})
	})
}

const (
	changesWatch = 3 * time.Second // how long after the last look a camera that is watched goes on making stills often
	changesSign  = 15              // looks without news after which a sign of life is sent
	changesQueue = 256
)

// webChanges is a stream of server-sent events: "cameras" with those that changed since the last
// one, at most once a second, "order" with the ids of all when cameras have come or gone, and
// "event" with each event that is stored. It ends when the credential does. The camera in the
// argument watch makes two stills a second while the stream is open.
func (a *API) webChanges(w http.ResponseWriter, r *http.Request, p identity.Principal) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	stored := make(chan vms.Event, changesQueue)
	cancel := a.opts.Archive.Journal.Subscribe(func(ev vms.Event) {
		select {
		case stored <- ev:
		default: // the page lists events anew when it comes back
		}
	})
	defer cancel()
	send := sending(w)
	tick := time.NewTicker(changesEvery)
	defer tick.Stop()
	watch, known, idle := r.URL.Query().Get("watch"), map[string]health.Camera{}, 0
	if _, is := (cameras{&a.opts}).CameraOf("", watch); !is {
		watch = ""
	}
	var order []string
	for {
		if now, err := (authenticators{&a.tokens, a.users}).Authenticate(token); err != nil ||
			now.AccountID != p.AccountID {
			return
		} else {
			p = now
		}
		if watch != "" && p.Sees(vms.Actor{Type: vms.ActorCamera, ID: watch}) && p.Views(vms.ImagePreview) {
			a.opts.Watch(watch, time.Now().Add(changesWatch))
		}
		var news []health.Camera
		ids := []string{}
		for _, c := range visible(p, a.opts.CameraStates()) {
			ids = append(ids, c.ID)
			steady := c
			steady.Decoding, steady.Rate = nil, 0 // these change all the time, and are told with the rest
			if old, ok := known[c.ID]; !ok || old != steady {
				news = append(news, c)
				known[c.ID] = steady
			}
		}
		moved := order != nil && !slices.Equal(order, ids)
		order = ids
		if idle++; len(news) > 0 || idle >= changesSign {
			idle = 0
			name := ""
			if len(news) > 0 {
				name = "cameras"
			}
			if !send(name, news) {
				return
			}
		}
		if moved && !send("order", ids) {
			return
		}
		for wait := true; wait; {
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
				wait = false
			case ev := <-stored:
				if p.ViewsEvents() && p.Sees(vms.Actor{Type: ev.ActorType, ID: ev.ActorID}) && !send("event", ev) {
					return
				}
			}
		}
	}
}
