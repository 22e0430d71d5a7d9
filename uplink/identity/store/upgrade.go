package store

import (
	"fmt"
	"time"

	"vmsbridge/uplink/identity/model"
)

// accountV1 and userV1 are the records of version 1, which stood in the buckets as they are here.
type accountV1 struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
}

type userV1 struct {
	ID        string    `json:"id"`
	AccountID string    `json:"accountId"`
	FirstName string    `json:"firstName"`
	LastName  string    `json:"lastName"`
	Email     string    `json:"email"`
	Language  string    `json:"language"`
	TimeZone  string    `json:"timeZone"`
	Created   time.Time `json:"created"`
}

// upgrade turns a file of version 1 into one of this version: its accounts become active master
// accounts, its users account superusers who have to set a password before they can sign in. A
// newer file is refused.
func (tx *Tx) upgrade() error {
	meta := tx.tx.Bucket(bucketMeta)
	switch v := string(meta.Get(keyVersion)); v {
	case version:
		return nil
	case "":
	default:
		return fmt.Errorf("the file has version %q, this program knows %q; use a newer program", v, version)
	}
	accounts, err := all[accountV1](tx, bucketAccounts)
	if err != nil {
		return err
	}
	users, err := all[userV1](tx, bucketUsers)
	if err != nil {
		return err
	}
	for _, old := range accounts {
		a := model.NewAccount()
		a.ID, a.Name, a.Status, a.IsMaster, a.Inner.Created = old.ID, old.Name, model.Texts{model.StatusActive}, true,
			old.Created
		if err := put(tx, bucketAccounts, []byte(a.ID), accountRow{a, a.Inner}); err != nil {
			return err
		}
	}
	for _, old := range users {
		if err := tx.tx.Bucket(bucketUsers).Delete([]byte(old.ID)); err != nil {
			return err
		}
	}
	for _, old := range users {
		u := model.NewUser()
		u.ID, u.OwnerAccountID, u.FirstName, u.LastName, u.Email = old.ID, old.AccountID, old.FirstName, old.LastName,
			old.Email
		u.IsAccountSuperuser, u.Inner.Created = true, old.Created
		// Whoever held a token of such a user could use it without a password, and goes on doing
		// so.
		u.IsActive, u.IsPending = true, false
		if old.Language != "" && old.Language != "en" {
			u.Language = old.Language
		}
		if old.TimeZone != "" {
			u.Timezone = old.TimeZone
		}
		if model.Fold(u.Email) != "" && tx.tx.Bucket(bucketEmails).Get([]byte(model.Fold(u.Email))) != nil {
			u.Email = "" // two users had it; one keeps it
		}
		if err := tx.PutUser(u); err != nil {
			return err
		}
	}
	return meta.Put(keyVersion, []byte(version))
}
