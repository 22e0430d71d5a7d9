package oauth

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

// What a user answers when asked for consent.
const (
	allow = "allow"
	deny  = "deny"
)

var (
	errDenied  = refuse("access_denied", "the user did not agree")
	errConsent = refuse("consent_required",
		"the user has not agreed yet: open this address in a browser that is signed in")
	errProof = &Error{http.StatusForbidden, "access_denied",
		"this page is too old, or of another session: go back to the application and begin anew"}
)

// proof is what only the page that asked can send back: made with the key of the session, which
// other sites do not know, from what the page named.
func (a asking) proof(key string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("consent\x00" + a.query.Encode()))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// decision is what the user answered, "" if they were not asked.
func (s *OAuth) decision(c *call, a asking) (string, error) {
	in, err := c.texts("decision", "proof")
	if err != nil || c.r.Method != http.MethodPost || in[0] == "" {
		return "", err
	}
	key, _ := c.set.Session()
	switch {
	case !identity.SameHash([]byte(in[1]), []byte(a.proof(key))):
		return "", errProof
	case in[0] != allow && in[0] != deny:
		return "", refuse("invalid_request", "decision must be allow or deny")
	}
	return in[0], nil
}

// consented reports whether the user lets the client do what it asks for, and keeps an answer just
// given.
func (s *OAuth) consented(tx *store.Tx, me session.Caller, a asking, decision string) (bool, error) {
	u, err := tx.User(me.User.ID)
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(u.Inner.Consents, func(x model.Consent) bool { return x.ClientID == a.client.ID })
	if decision != allow {
		return at >= 0 && covers(u.Inner.Consents[at].Scopes, a.Scopes), nil
	}
	given := model.Consent{ClientID: a.client.ID, Scopes: slices.Clone(a.Scopes), Since: tx.Now()}
	kept := make([]model.Consent, 0, len(u.Inner.Consents)+1)
	for i, x := range u.Inner.Consents {
		if _, err := tx.TokenByID(x.ClientID); i != at && !errors.Is(err, identity.ErrNotFound) {
			kept = append(kept, x)
		} else if i == at {
			given.Scopes = slices.Compact(slices.Sorted(slices.Values(append(given.Scopes, x.Scopes...))))
		}
	}
	u.Inner.Consents = append(kept, given)
	entry := me.Entry(u.OwnerAccountID, model.AuditCreate, model.KindToken, a.client.ID, a.client.Name)
	entry.Fields = []string{"consent"}
	return true, errors.Join(tx.PutUser(u), tx.Record(entry))
}

// covers reports whether scopes hold all those that are asked for.
func covers(have, asked []string) bool {
	return slices.Contains(have, identity.ScopeAll) ||
		!slices.ContainsFunc(asked, func(s string) bool { return !slices.Contains(have, s) })
}

// Consent is what a user lets a client do, as it is listed.
type Consent struct {
	ClientID string    `json:"client_id"`
	Name     string    `json:"name"`
	Scopes   []string  `json:"scopes"`
	Created  time.Time `json:"created"`
}

// Consents lists what a user lets clients do that are still there.
func Consents(tx *store.Tx, u model.User) ([]Consent, error) {
	out := []Consent{}
	for _, x := range u.Inner.Consents {
		client, err := tx.TokenByID(x.ClientID)
		if errors.Is(err, identity.ErrNotFound) || err == nil && client.State(tx.Now()) != "active" {
			continue
		} else if err != nil {
			return nil, err
		}
		out = append(out, Consent{x.ClientID, client.Name, x.Scopes, x.Since})
	}
	return out, nil
}

// EndConsent takes back what a user, who is stored, lets a client do: its tokens of the user end at
// once. The error wraps identity.ErrNotFound if the user lets it do nothing.
func EndConsent(tx *store.Tx, u model.User, client string) error {
	kept := slices.DeleteFunc(slices.Clone(u.Inner.Consents),
		func(x model.Consent) bool { return x.ClientID == client })
	if len(kept) == len(u.Inner.Consents) {
		return identity.ErrNotFound
	}
	u.Inner.Consents = kept
	list, err := tx.Tokens()
	for _, t := range list {
		if t.ClientID == client && t.UserID == u.ID {
			err = cmp.Or(err, end(tx, t.ID))
		}
	}
	return errors.Join(err, tx.DropTickets(u.ID, model.PurposeCode), tx.PutUser(u))
}

// consents is GET /oauth2/consents: those of whoever is signed in.
func (s *OAuth) consents(w http.ResponseWriter, c *call) error {
	me, err := s.signedIn(c)
	if err != nil {
		return err
	}
	c.right = true
	var list []Consent
	err = s.store.View(func(tx *store.Tx) error {
		u, err := tx.User(me.User.ID)
		if err == nil {
			list, err = Consents(tx, u)
		}
		return err
	})
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, map[string]any{"results": list})
}

// endConsent is DELETE /oauth2/consents?id=CLIENT.
func (s *OAuth) endConsent(w http.ResponseWriter, c *call) error {
	me, err := s.signedIn(c)
	if err != nil {
		return err
	}
	c.right = true
	id, err := c.text("id")
	if err != nil {
		return err
	}
	err = s.store.Update(func(tx *store.Tx) error {
		u, err := tx.User(me.User.ID)
		if err == nil {
			err = EndConsent(tx, u, id)
		}
		if errors.Is(err, identity.ErrNotFound) {
			return errNone
		} else if err != nil {
			return err
		}
		entry := me.Entry(u.OwnerAccountID, model.AuditDelete, model.KindToken, id, "")
		entry.Fields = []string{"consent"}
		return tx.Record(entry)
	})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
