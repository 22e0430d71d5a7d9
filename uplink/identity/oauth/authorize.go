package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

// approval is what an authorization code stands for. It is kept as the ticket's change.
type approval struct {
	Client    string   `json:"client"`
	Redirect  string   `json:"redirect,omitempty"` // as it was asked for, "" if it was left out
	Challenge string   `json:"challenge,omitempty"`
	Scopes    []string `json:"scopes"`
	Account   string   `json:"account"`
	Family    string   `json:"family"`
}

// pkceForm is a verifier or a challenge, RFC 7636 §4.1 and §4.2.
var pkceForm = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// signedIn is who is signed in, by a session in a parameter or a cookie.
func (s *OAuth) signedIn(c *call) (session.Caller, error) {
	key, from := c.set.Session()
	if from == api.FromCookie && c.r.Method != http.MethodGet {
		if err := s.o.Gate.SameSite(c.r); err != nil {
			return session.Caller{}, errSite
		}
	}
	me, err := s.sessions.Caller(key, c.from)
	var why *api.Error
	if errors.As(err, &why) {
		return me, errSession
	}
	return me, err
}

// asking is a request for a code, once it is known whose answer it is and where that goes.
type asking struct {
	approval
	client model.Token
	to     *url.URL
	state  string
	// query is the request as it is asked again after a sign-in or a decision, without a session.
	query url.Values
}

// asked reads a request for a code. refused is what the client is told.
func (s *OAuth) asked(c *call) (a asking, refused *Error, err error) {
	in, err := c.texts("client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge",
		"code_challenge_method")
	if err != nil {
		return a, nil, err
	}
	a.approval = approval{Client: in[0], Redirect: in[1], Challenge: in[5], Family: newFamily()}
	a.state, a.query = in[4], url.Values{}
	for i, name := range []string{"client_id", "redirect_uri", "response_type", "scope", "state", "code_challenge",
		"code_challenge_method"} {
		if in[i] != "" {
			a.query.Set(name, in[i])
		}
	}
	if a.client, a.to, err = s.destination(in[0], in[1]); err != nil {
		return a, nil, err // nobody is sent to an address that is not the client's
	}
	a.Scopes, err = narrow(in[3], a.client.Scopes)
	switch {
	case in[2] != "code":
		return a, refuse("unsupported_response_type", "response_type must be code"), nil
	case errors.As(err, &refused):
		return a, refused, nil
	case err != nil:
		return a, nil, err
	case a.Challenge == "" && a.client.Public:
		return a, refuse("invalid_request", "missing parameter: code_challenge"), nil
	case a.Challenge == "" && in[6] != "", a.Challenge != "" && (in[6] != "S256" || !pkceForm.MatchString(a.Challenge)):
		return a, refuse("invalid_request", "code_challenge_method must be S256"), nil
	}
	return a, nil, nil
}

// back sends the browser back to the client, with a code or why there is none.
func (a asking) back(w http.ResponseWriter, e *Error, code string) error {
	to := *a.to
	q := to.Query()
	if e != nil {
		q.Set("error", e.Code)
		q.Set("error_description", e.Description)
	} else {
		q.Set("code", code)
	}
	if a.state != "" {
		q.Set("state", a.state)
	}
	to.RawQuery = q.Encode()
	w.Header().Set("Location", to.String())
	w.WriteHeader(http.StatusFound)
	return nil
}

// authorize is /oauth2/authorize: it sends whoever is signed in, and lets the client, back to it
// with a code. A client serves the people of its own account and those below. Whoever was not asked
// yet is asked by a page.
func (s *OAuth) authorize(w http.ResponseWriter, c *call) error {
	a, refused, err := s.asked(c)
	if err != nil {
		return err
	} else if refused != nil {
		return a.back(w, refused, "")
	}
	me, err := s.signedIn(c)
	switch {
	case errors.Is(err, errSession) && c.r.Method == http.MethodGet && s.o.SignIn != "":
		http.Redirect(w, c.r, s.o.SignIn+"?next="+url.QueryEscape(c.r.URL.RequestURI()), http.StatusFound)
		return nil
	case errors.Is(err, errSession) && c.r.Method == http.MethodGet &&
		strings.Contains(c.r.Header.Get("Accept"), "text/html"):
		return s.signInPage(w, http.StatusOK, a, view{})
	case err != nil:
		return err
	}
	decision, err := s.decision(c, a)
	if err != nil {
		return err
	} else if decision == deny {
		return a.back(w, errDenied, "")
	}
	code := identity.NewToken(48)
	a.Account = me.Active.ID
	var ask *view
	err = s.store.Update(func(tx *store.Tx) error {
		ask = nil
		if ok, err := serves(tx, a.client, me.User); err != nil {
			return err
		} else if !ok {
			return refuse("access_denied", "the client does not serve this user's account")
		}
		if ok, err := s.consented(tx, me, a, decision); err != nil {
			return err
		} else if !ok {
			ask, err = question(tx, me, a)
			return err
		}
		raw, err := json.Marshal(a.approval)
		if err != nil {
			return err
		}
		return tx.PutTicket(model.Ticket{Hash: identity.HashToken(code), Purpose: model.PurposeCode,
			AccountID: me.User.OwnerAccountID, UserID: me.User.ID,
			Created: tx.Now(), Expires: tx.Now().Add(codeTime), Change: raw})
	})
	var e *Error
	switch {
	case errors.As(err, &e):
		return a.back(w, e, "")
	case err != nil:
		return err
	case ask == nil:
		return a.back(w, nil, code)
	}
	key, from := c.set.Session()
	if from != api.FromCookie {
		return a.back(w, errConsent, "")
	}
	ask.Proof = a.proof(key)
	return s.page(w, http.StatusOK, a, "consent", *ask)
}

