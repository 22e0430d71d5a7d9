package store

import (
	"errors"
	"fmt"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/vms"
)

// accountRow is an account as it is stored.
type accountRow struct {
	Record model.Account      `json:"record"`
	Inner  model.AccountInner `json:"inner"`
}

func (r accountRow) account() model.Account {
	r.Record.Inner = r.Inner
	return r.Record
}

// Account finds an account. The error wraps identity.ErrNotFound if there is none.
func (tx *Tx) Account(id string) (model.Account, error) {
	row, err := get[accountRow](tx, bucketAccounts, []byte(id))
	if err != nil {
		return model.Account{}, fmt.Errorf("find account: %w", err)
	}
	return row.account(), nil
}

// Accounts lists all accounts, oldest first.
func (tx *Tx) Accounts() ([]model.Account, error) {
	rows, err := all[accountRow](tx, bucketAccounts)
	out := make([]model.Account, len(rows))
	for i, row := range rows {
		out[i] = row.account()
	}
	slices.SortStableFunc(out, func(a, b model.Account) int { return a.Inner.Created.Compare(b.Inner.Created) })
	return out, err
}

// Children lists the accounts below one, oldest first.
func (tx *Tx) Children(id string) ([]model.Account, error) {
	out, err := follow(tx, bucketChildren, id,
		func(key []byte) (model.Account, error) { return tx.Account(string(key)) })
	slices.SortStableFunc(out, func(a, b model.Account) int { return a.Inner.Created.Compare(b.Inner.Created) })
	return out, err
}

// AddAccount stores a new account and returns it as stored. An empty ID gets a random one; the
// error wraps identity.ErrExists if it is taken.
func (tx *Tx) AddAccount(a model.Account) (model.Account, error) {
	if a.ID == "" {
		a.ID = identity.NewID()
	}
	if !vms.ValidID(a.ID) {
		return a, fmt.Errorf("add account: %q cannot be an id: use letters, digits, dots and hyphens", a.ID)
	}
	if tx.tx.Bucket(bucketAccounts).Get([]byte(a.ID)) != nil {
		return a, fmt.Errorf("add account %q: %w", a.ID, identity.ErrExists)
	}
	a.Inner.Created = tx.now
	return a, tx.PutAccount(a)
}

// PutAccount stores an account over the one of its id.
func (tx *Tx) PutAccount(a model.Account) error {
	old, err := get[accountRow](tx, bucketAccounts, []byte(a.ID))
	if errors.Is(err, identity.ErrNotFound) {
		return accountKind.put(tx, accountRow{a, a.Inner})
	} else if err != nil {
		return err
	}
	return accountKind.put(tx, accountRow{a, a.Inner}, old)
}

// sharedWith finds the cameras that other accounts share with a user, as identity.Grants has them.
// An account shares what it has: of a camera that it names and does not have its word is nothing.
// And it hides no other: where two have one id, neither's is the bare one.
func (tx *Tx) sharedWith(u model.User) (shared, aliases map[string]string, err error) {
	shared, aliases = map[string]string{}, map[string]string{}
	owners := map[string][]string{}
	has := tx.store.has
	for _, id := range seconds(tx, bucketShares, model.Fold(u.Email)) {
		a, err := tx.Account(string(id))
		if errors.Is(err, identity.ErrNotFound) {
			continue // nobody may keep a user out by what stands in an index
		} else if err != nil {
			return nil, nil, err
		}
		for _, camera := range model.SharedWith(a, u) {
			if has == nil || has(a.ID, camera) {
				owners[camera] = append(owners[camera], a.ID)
			}
		}
	}
	own := func(id string) bool { return has != nil && has(u.OwnerAccountID, id) }
	for camera, list := range owners {
		slices.Sort(list)
		if list = slices.Compact(list); len(list) == 1 && !own(camera) {
			shared[camera] = list[0]
			continue
		}
		for _, owner := range list {
			if alias := camera + "@" + owner; owners[alias] == nil && !own(alias) {
				shared[alias], aliases[alias] = owner, camera
			}
		}
	}
	return shared, aliases, nil
}

// DeleteAccount removes an account with its users and tokens. An account that has sub-accounts is
// not removed: the error wraps identity.ErrExists.
func (tx *Tx) DeleteAccount(id string) error {
	a, err := tx.Account(id)
	if err != nil {
		return err
	}
	if len(seconds(tx, bucketChildren, id)) > 0 {
		return fmt.Errorf("delete account: it has sub-accounts: %w", identity.ErrExists)
	}
	for _, user := range seconds(tx, bucketMembers, id) {
		if err := tx.DeleteUser(string(user)); err != nil {
			return err
		}
	}
	return errors.Join(tx.dropTokens(func(t model.Token) bool { return t.AccountID == id }),
		accountKind.remove(tx, accountRow{a, a.Inner}))
}

// Accounts lists all accounts, oldest first.
func (s *Store) Accounts() (out []model.Account, err error) {
	err = s.View(func(tx *Tx) error { out, err = tx.Accounts(); return err })
	return out, err
}

// CreateAccount adds an account in a transaction of its own.
func (s *Store) CreateAccount(a model.Account) (out model.Account, err error) {
	err = s.Update(func(tx *Tx) error { out, err = tx.AddAccount(a); return err })
	return out, err
}
