package oauth

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// The purposes of tokens that open nothing by themselves. A client's id is its token's id, its
// secret the token's text. A token of PurposeKey is an API key, which CheckKey takes.
const (
	purposeClient  = "client"
	purposeRefresh = "refresh"
	PurposeKey     = "key"
)

// credentials are what a client says of itself, in the header (client_secret_basic) or the body
// (client_secret_post). RFC 6749 §2.3 forbids both at once.
func (c *call) credentials() (id, secret string, err error) {
	in, err := c.texts("client_id", "client_secret")
	if err != nil {
		return "", "", err
	}
	user, password, basic := c.r.BasicAuth()
	if !basic {
		return in[0], in[1], nil
	}
	user, err1 := url.QueryUnescape(user)
	password, err2 := url.QueryUnescape(password)
	if err1 != nil || err2 != nil {
		return "", "", errClient
	}
	if in[1] != "" || in[0] != "" && in[0] != user {
		return "", "", refuse("invalid_request", "the client must authenticate in one way")
	}
	return user, password, nil
}

// client finds and authenticates the client of a request. Every reason why it is not good is the
// same 401. A public client only says its name.
func (s *OAuth) client(tx *store.Tx, id, secret string) (model.Token, error) {
	t, err := tx.TokenByID(id)
	if errors.Is(err, identity.ErrNotFound) || id == "" {
		return t, errClient
	} else if err != nil {
		return t, err
	}
	if t.Purpose != purposeClient || t.State(tx.Now()) != "active" {
		return t, errClient
	}
	if !t.Public || secret != "" {
		same, err := tx.Token(secret)
		if errors.Is(err, identity.ErrUnknown) || err == nil && (same.ID != t.ID || t.Public) {
			return t, errClient
		} else if err != nil {
			return t, err
		}
	}
	a, err := tx.Account(t.AccountID)
	if err != nil || !a.Is(model.StatusActive) {
		return t, errClient
	}
	return t, nil
}

// serves says whether a client serves a user: one of its own account or of an account below that.
func serves(tx *store.Tx, client model.Token, u model.User) (bool, error) {
	if u.OwnerAccountID == client.AccountID {
		return true, nil
	}
	home, err := tx.Account(u.OwnerAccountID)
	if err != nil {
		return false, err
	}
	return home.Child() && home.OwnerAccountID == client.AccountID, nil
}

// passedOver are scopes of OpenID Connect, which programs ask for by habit. What was given instead
// is said (RFC 6749 §3.3).
var passedOver = []string{"openid", "profile", "email", "offline_access"}

// wished are the scopes asked for.
func wished(asked string) []string {
	return slices.DeleteFunc(strings.Fields(asked), func(name string) bool { return slices.Contains(passedOver, name) })
}

// scope chooses scopes: those asked for, or all that there are to have. allowed is what may be had,
// nil for all.
func scope(asked string, allowed []string) ([]string, error) {
	if len(allowed) == 0 {
		allowed = []string{identity.ScopeAll}
	}
	names := wished(asked)
	if len(names) == 0 {
		return allowed, nil
	}
	var out []string
	for _, name := range names {
		if !slices.Contains(identity.Scopes, name) || !slices.Contains(allowed, name) &&
			!slices.Contains(allowed, identity.ScopeAll) {
			return nil, refuse("invalid_scope", "there is no such scope, or it may not be had; there are: "+
				strings.Join(allowed, " "))
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

// narrow is scope for who acts with a user's leave: without a wish it may read.
func narrow(asked string, allowed []string) ([]string, error) {
	if len(wished(asked)) == 0 {
		if s, err := scope(identity.ScopeRead, allowed); err == nil {
			return s, nil
		}
	}
	return scope(asked, allowed)
}

// checkRedirect says whether an address can be registered for codes: https, plain http to this
// device only, or a scheme of an app's own (RFC 8252 §7), and never with a fragment.
func checkRedirect(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Fragment != "" || strings.Contains(text, "#") || u.User != nil || len(text) > 500 {
		return false
	}
	switch u.Scheme {
	case "https":
		return u.Host != ""
	case "http":
		return loopback(u)
	}
	return strings.Contains(u.Scheme, ".")
}

func loopback(u *url.URL) bool {
	h := u.Hostname()
	return h == "127.0.0.1" || h == "::1" || h == "localhost"
}

// redirects says whether a client may have a code sent to an address: one that is registered letter
// by letter, except for the port on the device itself, which an app does not know beforehand (RFC
// 8252 §7.3).
func redirects(client model.Token, to string) bool {
	return slices.ContainsFunc(client.Redirects, func(known string) bool {
		if known == to {
			return true
		}
		k, err1 := url.Parse(known)
		u, err2 := url.Parse(to)
		if err1 != nil || err2 != nil || k.Scheme != "http" || !loopback(k) || u.User != nil ||
			strings.Contains(to, "#") {
			return false
		}
		return u.Scheme == "http" && u.Hostname() == k.Hostname() && u.EscapedPath() == k.EscapedPath() &&
			u.RawQuery == k.RawQuery
	})
}
