package oauth

import (
	"errors"
	"net/http"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// revoke is POST /oauth2/revoke, RFC 7009. It ends an access token, or with a refresh token its
// whole family. A token that is not there or not this client's is no error, so that the answer
// tells nothing. A token that came of a session has no client; whoever holds it may end it.
func (s *OAuth) revoke(w http.ResponseWriter, c *call) error {
	text, err := c.text("token")
	if err != nil {
		return err
	}
	if text == "" {
		return refuse("invalid_request", "missing parameter: token")
	}
	id, _, err := c.credentials()
	if err != nil {
		return err
	}
	var client model.Token
	if id != "" {
		if client, err = s.known(c); err != nil {
			return err
		}
	}
	err = s.store.Update(func(tx *store.Tx) error {
		t, err := tx.Token(text)
		if errors.Is(err, identity.ErrUnknown) || err == nil && (t.Family == "" || t.ClientID != client.ID) {
			return nil
		} else if err != nil {
			return err
		}
		if t.State(tx.Now()) != "active" {
			return nil
		}
		entry := model.AuditEntry{AccountID: t.AccountID, By: t.UserID, From: model.Address(c.from),
			Action: model.AuditDelete, Kind: model.KindToken, Target: t.ID, Name: t.Name}
		if t.Purpose == purposeRefresh {
			return errors.Join(endFamily(tx, t.Family), tx.Record(entry))
		}
		return errors.Join(end(tx, t.ID), tx.Record(entry))
	})
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, struct{}{})
}
