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
	out, err := follow(tx, bucketMembers, account, func(key []byte) (model.User, error) { return tx.User(string(key)) })
	slices.SortStableFunc(out, func(a, b model.User) int { return a.Inner.Created.Compare(b.Inner.Created) })
	return out, err
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
	fold := model.Fold(u.Email)
	if id := tx.tx.Bucket(bucketEmails).Get([]byte(fold)); fold != "" && id != nil && string(id) != u.ID {
		return fmt.Errorf("store user: the address: %w", identity.ErrExists)
	}
	old, err := get[userRow](tx, bucketUsers, []byte(u.ID))
	if errors.Is(err, identity.ErrNotFound) {
		return userKind.put(tx, userRow{u, u.Inner})
	} else if err != nil {
		return err
	}
	return userKind.put(tx, userRow{u, u.Inner}, old)
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
	return errors.Join(tx.dropTokens(func(t model.Token) bool { return t.UserID == id }),
		userKind.remove(tx, userRow{u, u.Inner}))
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
