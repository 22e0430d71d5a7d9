package api

import (
	"fmt"
	"sync/atomic"

	"vmsbridge/configs"
	"vmsbridge/uplink/identity"
)

// tokens lets in those of the configuration, and the service with the token that it was told at
// registration. A reload puts another list in place.
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
			p.Scopes = append(p.Scopes,
				map[string]string{configs.ScopeRead: identity.ScopeRead,
					configs.ScopeReport: identity.ScopeReport}[scope])
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

// serviceItself is what the service may do with the token that it was told at registration: look.
func serviceItself(cfg *configs.Config) identity.Principal {
	return identity.Principal{Name: "service", Kind: identity.KindUser, AccountID: cfg.Bridge.Account,
		Scopes: []string{identity.ScopeRead}}
}
