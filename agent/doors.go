package agent

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	selfmade "vmsbridge/agent/certificate"
	"vmsbridge/configs"
	"vmsbridge/uplink/identity"
)

// tokens lets in those of the configuration, and the service with the token that it was told at registration. A reload puts
// another list in place.
type tokens struct {
	list atomic.Pointer[identity.Fixed]
}

func (t *tokens) set(cfg *configs.Config, visitor string) error {
	list, err := tokenList(cfg, visitor)
	if err == nil {
		t.list.Store(list)
	}
	return err
}

// tokenList is the list of a configuration.
func tokenList(cfg *configs.Config, visitor string) (*identity.Fixed, error) {
	list := identity.NewFixed()
	for _, t := range cfg.API.Tokens {
		p := identity.Principal{Name: t.Name, Kind: identity.KindUser, AccountID: cfg.Bridge.Account}
		for _, scope := range t.Scopes {
			p.Scopes = append(p.Scopes, map[string]string{configs.ScopeRead: identity.ScopeRead, configs.ScopeReport: identity.ScopeReport}[scope])
		}
		if err := list.Add(t.Token.Reveal(), p); err != nil {
			return nil, fmt.Errorf("api.tokens: %w", err)
		}
	}
	return list, list.Add(visitor, serviceItself(cfg))
}

// Authenticate finds whose token it is.
func (t *tokens) Authenticate(token string) (identity.Principal, error) {
	return t.list.Load().Authenticate(token)
}

// certificate is the bridge's own, read anew with each reload: certificates are renewed under the same name.
type certificate struct {
	pair atomic.Pointer[tls.Certificate]
}

func (c *certificate) load(cfg *configs.Config, log *slog.Logger) error {
	pair, err := readPair(cfg, log)
	if err == nil {
		c.pair.Store(pair)
	}
	return err
}

// readPair reads the certificate of a configuration, or makes the bridge's own where that is asked for.
func readPair(cfg *configs.Config, log *slog.Logger) (*tls.Certificate, error) {
	t := cfg.API.TLS
	if cfg.MakesCertificate() {
		listen, _, _ := net.SplitHostPort(cfg.API.Listen)
		public := ""
		if u, err := url.Parse(cfg.API.PublicURL); err == nil {
			public = u.Hostname()
		}
		pair, made, err := selfmade.Keep(t.Cert, selfmade.Names(listen, public), time.Now())
		if err != nil {
			return nil, fmt.Errorf("load api.tls: %w", err)
		}
		log.Info("the local API has a certificate of its own making; compare the fingerprint once where it is asked for",
			"sha256", selfmade.Fingerprint(pair.Leaf.Raw), "new", made, "until", pair.Leaf.NotAfter)
		return pair, nil
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("load api.tls: %w", err)
	}
	return &pair, nil
}

// own is the fingerprint of the certificate that is served, if the bridge made it itself.
func (c *certificate) own(cfg *configs.Config) string {
	if pair := c.pair.Load(); pair != nil && cfg.MakesCertificate() {
		return selfmade.Fingerprint(pair.Leaf.Raw)
	}
	return ""
}

// renew makes the bridge's own certificate anew if it ends soon.
func (c *certificate) renew(cfg *configs.Config, log *slog.Logger) {
	if pair := c.pair.Load(); pair == nil || !cfg.MakesCertificate() || !selfmade.Ends(pair, time.Now()) {
		return
	}
	if err := c.load(cfg, log); err != nil {
		log.Warn("the local API's certificate ends soon and could not be made anew", "error", err)
	}
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil }
