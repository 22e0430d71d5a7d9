package store

import (
	"errors"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
)

// What a Principal.Holder begins with.
const (
	holderUser   = "user:"
	holderClient = "client:"
	holderToken  = "token:"
)

// holderOf is who holds a token, in the words of Principal.Holder.
func holderOf(t model.Token) string {
	switch {
	case t.UserID != "":
		return holderUser + t.UserID
	case t.ClientID != "":
		return holderClient + t.ClientID
	}
	return holderToken + t.ID
}

// HolderStands says whether a holder, as Principal.Holder names it, may still hold tokens: it is
// there, and neither revoked, expired nor disabled. What it is called is for people: the name of a
// token or client, the address of a user.
func (s *Store) HolderStands(holder string) (name string, stands bool, err error) {
	err = s.View(func(tx *Tx) error {
		if id, ok := strings.CutPrefix(holder, holderUser); ok {
			u, err := tx.User(id)
			name, stands = u.Email, err == nil && !u.Disabled()
			return err
		}
		_, id, _ := strings.Cut(holder, ":")
		t, err := tx.TokenByID(id)
		name, stands = t.Name, err == nil && t.State(tx.now) == "active"
		return err
	})
	if errors.Is(err, identity.ErrNotFound) {
		return "", false, nil
	}
	return name, stands, err
}
