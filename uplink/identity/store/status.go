package store

import (
	"hash/maphash"

	"vmsbridge/uplink/identity/model"
)

// standing is what an account's record says of whether its bridges may act, when the record had
// this hash.
type standing struct {
	hash    uint64
	account model.Account // its status and what it forbids only
}

var standingSeed = maphash.MakeSeed()

// standing is an account with nothing but its status and whether it forbids video. Bridges ask with
// every request, so the record, which is long, is read in full only after it has changed.
func (tx *Tx) standing(account string) (model.Account, error) {
	raw := tx.tx.Bucket(bucketAccounts).Get([]byte(account))
	hash := maphash.Bytes(standingSeed, raw)
	s := tx.store
	s.mu.Lock()
	known, ok := s.standings[account]
	s.mu.Unlock()
	if ok && raw != nil && known.hash == hash {
		return known.account, nil
	}
	a, err := tx.Account(account)
	if err != nil {
		return a, err
	}
	a = model.Account{ID: a.ID, Status: a.Status, IsVideoDisabled: a.IsVideoDisabled}
	s.mu.Lock()
	s.standings[account] = standing{hash, a}
	s.mu.Unlock()
	return a, nil
}
