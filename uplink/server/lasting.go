package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// SubscriptionStore keeps subscriptions over a restart. Its methods are safe for concurrent use,
// and block on the disk.
type SubscriptionStore interface {
	KeepSubscription(account, id string, raw []byte) error
	DropSubscription(account, id string) error
	Subscriptions() ([][]byte, error) // of all accounts
}

// kept is what is kept of a subscription.
type kept struct {
	subscription
	Account string    `json:"account"`
	Token   string    `json:"token"` // the id of the token that made it
	Made    time.Time `json:"made"`
	Hook    *hook     `json:"hook,omitempty"`
}

// load takes in what was kept. A subscription of before a restart counts as used at it.
func (l *subscriptions) load() error {
	l.turn = make(chan struct{}, 1)
	if l.store == nil {
		return nil
	}
	list, err := l.store.Subscriptions()
	if err != nil {
		return fmt.Errorf("read the subscriptions: %w", err)
	}
	for _, raw := range list {
		var k kept
		if err := json.Unmarshal(raw, &k); err != nil || k.ID == "" {
			continue // of a later version
		}
		sub := k.subscription
		sub.account, sub.token, sub.made, sub.used, sub.hook = k.Account, k.Token, k.Made, time.Now(), k.Hook
		sub.Filters = orEmpty(sub.Filters)
		l.all[sub.ID] = &sub
	}
	return nil
}

// keep has the store hold what a subscription is now, or that it is not any more.
func (l *subscriptions) keep(account string, ids ...string) (err error) {
	if l.store == nil {
		return nil
	}
	l.turn <- struct{}{} // so that the store ends with what memory ends with
	defer func() { <-l.turn }()
	for _, id := range ids {
		l.mu.Lock()
		var k kept
		sub, there := l.all[id]
		if there {
			k = kept{*sub, sub.account, sub.token, sub.made, sub.hook}
		}
		l.mu.Unlock()
		if !there {
			err = errors.Join(err, l.store.DropSubscription(account, id))
			continue
		}
		raw, fault := json.Marshal(k)
		if fault == nil {
			fault = l.store.KeepSubscription(account, id, raw)
		}
		err = errors.Join(err, fault)
	}
	if err != nil {
		return fmt.Errorf("keep a subscription: %w", err)
	}
	return nil
}
