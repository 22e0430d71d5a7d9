package store

import (
	"errors"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
)

// Standing is who a holder, as Principal.Holder names it, is at this moment in an account, for what
// goes on in its name when the token that asked for it has been renewed. ErrUnknown if it may not
// act there any more.
func (s *Store) Standing(holder, account string) (p identity.Principal, err error) {
	err = s.View(func(tx *Tx) error {
		p, err = tx.standingOf(holder, account)
		return err
	})
	if errors.Is(err, identity.ErrNotFound) {
		err = identity.ErrUnknown
	}
	if err != nil {
		return identity.Principal{}, err
	}
	return p, nil
}

func (tx *Tx) standingOf(holder, account string) (p identity.Principal, err error) {
	kind, id, _ := strings.Cut(holder, ":")
	if kind+":" == holderUser {
		u, err := tx.User(id)
		if err != nil {
			return p, err
		}
		active, err := tx.Account(account)
		if err != nil {
			return p, err
		}
		if p, err = tx.Principal(u, active); err != nil {
			return p, err
		}
		p.Holder, p.Name, p.Scopes = holder, u.Email, []string{identity.ScopeRead}
		return p.Filled(), nil
	}
	t, err := tx.TokenByID(id)
	if err != nil {
		return p, err
	}
	if t.AccountID != account {
		return p, identity.ErrUnknown
	}
	if kind+":" == holderToken {
		return tx.opens(t)
	}
	active, err := tx.standing(account)
	if err != nil {
		return p, err
	}
	if kind+":" != holderClient || t.State(tx.now) != "active" || !active.Is(model.StatusActive) {
		return p, identity.ErrUnknown
	}
	return identity.Principal{Holder: holder, Name: t.Name, Kind: identity.KindUser, AccountID: account,
		Scopes: []string{identity.ScopeRead}}.Filled(), nil
}
