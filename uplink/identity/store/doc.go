// Package store keeps accounts, users, sessions, tickets, bearer tokens and the audit trail in one
// bbolt file. Every change is durable when Update returns, and a change that reads first does so in
// the same transaction, so that no update is lost. identity/web, identity/session, identity/oauth
// and the others work through View and Update; uplink/server gets its Principals from Authenticate.
//
//	s, err := store.Open(filepath.Join(dir, "identity.db"), store.Options{})
//	err = s.Update(func(tx *store.Tx) error {
//		u, err := tx.User(id)
//		if err != nil {
//			return err // wraps identity.ErrNotFound
//		}
//		u.Language = "ja"
//		return errors.Join(tx.PutUser(u), tx.Record(audit.Entry{Action: audit.Update, ...}))
//	})
package store
