package registry

import (
	"bytes"

	"vmsbridge/storage/database"
)

// KeepSubscription keeps an account's subscription to events under its id, as
// server.SubscriptionStore.
func (r *Registry) KeepSubscription(account, id string, raw []byte) error {
	return r.records.Update(func(tx database.Tx) error {
		return tx.Bucket(bucketSubscriptions).Put(rowKey(account, id), raw)
	})
}

// DropSubscription removes one. One that is not there is no error.
func (r *Registry) DropSubscription(account, id string) error {
	return r.records.Update(func(tx database.Tx) error {
		return tx.Bucket(bucketSubscriptions).Delete(rowKey(account, id))
	})
}

// Subscriptions are those of all accounts.
func (r *Registry) Subscriptions() (list [][]byte, err error) {
	err = r.records.View(func(tx database.Tx) error {
		list = nil
		for _, raw := range tx.Bucket(bucketSubscriptions).Range(nil, nil) {
			list = append(list, bytes.Clone(raw))
		}
		return nil
	})
	return list, err
}
