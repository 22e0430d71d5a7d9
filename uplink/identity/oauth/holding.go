package oauth

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

// holding is a kind of thing that an account holds.
type holding struct {
	purpose string
	// may says who may see and change them in an account at a place.
	may func(session.Caller, model.Place) bool
}

// A client's own token sees all of the account, so that only those who do so themselves may make
// one. A key opens nothing and belongs to the account's settings.
var (
	clients = holding{purposeClient, func(me session.Caller, p model.Place) bool { return me.Rule().Admin(p) }}
	apiKeys = holding{PurposeKey, func(me session.Caller, p model.Place) bool {
		_, full := model.MayReadAccount(me.Rule(), p)
		return full
	}}
)

// maxHeld bounds how many of a kind an account has that are not revoked.
const maxHeld = 100

const maxName = 100

var (
	errRights = &Error{http.StatusForbidden, "access_denied", "the user lacks the privileges for this"}
	errNone   = &Error{http.StatusNotFound, "not_found", "the account has nothing of that id"}
)

// shown is how something held is listed: without its secret.
type shown struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	State     string    `json:"state"` // active or revoked
	Created   time.Time `json:"created"`
	Revoked   time.Time `json:"revoked,omitzero"`
	Redirects []string  `json:"redirect_uris,omitempty"`
	Scopes    []string  `json:"scopes,omitempty"`
	Public    bool      `json:"is_public,omitempty"`
}

func show(t model.Token, now time.Time) shown {
	return shown{t.ID, t.Name, t.State(now), t.Created, t.Revoked, t.Redirects, t.Scopes, t.Public}
}

// held finds who asks, by session. What is done is about the account that the session is in.
func (s *OAuth) held(kind holding, do func(http.ResponseWriter, *call, holding, session.Caller) error) handler {
	return func(w http.ResponseWriter, c *call) error {
		me, err := s.signedIn(c)
		if err != nil {
			return err
		}
		if !kind.may(me, me.Place(me.Active)) {
			return errRights
		}
		c.right = true // the session
		return do(w, c, kind, me)
	}
}

// again checks the rights within the transaction, since they may have been taken away meanwhile.
func (s *OAuth) again(tx *store.Tx, c *call, kind holding) (session.Caller, error) {
	key, _ := c.set.Session()
	me, err := s.sessions.CallerIn(tx, key, c.from)
	var why *api.Error
	if errors.As(err, &why) {
		return me, errSession
	}
	if err == nil && !kind.may(me, me.Place(me.Active)) {
		err = errRights
	}
	return me, err
}

// of lists what an account has of a kind, oldest first.
func of(tx *store.Tx, kind holding, account string) (out []model.Token, err error) {
	list, err := tx.Tokens()
	for _, t := range list {
		if t.Purpose == kind.purpose && t.AccountID == account {
			out = append(out, t)
		}
	}
	return out, err
}

// list is GET.
func (s *OAuth) list(w http.ResponseWriter, c *call, kind holding, _ session.Caller) error {
	out := []shown{}
	err := s.store.View(func(tx *store.Tx) error {
		out = out[:0]
		me, err := s.again(tx, c, kind)
		if err != nil {
			return err
		}
		list, err := of(tx, kind, me.Active.ID)
		for _, t := range list {
			out = append(out, show(t, tx.Now()))
		}
		return err
	})
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, map[string]any{"results": out})
}

// create is POST. The secret stands in this answer and never again.
func (s *OAuth) create(w http.ResponseWriter, c *call, kind holding, _ session.Caller) error {
	t, err := c.described(kind)
	if err != nil {
		return err
	}
	var text string
	wanted := t
	err = s.store.Update(func(tx *store.Tx) error {
		t = wanted
		me, err := s.again(tx, c, kind)
		if err != nil {
			return err
		}
		list, err := of(tx, kind, me.Active.ID)
		active := 0
		for _, old := range list {
			if old.State(tx.Now()) == "active" {
				active++
			}
		}
		if err != nil {
			return err
		} else if active >= maxHeld {
			return refuse("invalid_request", "the account has too many of these; revoke some first")
		}
		if t.AccountID = me.Active.ID; me.Home.ID != me.Active.ID {
			t.Maker = me.Home.ID
		}
		if t, text, err = tx.AddToken(t); err != nil {
			return err
		}
		return tx.Record(me.Entry(t.AccountID, model.AuditCreate, model.KindToken, t.ID, t.Name))
	})
	if err != nil {
		return err
	}
	out := struct {
		shown
		ClientID string `json:"client_id,omitempty"`
		Secret   string `json:"client_secret,omitempty"`
		Key      string `json:"key,omitempty"`
	}{shown: show(t, s.store.Now())}
	if kind.purpose == PurposeKey {
		out.Key = text
	} else if out.ClientID = t.ID; !t.Public {
		out.Secret = text
	}
	return answer(w, http.StatusCreated, out)
}