// destination finds the client and the address to send the code to. It may be left out if the
// client has one only.
func (s *OAuth) destination(id, asked string) (model.Token, *url.URL, error) {
	var client model.Token
	err := s.store.View(func(tx *store.Tx) error {
		t, err := tx.TokenByID(id)
		if errors.Is(err, identity.ErrNotFound) || id == "" || err == nil &&
			(t.Purpose != purposeClient || t.State(tx.Now()) != "active") {
			return refuse("invalid_request", "client_id: there is no such client")
		}
		client = t
		return err
	})
	if err != nil {
		return client, nil, err
	}
	to := asked
	if to == "" && len(client.Redirects) == 1 {
		to = client.Redirects[0]
	} else if !redirects(client, to) {
		return client, nil, refuse("invalid_request", "redirect_uri: it is not registered for this client")
	}
	u, err := url.Parse(to)
	if err != nil {
		return client, nil, refuse("invalid_request", "redirect_uri: it cannot be read")
	}
	return client, u, nil
}

// code is the grant of RFC 6749 §4.1.3. A code that comes a second time ends what came of the
// first.
func (s *OAuth) code(c *call, client model.Token) (exchange, error) {
	in, err := c.texts("code", "redirect_uri", "code_verifier")
	if err != nil {
		return nil, err
	}
	if in[0] == "" {
		return nil, refuse("invalid_request", "missing parameter: code")
	}
	return func(tx *store.Tx) (grant, error) {
		t, err := tx.Ticket(identity.HashToken(in[0]))
		if errors.Is(err, identity.ErrNotFound) || err == nil && t.Purpose != model.PurposeCode {
			return grant{}, errGrant
		} else if err != nil {
			return grant{}, err
		}
		var a approval
		if err := json.Unmarshal(t.Change, &a); err != nil {
			return grant{}, fmt.Errorf("read code: %w", err)
		}
		switch {
		case a.Client != client.ID:
			return grant{}, errGrant
		case t.Used:
			s.log.Warn("an authorization code came twice; what came of it is revoked", "client", client.ID, "user",
				t.UserID)
			return grant{}, stolen(tx, a.Family,
				model.AuditEntry{AccountID: a.Account, From: model.Address(c.from), Target: client.ID,
					Name: client.Name})
		case !t.Good(model.PurposeCode, tx.Now()), !a.sameRedirect(in[1], client), !proves(in[2], a.Challenge):
			return grant{}, errGrant
		}
		u, err := tx.User(t.UserID)
		if errors.Is(err, identity.ErrNotFound) || err == nil && u.Ousts(t.Created) {
			return grant{}, errGrant
		} else if err != nil {
			return grant{}, err
		}
		t.Used = true
		return grant{client: client, user: u, account: a.Account, scopes: a.Scopes, family: a.Family, refresh: true,
			kept: a.Scopes, from: c.from}, tx.PutTicket(t)
	}, nil
}

// sameRedirect says whether the client names the address that the code was sent to. It may leave it
// out where it did so before.
func (a approval) sameRedirect(to string, client model.Token) bool {
	if a.Redirect != "" {
		return to == a.Redirect
	}
	return to == "" || slices.Contains(client.Redirects, to)
}

// proves says whether a verifier is that of a challenge. Where there was no challenge there is
// none: a verifier without one means that somebody took the challenge away.
func proves(verifier, challenge string) bool {
	if challenge == "" {
		return verifier == ""
	}
	sum := sha256.Sum256([]byte(verifier))
	return pkceForm.MatchString(verifier) && identity.SameHash([]byte(base64.RawURLEncoding.EncodeToString(sum[:])),
		[]byte(challenge))
}
