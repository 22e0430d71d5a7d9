package oauth

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// issued is the answer of the token endpoint, in the public service's form.
type issued struct {
	AccessToken  string      `json:"access_token"`
	TokenType    string      `json:"token_type"`
	ExpiresIn    int         `json:"expires_in"`
	RefreshToken string      `json:"refresh_token,omitempty"`
	Scope        string      `json:"scope"`
	BaseURL      vms.BaseURL `json:"httpsBaseUrl"`
}

// grant is what tokens are made of.
type grant struct {
	client  model.Token // empty for a session's token
	user    model.User  // empty for a client's own token
	account string
	scopes  []string // of the access token
	family  string   // "" begins one
	refresh bool
	kept    []string  // scopes of the refresh token
	until   time.Time // end of the family
	session []byte
	from    netip.Addr
}

var (
	errGrant    = refuse("invalid_grant", "what was to be exchanged is wrong, used, expired or not this client's")
	errPassword = refuse("invalid_grant", "the address or the password is wrong, or the user may not sign in")
	errFactor   = refuse("invalid_grant", "this user signs in with a code; use the authorization code flow")
)

// token is POST /oauth2/token.
func (s *OAuth) token(w http.ResponseWriter, c *call) error {
	kind, err := c.text("grant_type")
	if err != nil {
		return err
	}
	grants := map[string]func(*call, model.Token) (exchange, error){"password": s.password,
		"authorization_code": s.code,
		"refresh_token":      s.rotate, "client_credentials": s.credentials}
	begin, ok := grants[kind]
	var client model.Token
	switch {
	case kind == "":
		return refuse("invalid_request", "missing parameter: grant_type")
	case kind == "cookie":
		begin = s.cookie
	case !ok:
		return refuse("unsupported_grant_type", "there is no such grant")
	default:
		if client, err = s.known(c); err != nil {
			return err
		}
	}
	give, err := begin(c, client)
	if err != nil {
		return err
	}
	out, err := s.issue(give)
	if err != nil {
		return err
	}
	c.right = true
	out.BaseURL = vms.BaseOf(s.here(c.r))
	return answer(w, http.StatusOK, out)
}

// known authenticates the client of a request.
func (s *OAuth) known(c *call) (t model.Token, err error) {
	id, secret, err := c.credentials()
	if err != nil {
		return t, err
	}
	err = s.store.View(func(tx *store.Tx) error { t, err = s.client(tx, id, secret); return err })
	return t, err
}

// exchange takes what is exchanged for tokens, in the transaction that makes these. When it
// refuses, what it did is kept; when no tokens can be made of what it took, it was not taken.
type exchange func(*store.Tx) (grant, error)

// give is an exchange of nothing.
func give(g grant) exchange { return func(*store.Tx) (grant, error) { return g, nil } }

// issue makes the tokens of an exchange.
func (s *OAuth) issue(take exchange) (out issued, err error) {
	var answer *Error
	err = s.store.Update(func(tx *store.Tx) error {
		answer = nil
		g, err := take(tx)
		if errors.As(err, &answer) {
			return nil
		} else if err != nil {
			return err
		}
		out, err = issue(tx, g)
		return err
	})
	if err == nil && answer != nil {
		err = answer
	}
	return out, err
}

// issue makes the tokens of a grant. The user, if there is one, may act now, or it is errGrant.
func issue(tx *store.Tx, g grant) (issued, error) {
	t := model.Token{Kind: identity.KindUser, AccountID: g.account, UserID: g.user.ID, Name: g.client.Name,
		Scopes: g.scopes, ClientID: g.client.ID,
		Family: g.family, Expires: tx.Now().Add(accessTime), Session: g.session}
	if g.user.ID == "" {
		t.Kind = identity.KindBridge // a machine, which may bring a bridge along
	}
	if t.Name == "" {
		t.Name = g.user.Email
	}
	if t.Family == "" {
		t.Family = newFamily()
	}
	account, err := tx.Account(g.account)
	if err == nil && g.user.ID != "" {
		var p identity.Principal
		if p, err = tx.Principal(g.user, account); err == nil && !p.From(g.from) {
			err = identity.ErrUnknown
		}
	}
	if errors.Is(err, identity.ErrUnknown) || errors.Is(err, identity.ErrNotFound) {
		return issued{}, errGrant
	} else if err != nil {
		return issued{}, err
	}
	access, text, err := join(tx, t)
	if err != nil {
		return issued{}, err
	}
	out := issued{AccessToken: text, TokenType: "Bearer", ExpiresIn: int(accessTime / time.Second),
		Scope: strings.Join(g.scopes, " ")}
	if g.refresh {
		t.Purpose, t.Scopes, t.Until, t.Expires = purposeRefresh, g.kept, g.until, tx.Now().Add(refreshIdle)
		if t.Until.IsZero() {
			t.Until = tx.Now().Add(refreshLife)
		}
		if t.Expires.After(t.Until) {
			t.Expires = t.Until
		}
		if _, out.RefreshToken, err = join(tx, t); err != nil {
			return issued{}, err
		}
	}
	if !g.until.IsZero() {
		return out, nil // more of a family that stands in the trail already
	}
	e := model.AuditEntry{AccountID: g.account, By: g.user.ID, ByName: g.user.Email, Action: model.AuditCreate,
		Kind: model.KindToken, Target: access.ID, Name: access.Name,
		From: model.Address(g.from)}
	return out, tx.Record(e)
}

