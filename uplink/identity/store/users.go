package store

import (
	"errors"
	"fmt"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
)

// userRow is a user as it is stored.
type userRow struct {
	Record model.User      `json:"record"`
	Inner  model.UserInner `json:"inner"`
}

func (r userRow) user() model.User {
	r.Record.Inner = r.Inner
	return r.Record
}

// User finds a user. The error wraps identity.ErrNotFound if there is none.
func (tx *Tx) User(id string) (model.User, error) {
	row, err := get[userRow](tx, bucketUsers, []byte(id))
	if err != nil {
		return model.User{}, fmt.Errorf("find user: %w", err)
	}
	return row.user(), nil
}

// UserByEmail finds the user of an address, whatever its case.
func (tx *Tx) UserByEmail(email string) (model.User, error) {
	id := tx.tx.Bucket(bucketEmails).Get([]byte(model.Fold(email)))
	if id == nil || email == "" {
		return model.User{}, fmt.Errorf("find user: %w", identity.ErrNotFound)
	}
	return tx.User(string(id))
}

// UsersOf lists the users of an account, oldest first.
func (tx *Tx) UsersOf(account string) ([]model.User, error) {
	var out []model.User
	for _, id := range seconds(tx, bucketMembers, account) {
		u, err := tx.User(string(id))
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	slices.SortStableFunc(out, func(a, b model.User) int { return a.Inner.Created.Compare(b.Inner.Created) })
	return out, nil
}

// AddUser stores a new user and returns it as stored. An empty ID gets a random one. The error
// wraps identity.ErrExists if the address or the id is taken, and identity.ErrNotFound if the
// account does not exist.
func (tx *Tx) AddUser(u model.User) (model.User, error) {
	if u.ID == "" {
		u.ID = identity.NewID()
	}
	if _, err := tx.Account(u.OwnerAccountID); err != nil {
		return u, fmt.Errorf("add user: %w", err)
	}
	if tx.tx.Bucket(bucketUsers).Get([]byte(u.ID)) != nil {
		return u, fmt.Errorf("add user %q: %w", u.ID, identity.ErrExists)
	}
	u.Inner.Created = tx.now
	return u, tx.PutUser(u)
}

// PutUser stores a user over the one of its id. The error wraps identity.ErrExists if another user
// has the address.
func (tx *Tx) PutUser(u model.User) error {
	old, err := tx.User(u.ID)
	if err != nil && !errors.Is(err, identity.ErrNotFound) {
		return err
	}
	emails, fold := tx.tx.Bucket(bucketEmails), model.Fold(u.Email)
	if id := emails.Get([]byte(fold)); fold != "" && id != nil && string(id) != u.ID {
		return fmt.Errorf("store user: the address: %w", identity.ErrExists)
	}
	if was := model.Fold(old.Email); was != fold && was != "" {
		if err := emails.Delete([]byte(was)); err != nil {
			return err
		}
	}
	if fold != "" {
		if err := emails.Put([]byte(fold), []byte(u.ID)); err != nil {
			return fmt.Errorf("store user: %w", err)
		}
	}
	if old.ID != "" && old.OwnerAccountID != u.OwnerAccountID {
		if err := mark(tx, bucketMembers, pair(old.OwnerAccountID, []byte(u.ID)), false); err != nil {
			return err
		}
	}
	if err := mark(tx, bucketMembers, pair(u.OwnerAccountID, []byte(u.ID)), true); err != nil {
		return err
	}
	return put(tx, bucketUsers, []byte(u.ID), userRow{u, u.Inner})
}

// DeleteUser removes a user with sessions, tickets and tokens.
func (tx *Tx) DeleteUser(id string) error {
	u, err := tx.User(id)
	if err != nil {
		return err
	}
	if err := errors.Join(tx.EndSessions(id, nil), tx.DropTickets(id), tx.DropMessages(id)); err != nil {
		return err
	}
	tokens, err := all[model.Token](tx, bucketTokens)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if t.UserID == id {
			if err := tx.tx.Bucket(bucketTokens).Delete([]byte(t.ID)); err != nil {
				return err
			}
		}
	}
	if fold := model.Fold(u.Email); fold != "" {
		if err := tx.tx.Bucket(bucketEmails).Delete([]byte(fold)); err != nil {
			return err
		}
	}
	if err := mark(tx, bucketMembers, pair(u.OwnerAccountID, []byte(id)), false); err != nil {
		return err
	}
	return tx.tx.Bucket(bucketUsers).Delete([]byte(id))
}

// Users lists the users of an account, oldest first.
func (s *Store) Users(account string) (out []model.User, err error) {
	err = s.View(func(tx *Tx) error { out, err = tx.UsersOf(account); return err })
	return out, err
}

// CreateUser adds a user in a transaction of its own.
func (s *Store) CreateUser(u model.User) (out model.User, err error) {
	err = s.Update(func(tx *Tx) error { out, err = tx.AddUser(u); return err })
	return out, err
}
