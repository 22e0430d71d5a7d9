package api

import (
	"crypto/tls"

	"vmsbridge/configs"
	"vmsbridge/uplink/identity"
)

// Change is what a new configuration means for the API, made by Prepare.
type Change struct {
	list *identity.Fixed
	pair *tls.Certificate
}

// Prepare reads what a changed configuration names: run is the one that is to run, next the file's.
// An error means that it cannot be taken over.
func (a *API) Prepare(run, next *configs.Config) (c Change, err error) {
	if c.list, err = tokenList(run, a.opts.Visitor); err != nil {
		return c, err
	}
	// A certificate may be a new one under the same name. The one that is stays until the restart
	// that next asks for.
	if run.API.TLS.Cert != "" && next.API.TLS.Cert != "" {
		c.pair, err = readPair(run, a.opts.Log)
	}
	return c, err
}

// Apply puts a change in place. It cannot fail.
func (a *API) Apply(c Change) {
	a.tokens.list.Store(c.list)
	if c.pair != nil {
		a.cert.pair.Store(c.pair)
	}
}