// password is the grant of RFC 6749 §4.3. It passes the same states, limits and locks as a sign-in.
func (s *OAuth) password(c *call, client model.Token) (exchange, error) {
	in, err := c.texts("username", "password", "scope")
	if err != nil {
		return nil, err
	}
	if in[0] == "" || in[1] == "" {
		return nil, refuse("invalid_request", "missing parameters: username, password")
	}
	scopes, err := narrow(in[2], client.Scopes)
	if err != nil {
		return nil, err
	}
	u, err := s.sessions.Password(c.r.Context(), session.Login{Email: in[0], Password: in[1], From: c.from})
	var why *api.Error
	switch {
	case errors.Is(err, session.ErrFactor):
		return nil, errFactor
	case errors.As(err, &why):
		return nil, errPassword
	case err != nil:
		return nil, err
	}
	return func(tx *store.Tx) (grant, error) {
		if ok, err := serves(tx, client, u); err != nil {
			return grant{}, err
		} else if !ok {
			return grant{}, errPassword
		}
		return grant{client: client, user: u, account: u.OwnerAccountID, scopes: scopes, refresh: true, kept: scopes,
			from: c.from}, nil
	}, nil
}

// credentials is the grant of RFC 6749 §4.4: a token of the client's account without a user.
func (s *OAuth) credentials(c *call, client model.Token) (exchange, error) {
	asked, err := c.text("scope")
	if err != nil {
		return nil, err
	}
	if client.Public {
		return nil, refuse("unauthorized_client", "a client without a secret gets no token of its own")
	}
	scopes, err := scope(asked, client.Scopes)
	return give(grant{client: client, account: client.AccountID, scopes: scopes, from: c.from}), err
}

// cookie makes a token of a session, for the account that the session is in. It ends with the
// session.
func (s *OAuth) cookie(c *call, _ model.Token) (exchange, error) {
	asked, err := c.text("scope")
	if err != nil {
		return nil, err
	}
	me, err := s.signedIn(c)
	if err != nil {
		return nil, err
	}
	scopes, err := narrow(asked, nil)
	return give(grant{user: me.User, account: me.Active.ID, scopes: scopes, session: me.Session.Hash, from: c.from}),
		err
}

// rotate is the grant of RFC 6749 §6: another access token, with fewer scopes if that is asked for,
// and another refresh token in place of this one. A refresh token that was exchanged before ends
// its family: one of the two who have it is a thief.
func (s *OAuth) rotate(c *call, client model.Token) (exchange, error) {
	in, err := c.texts("refresh_token", "scope")
	if err != nil {
		return nil, err
	}
	if in[0] == "" {
		return nil, refuse("invalid_request", "missing parameter: refresh_token")
	}
	return func(tx *store.Tx) (grant, error) {
		t, err := tx.Token(in[0])
		switch {
		case errors.Is(err, identity.ErrUnknown), err == nil &&
			(t.Purpose != purposeRefresh || t.ClientID != client.ID):
			return grant{}, errGrant
		case err != nil:
			return grant{}, err
		case !t.Used.IsZero():
			s.log.Warn("a refresh token came twice; its family is revoked", "client", client.ID, "user", t.UserID,
				"account", t.AccountID)
			return grant{}, stolen(tx, t.Family,
				model.AuditEntry{AccountID: t.AccountID, From: model.Address(c.from), Target: t.ID, Name: t.Name})
		case t.State(tx.Now()) != "active":
			return grant{}, errGrant
		}
		scopes, err := scope(in[1], t.Scopes)
		if err != nil {
			return grant{}, err
		}
		u, err := tx.User(t.UserID)
		if errors.Is(err, identity.ErrNotFound) || err == nil && u.Ousts(t.Created) {
			return grant{}, errGrant
		} else if err != nil {
			return grant{}, err
		}
		t.Used = tx.Now()
		return grant{client: client, user: u, account: t.AccountID, scopes: slices.Clone(scopes), family: t.Family,
			refresh: true, kept: t.Scopes, until: t.Until,
			from: c.from}, tx.PutToken(t)
	}, nil
}
