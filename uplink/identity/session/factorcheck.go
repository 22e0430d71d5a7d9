package session

import (
	"errors"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// Check compares a code with the ticket's. It changes t and u, which the caller stores also when the error is a
// *api.Error: 401 for a missing or expired code, 406 for a wrong one, 429 when the user is locked now. A right code is
// used up. What does not look like a code is a wrong one.
func (f *SecondFactor) Check(tx *store.Tx, t *model.Ticket, u *model.User, code string) error {
	if u.Locked() {
		return errTooMany
	}
	if code == "" || t.Code == nil {
		return errMissing // nothing to guess: it does not count
	}
	if !tx.Now().Before(t.Code.Expires) {
		return errExpired
	}
	if identity.SameHash(codeHash(*t, code), t.Code.Hash) {
		t.Code, u.Inner.CodeFailures = nil, 0
		return nil
	}
	if u.Inner.CodeFailures++; u.Inner.CodeFailures > maxWrong {
		u.Lock(tx.Now(), "wrong codes")
		t.Code = nil
		return errTooMany
	}
	return errWrong
}

func missing(err error) bool { return errors.Is(err, identity.ErrNotFound) }
