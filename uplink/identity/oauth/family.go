package oauth

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"vmsbridge/storage/database"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// bucket holds which tokens are of a family: family, a zero byte, token id → nothing.
const bucket = "oauth"

// join stores a token of a family.
func join(tx *store.Tx, t model.Token) (model.Token, string, error) {
	t, text, err := tx.AddToken(t)
	if err != nil {
		return t, "", err
	}
	if err := tx.Bucket(bucket).Put([]byte(t.Family+"\x00"+t.ID), []byte{}); err != nil {
		return t, "", fmt.Errorf("note family: %w", err)
	}
	return t, text, nil
}

// stolen ends a family because what was exchanged before came a second time. The error is errGrant.
func stolen(tx *store.Tx, family string, e model.AuditEntry) error {
	e.Action, e.Kind = model.AuditRefuse, model.KindToken
	return cmp.Or(errors.Join(endFamily(tx, family), tx.Record(e)), error(errGrant))
}

// endFamily revokes all tokens of a family.
func endFamily(tx *store.Tx, family string) error {
	if family == "" {
		return nil
	}
	prefix := []byte(family + "\x00")
	for k := range tx.Bucket(bucket).Range(database.Prefix(prefix)) {
		if err := end(tx, string(k[len(prefix):])); err != nil {
			return err
		}
	}
	return nil
}

// end revokes one token. One that is gone is no error.
func end(tx *store.Tx, id string) error {
	t, err := tx.TokenByID(id)
	if errors.Is(err, identity.ErrNotFound) {
		return nil
	}
	if err != nil || !t.Revoked.IsZero() {
		return err
	}
	t.Revoked = tx.Now()
	return tx.PutToken(t)
}

// Prune forgets the families of tokens that are gone. Call it now and then, after store.Prune.
func Prune(ids *store.Store) error {
	return ids.Update(func(tx *store.Tx) error {
		var gone [][]byte
		b := tx.Bucket(bucket)
		for k := range b.Range(nil, nil) {
			_, id, _ := bytes.Cut(k, []byte{0})
			if _, err := tx.TokenByID(string(id)); errors.Is(err, identity.ErrNotFound) {
				gone = append(gone, bytes.Clone(k))
			} else if err != nil {
				return err
			}
		}
		var err error
		for _, k := range gone {
			err = errors.Join(err, b.Delete(k))
		}
		return err
	})
}

// newFamily names a family.
func newFamily() string { return identity.NewToken(22) }
