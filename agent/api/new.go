package api

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"vmsbridge/agent/web"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/server/feed"
)

// New opens the users' file and the control socket, and makes all handlers. Close must be called.
func New(o Options) (*API, error) {
	a := &API{opts: o}
	a.opts.said = newDescribed(o.Archive.Journal)
	a.users = openUsers(&a.opts)
	if err := a.handlers(); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.local = server.NewHTTP(a.localMux(), o.Log)
	a.listenLocal()
	return a, nil
}

func (a *API) handlers() error {
	o := a.opts
	if err := a.tokens.set(o.Config(), o.Visitor); err != nil {
		return err
	}
	key, err := a.pageKey()
	if err != nil {
		return err
	}
	a.feed = feed.New()
	a.unsubscribe = o.Archive.Journal.Subscribe(a.feed.Publish)
	a.v3, err = server.New(server.Options{Directory: a.users.directory(),
		Events:  server.Own{OwnStore: o.Archive.Journal},
		Cameras: cameras{&a.opts}, Images: images{o.Archive.Ring, o.Config, o.CameraStates, o.StillBefore},
		Auth: authenticators{&a.tokens, a.users}, Report: o.Config().Service.URL != "", NotFound: journal.ErrNotFound,
		BaseURL: o.BaseURL, Feed: a.feed,
		Host: ownName, TokenKey: key, Log: o.Log, Registerer: o.Registerer})
	if err != nil {
		return fmt.Errorf("make the local API: %w", err)
	}
	mux := http.NewServeMux()
	for path, h := range map[string]http.Handler{"/api": a.v3, "/g": a.users.http, "/oauth2": a.users.http} {
		mux.Handle(path, h) // net/http would redirect it, in HTML
		mux.Handle(path+"/", h)
	}
	mux.Handle("GET "+server.PathSnapshot, server.Snapshot(a.v3))
	mux.Handle(oauth.PathWellKnown, a.users.http)
	mux.HandleFunc("GET /healthz", a.healthz)
	mux.HandleFunc("GET /readyz", a.readyz)
	mux.Handle("GET /metrics", server.WithToken(&a.tokens, a.metrics()))
	a.webRoutes(mux)
	mux.Handle("/", web.Handler(web.Bridge))
	a.http = server.NewHTTP(mux, o.Log)
	a.http.RegisterOnShutdown(a.feed.Close) // it would wait for streams
	if o.Config().API.TLS.Cert != "" {
		if err := a.cert.load(o.Config(), o.Log); err != nil {
			return err
		}
		// A browser has six connections to a server of HTTP/1.1, and each open page takes one for
		// what happens.
		a.tls = &tls.Config{GetCertificate: a.cert.get, MinVersion: tls.VersionTLS12,
			NextProtos: []string{"h2", "http/1.1"}}
	}
	return nil
}
