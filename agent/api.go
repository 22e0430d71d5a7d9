package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	page "vmsbridge/agent/web"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/storage/stills"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// apiDrain is how long requests under way may take when the bridge stops, which is to take five seconds at most: at worst the
// outlet, the last reports and then these follow each other.
const apiDrain = 1500 * time.Millisecond

// api is the bridge's local HTTP interface: the service's own, so that a program written for the service works against
// the bridge, signing in by it included, and the health checks and metrics beside it.
type api struct {
	http *http.Server
	tls  *tls.Config  // nil: plain
	v3   http.Handler // what is below /api/
}

// api makes the handler. base is the address that clientSettings tells, "" for the one that the client used.
func (a *Agent) api(base string) (*api, error) {
	if err := a.tokens.set(a.cfg(), a.visitor); err != nil {
		return nil, err
	}
	key, err := a.pageKey()
	if err != nil {
		return nil, err
	}
	v3, err := server.New(server.Options{Events: server.Own{OwnStore: a.journal}, Cameras: roster{a}, Images: gallery{a.ring}, Auth: doors{&a.tokens, a.people}, Report: a.tie != nil,
		NotFound: journal.ErrNotFound, BaseURL: base, Host: ownName, TokenKey: key, Log: a.log, Registerer: a.reg})
	if err != nil {
		return nil, fmt.Errorf("make the local API: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", v3)
	mux.Handle("/g/", a.people.http)
	mux.Handle("/oauth2/", a.people.http)
	mux.HandleFunc("GET /healthz", a.healthz)
	mux.HandleFunc("GET /readyz", a.readyz)
	mux.Handle("GET /metrics", server.WithToken(&a.tokens, a.metrics()))
	mux.Handle("/", page.New())
	out := &api{http: server.NewHTTP(mux, a.log), v3: v3}
	if a.cfg().API.TLS.Cert != "" {
		if err := a.cert.load(a.cfg(), a.log); err != nil {
			return nil, err
		}
		out.tls = &tls.Config{GetCertificate: a.cert.get, MinVersion: tls.VersionTLS12}
	}
	return out, nil
}

// metrics serves those of the bridge and of its link to the service.
func (a *Agent) metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := prometheus.Gatherers{a.reg}
		if a.tie != nil {
			all = append(all, a.tie.Metrics())
		}
		promhttp.HandlerFor(all, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	})
}

// Run serves on l until ctx is done.
func (s *api) Run(ctx context.Context, l net.Listener) error {
	if s.tls != nil {
		l = tls.NewListener(l, s.tls)
	}
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	defer func() { cancel(); <-stopped }()
	go func() {
		defer close(stopped)
		<-ctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), apiDrain)
		defer cancel()
		if s.http.Shutdown(drain) != nil {
			_ = s.http.Close()
		}
	}()
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// pageKey signs the page tokens that clients hold. It is kept in the journal, so that they stay good over a restart; a
// damaged one is made anew, and clients then begin their lists again.
func (a *Agent) pageKey() ([]byte, error) {
	const name, size = "page-token-key", 32
	if key, err := a.journal.Meta(name); err == nil && len(key) == size {
		return key, nil
	}
	key := make([]byte, size)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	if err := a.journal.SetMeta(name, key); err != nil && !errors.Is(err, journal.ErrFull) {
		return nil, fmt.Errorf("keep the key of page tokens: %w", err)
	}
	return key, nil
}

// roster is the bridge's cameras as the interface asks for them.
type roster struct{ a *Agent }

// CameraIDs are their ids in order, as the interface wants. All are the bridge's own.
func (r roster) CameraIDs(string, string) []string {
	var ids []string
	for _, c := range r.a.cfg().Cameras {
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	return ids
}

// CameraOf is one of them.
func (r roster) CameraOf(_, id string) (vms.Camera, bool) {
	list := r.a.Cameras()
	if i := slices.IndexFunc(list, func(c vms.Camera) bool { return c.ID == id }); i >= 0 {
		return list[i], true
	}
	return vms.Camera{}, false
}

// HasActor knows the cameras of the configuration and the bridge itself. Sensors, users and whatever else other programs
// report for are not the bridge's to know, and are let in.
func (r roster) HasActor(_ context.Context, _ string, actor vms.Actor) (bool, error) {
	switch actor.Type {
	case vms.ActorBridge:
		return actor.ID == r.a.cfg().Bridge.ID, nil
	case vms.ActorCamera:
		return slices.ContainsFunc(r.a.cfg().Cameras, func(c configs.Camera) bool { return c.ID == actor.ID }), nil
	}
	return true, nil
}

// gallery is the ring of stills as the interface asks for it.
type gallery struct{ ring *stills.Ring }

var ops = map[string]stills.Op{vms.OpBefore: stills.Before, vms.OpAtOrBefore: stills.AtOrBefore, vms.OpAt: stills.At,
	vms.OpAtOrAfter: stills.AtOrAfter, vms.OpAfter: stills.After}

func (g gallery) Image(_ context.Context, q server.ImageQuery) (server.Image, error) {
	kind, err := stills.ParseKind(q.Kind)
	if err != nil {
		return server.Image{}, err
	}
	s, err := g.ring.Find(q.Camera, kind, ops[q.Op], q.Time)
	if none := (*stills.NoneError)(nil); errors.As(err, &none) {
		return server.Image{}, vms.NotFound("images", none.Error(), q.Camera)
	} else if err != nil {
		return server.Image{}, err
	}
	return server.Image{Time: s.Time, Length: int64(len(s.JPEG)), Body: io.NopCloser(bytes.NewReader(s.JPEG))}, nil
}
