package store

import (
	"errors"
	"fmt"
	"slices"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
)

// QueueMessage notes that a message is to be sent, in the transaction of what it tells of, in place
// of an older one of that kind to that user. It returns the message's Seq, which MessageDone wants.
func (tx *Tx) QueueMessage(l model.QueuedMessage) (uint64, error) {
	seq, err := tx.tx.Bucket(bucketMessages).NextSequence()
	if err != nil {
		return 0, fmt.Errorf("keep message: %w", err)
	}
	l.Seq = seq
	return seq, put(tx, bucketMessages, pair(l.UserID, []byte(l.Kind)), l)
}

// QueuedMessages lists those that are still to be sent.
func (tx *Tx) QueuedMessages() ([]model.QueuedMessage, error) {
	return all[model.QueuedMessage](tx, bucketMessages)
}

// DropMessage forgets a message, unless there is a later one of that kind to that user.
func (tx *Tx) DropMessage(user, kind string, seq uint64) error {
	key := pair(user, []byte(kind))
	l, err := get[model.QueuedMessage](tx, bucketMessages, key)
	if errors.Is(err, identity.ErrNotFound) || err == nil && l.Seq != seq {
		return nil
	} else if err != nil {
		return err
	}
	return tx.tx.Bucket(bucketMessages).Delete(key)
}

// MessageDone is DropMessage in a transaction of its own: the message was sent, or given up for
// good.
func (s *Store) MessageDone(user, kind string, seq uint64) error {
	return s.Update(func(tx *Tx) error { return tx.DropMessage(user, kind, seq) })
}

// DropMessages forgets the messages of a user of the given kinds, or of any if none is given.
func (tx *Tx) DropMessages(user string, kinds ...string) error {
	var err error
	for _, kind := range seconds(tx, bucketMessages, user) {
		if len(kinds) == 0 || slices.Contains(kinds, string(kind)) {
			err = errors.Join(err, tx.tx.Bucket(bucketMessages).Delete(pair(user, kind)))
		}
	}
	return err
}

func (tx *Tx) pruneMessages() error {
	return sweep(tx, bucketMessages, func(l model.QueuedMessage) bool { return !tx.now.Before(l.Expires) },
		func(l model.QueuedMessage) error { return tx.DropMessage(l.UserID, l.Kind, l.Seq) })
}