// described reads what is to be made.
func (c *call) described(kind holding) (model.Token, error) {
	t := model.Token{Kind: identity.KindUser, Purpose: kind.purpose}
	known := []string{"name"}
	if kind.purpose == purposeClient {
		known = append(known, "redirect_uris", "scopes", "is_public")
	}
	if err := errors.Join(c.set.Expect(known...), c.set.Need("name")); err != nil {
		return t, err
	}
	var err1, err2, err3 error
	t.Name, err1 = c.text("name")
	t.Public, err2 = c.set.Bool("is_public")
	for name, into := range map[string]*[]string{"redirect_uris": &t.Redirects, "scopes": &t.Scopes} {
		raw, err := c.set.JSON(name, api.Texts)
		if err3 = cmp.Or(err3, err); err == nil && raw != nil {
			err3 = cmp.Or(err3, json.Unmarshal(raw, into))
		}
	}
	if err := errors.Join(err1, err2, err3); err != nil {
		return t, err
	}
	return t, checkHeld(&t)
}

// NewClient is a client of OAuth to be stored with store.CreateToken: its id is the token's, its
// secret the token's text.
// A public one, such as an app on a phone, has no secret.
func NewClient(account, name string, redirects, scopes []string, public bool) (model.Token, error) {
	t := model.Token{Kind: identity.KindUser, Purpose: purposeClient, AccountID: account, Name: name,
		Redirects: redirects, Scopes: scopes, Public: public}
	return t, checkHeld(&t)
}

// IsClient says whether a token is a client.
func IsClient(t model.Token) bool { return t.Purpose == purposeClient }

// checkHeld says what is wrong with something held, and settles its scopes.
func checkHeld(t *model.Token) (err error) {
	if len(t.Name) > maxName {
		return refuse("invalid_request", "name: it is longer than 100 bytes")
	}
	if len(t.Redirects) > 20 {
		return refuse("invalid_request", "redirect_uris: there are more than 20")
	}
	for _, to := range t.Redirects {
		if !checkRedirect(to) {
			return refuse("invalid_redirect_uri",
				"redirect_uris: use https, http to 127.0.0.1, or a scheme such as org.example.app, without a fragment")
		}
	}
	if asked := strings.Join(t.Scopes, " "); strings.TrimSpace(asked) == "" {
		t.Scopes = nil
	} else if t.Scopes, err = scope(asked, nil); err != nil {
		return err
	}
	return nil
}

// remove is DELETE: it ends a client with all that it got, or a key.
func (s *OAuth) remove(w http.ResponseWriter, c *call, kind holding, _ session.Caller) error {
	id, err := c.text("id")
	if err != nil {
		return err
	}
	if id == "" {
		return refuse("invalid_request", "missing parameter: id")
	}
	err = s.store.Update(func(tx *store.Tx) error {
		me, err := s.again(tx, c, kind)
		if err != nil {
			return err
		}
		t, err := tx.TokenByID(id)
		if errors.Is(err, identity.ErrNotFound) || err == nil &&
			(t.Purpose != kind.purpose || t.AccountID != me.Active.ID) {
			return errNone
		} else if err != nil {
			return err
		}
		list, err := tx.Tokens()
		for _, other := range list {
			if other.ID == id || kind.purpose == purposeClient && other.ClientID == id {
				err = errors.Join(err, end(tx, other.ID))
			}
		}
		return errors.Join(err, tx.Record(me.Entry(t.AccountID, model.AuditDelete, model.KindToken, t.ID, t.Name)))
	})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// CheckKey says whether an API key is one that an account which is active made and did not revoke.
func CheckKey(ids *store.Store, text string) (ok bool, err error) {
	err = ids.View(func(tx *store.Tx) error {
		t, err := tx.Token(text)
		if errors.Is(err, identity.ErrUnknown) {
			return nil
		} else if err != nil {
			return err
		}
		a, err := tx.Account(t.AccountID)
		ok = err == nil && t.Purpose == PurposeKey && t.State(tx.Now()) == "active" && a.Is(model.StatusActive)
		return err
	})
	return ok, err
}
