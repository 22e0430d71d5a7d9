package agent

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"

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

func (c *certificate) load(t configs.TLS) error {
	pair, err := readPair(t)
	if err == nil {
		c.pair.Store(pair)
	}
	return err
}

func readPair(t configs.TLS) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("load api.tls: %w", err)
	}
	return &pair, nil
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil }
