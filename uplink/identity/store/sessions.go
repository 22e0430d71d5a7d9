package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
)

// Session finds a session by the hash of its key. Whether it is still good is for the caller to
// see.
func (tx *Tx) Session(hash []byte) (model.Session, error) {
	s, err := get[model.Session](tx, bucketSessions, hash)
	if err != nil {
		return s, fmt.Errorf("find session: %w", err)
	}
	tx.store.mu.Lock()
	defer tx.store.mu.Unlock()
	if at := tx.store.seen[string(hash)]; at.After(s.Seen) {
		s.Seen = at
	}
	return s, nil
}

// SeenWritten is when a session was last seen as far as the disk knows.
func (tx *Tx) SeenWritten(hash []byte) (time.Time, error) {
	s, err := get[model.Session](tx, bucketSessions, hash)
	return s.Seen, err
}

// Saw notes a request of a session in memory: Session tells of it from now on, and PutSession makes
// it last. To write each would cost the disk a write a request.
func (s *Store) Saw(hash []byte, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[string(hash)] = at
}

// never is longer than any session.
const never = 100 * 366 * 24 * time.Hour

// forgetSeen forgets what is known in memory of a session, unless that is later than a time.
func (s *Store) forgetSeen(hash []byte, upTo time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.seen[string(hash)].After(upTo) {
		delete(s.seen, string(hash))
	}
}

// PutSession stores a session.
func (tx *Tx) PutSession(s model.Session) error {
	tx.done = append(tx.done, func() { tx.store.forgetSeen(s.Hash, s.Seen) })
	return sessionKind.put(tx, s)
}

// DeleteSession ends a session. Ending one that is not there is no error.
func (tx *Tx) DeleteSession(hash []byte) error {
	s, err := tx.Session(hash)
	tx.done = append(tx.done, func() { tx.store.forgetSeen(hash, tx.now.Add(never)) })
	if errors.Is(err, identity.ErrNotFound) {
		return nil
	}
	s.Hash = hash
	return errors.Join(err, sessionKind.remove(tx, s))
}

// SessionsOf lists the sessions of a user, those that are over included.
func (tx *Tx) SessionsOf(user string) ([]model.Session, error) {
	return follow(tx, bucketOpen, user, tx.Session)
}

// EndSessions ends all sessions of a user but the one with the hash except.
func (tx *Tx) EndSessions(user string, except []byte) error {
	for _, hash := range seconds(tx, bucketOpen, user) {
		if !bytes.Equal(hash, except) {
			if err := tx.DeleteSession(hash); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeSeen makes last what is known of sessions in memory alone, and forgets what is known there
// of sessions that ended.
func (tx *Tx) writeSeen() error {
	tx.store.mu.Lock()
	hashes := slices.Collect(maps.Keys(tx.store.seen))
	tx.store.mu.Unlock()
	for _, hash := range hashes {
		s, err := tx.Session([]byte(hash))
		if errors.Is(err, identity.ErrNotFound) {
			err = tx.DeleteSession([]byte(hash))
		} else if err == nil {
			err = tx.PutSession(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) pruneSessions() error {
	return errors.Join(tx.writeSeen(), sweep(tx, bucketSessions,
		func(s model.Session) bool { return !s.Live(tx.now, 366*24*time.Hour) },
		func(s model.Session) error { return tx.DeleteSession(s.Hash) }))
}

// Ticket finds a ticket by the hash of its token. Whether it is still good is for the caller to
// see.
func (tx *Tx) Ticket(hash []byte) (model.Ticket, error) {
	t, err := get[model.Ticket](tx, bucketTickets, hash)
	if err != nil {
		return t, fmt.Errorf("find ticket: %w", err)
	}
	return t, nil
}

// PutTicket stores a ticket.
func (tx *Tx) PutTicket(t model.Ticket) error { return ticketKind.put(tx, t) }

// DeleteTicket makes a ticket worthless: it was used. Deleting one that is not there is no error.
func (tx *Tx) DeleteTicket(hash []byte) error {
	t, err := tx.Ticket(hash)
	if errors.Is(err, identity.ErrNotFound) {
		return nil
	}
	t.Hash = hash
	return errors.Join(err, ticketKind.remove(tx, t))
}

// TicketsOf lists the tickets of a user, expired ones included.
func (tx *Tx) TicketsOf(user string) ([]model.Ticket, error) {
	return follow(tx, bucketHeld, user, tx.Ticket)
}

// DropTickets makes all tickets of a user of the given purposes worthless, or of any if none is
// given.
func (tx *Tx) DropTickets(user string, purposes ...model.Purpose) error {
	list, err := tx.TicketsOf(user)
	for _, t := range list {
		if len(purposes) == 0 || slices.Contains(purposes, t.Purpose) {
			err = errors.Join(err, tx.DeleteTicket(t.Hash))
		}
	}
	return err
}

func (tx *Tx) pruneTickets() error {
	return sweep(tx, bucketTickets, func(t model.Ticket) bool { return !tx.now.Before(t.Expires) },
		func(t model.Ticket) error { return tx.DeleteTicket(t.Hash) })
}

// Attempts tells how many wrong passwords were given for an address since the last right one,
// whether the address is known or not.
func (tx *Tx) Attempts(email string) (model.Attempts, error) {
	a, err := get[model.Attempts](tx, bucketAttempts, identity.HashToken(model.Fold(email)))
	if errors.Is(err, identity.ErrNotFound) {
		return a, nil
	}
	return a, err
}

// PutAttempts stores the count; a count of 0 removes it.
func (tx *Tx) PutAttempts(email string, a model.Attempts) error {
	key := identity.HashToken(model.Fold(email))
	if a.Count == 0 {
		return tx.tx.Bucket(bucketAttempts).Delete(key)
	}
	return put(tx, bucketAttempts, key, a)
}

// attemptsAge is how long wrong passwords count.
const attemptsAge = 24 * time.Hour

func (tx *Tx) pruneAttempts() error {
	var old [][]byte
	b := tx.tx.Bucket(bucketAttempts)
	var err error
	for k := range b.Range(nil, nil) {
		a, bad := get[model.Attempts](tx, bucketAttempts, k)
		if err = errors.Join(err, bad); bad == nil && tx.now.Sub(a.Last) > attemptsAge {
			old = append(old, bytes.Clone(k))
		}
	}
	for _, k := range old {
		err = errors.Join(err, b.Delete(k))
	}
	return err
}
