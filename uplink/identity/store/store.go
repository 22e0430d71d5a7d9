package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"vmsbridge/storage/database"
	"vmsbridge/uplink/identity"
)

// The buckets. Keys that join two parts have a zero byte between them.
var (
	bucketAccounts   = "accounts"      // account id → accountRow
	bucketUsers      = "users"         // user id → userRow
	bucketTokens     = "tokens"        // token id → model.Token
	bucketEmails     = "emails"        // folded address → user id
	bucketMembers    = "members"       // account id, user id → nothing
	bucketChildren   = "children"      // parent id, account id → nothing
	bucketSessions   = "sessions"      // hash → model.Session
	bucketOpen       = "user-sessions" // user id, hash → nothing
	bucketTickets    = "tickets"       // hash → model.Ticket
	bucketHeld       = "user-tickets"  // user id, hash → nothing
	bucketAttempts   = "attempts"      // hash of a folded address → model.Attempts
	bucketShares     = "shares"        // folded address, account id that shares with it → nothing
	bucketTrail      = "audit"         // sequence number → model.AuditEntry
	bucketTrailIndex = "account-audit" // account id, sequence number → nothing
	bucketMessages   = "letters"       // user id, kind → model.Message
	bucketMeta       = "meta"          // "version" → version
	buckets          = []string{bucketAccounts, bucketUsers, bucketTokens, bucketEmails, bucketMembers,
		bucketChildren, bucketSessions, bucketOpen, bucketTickets, bucketHeld, bucketAttempts, bucketShares,
		bucketTrail, bucketTrailIndex, bucketMessages, bucketMeta}
	keyVersion = []byte("version")
)

// version of the file. Version 1, which had no such mark, was never released.
const version = "2"

// Options of Open. The zero value is right outside tests.
type Options struct {
	Now func() time.Time // time.Now
	// Volatile leaves out the wait for the disk: a power cut may cost changes, or the file. For
	// tests that do not test that.
	Volatile bool
	// Log receives what someone should know of. Nil logs nothing.
	Log *slog.Logger
	// OnDamage is called when a damaged file was replaced. It must not call the Store.
	OnDamage func(database.Damage)
}

// Store is what is known of accounts and people. Safe for concurrent use by one process; what is
// below is locked against others.
type Store struct {
	records database.Store
	file    *database.DB // nil: the records are in no file
	now     func() time.Time
	has     func(account, camera string) bool

	mu        sync.Mutex           // guards what follows
	seen      map[string]time.Time // hash of a session → its last request, if that is not written yet
	standings map[string]standing  // account id → what its record said when it was last read
	machines  map[string]machine   // token id → what it may do
	writes    uint64               // how often something that machines depend on may have changed
}

// Tx is a transaction. It is good until the function that got it returns.
type Tx struct {
	tx    database.Tx
	now   time.Time
	store *Store
	done  []func() // called when it is committed
	wrote *written // nil where nothing may be written, or nobody asks
}

// Open opens or makes the file. It waits a second for another process to let go of it. Damage
// costs what is damaged; accounts, users and tokens are kept twice: see package database.
func Open(path string, o Options) (*Store, error) {
	db, err := database.Open(path, options(o))
	if err != nil {
		return nil, err
	}
	s, err := New(database.InFile(db), o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare identity file %s: %w", path, err), db.Close())
	}
	s.file = db
	return s, nil
}

// New is a store over records. Close closes them. Those of a newer program are refused.
func New(r database.Store, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{records: r, now: o.Now, seen: map[string]time.Time{}, standings: map[string]standing{},
		machines: map[string]machine{}}
	return s, s.Update((*Tx).keepVersion)
}

// keepVersion marks records without a version, and refuses those of another.
func (tx *Tx) keepVersion() error {
	meta := tx.tx.Bucket(bucketMeta)
	switch v := string(meta.Get(keyVersion)); v {
	case version:
		return nil
	case "":
		return meta.Put(keyVersion, []byte(version))
	default:
		return fmt.Errorf("the file has version %q, this program knows %q; use a newer program", v, version)
	}
}

// Close lets go of what is below. It waits for transactions under way.
func (s *Store) Close() error { return s.records.Close() }

// File is the file below the store, nil if it is not in one.
func (s *Store) File() *database.DB { return s.file }

// Now is the time of the store's clock.
func (s *Store) Now() time.Time { return s.now().UTC() }

// Owners tells the store who has which camera: an account shares with others only what has says
// that it has. Without it every account is believed. Call it before the store is used by several;
// has is asked inside transactions and must answer from memory.
func (s *Store) Owners(has func(account, camera string) bool) { s.has = has }

// View reads one state of everything. f must not change anything and not call Update. As in
// Update, f may run several times.
func (s *Store) View(f func(*Tx) error) error {
	return s.records.View(func(tx database.Tx) error { return f(&Tx{tx: tx, now: s.Now(), store: s}) })
}

// Update changes things: all of it if f returns nil, nothing if not. When it returns nil, the
// change is on the disk. Updates happen as if one came after the other, so f should not wait for
// anything. f may run several times, and the last run counts: what it hands out is set anew each
// time, and nothing is done outside (see package records).
func (s *Store) Update(f func(*Tx) error) error {
	var last *Tx
	var changed written
	err := s.records.Update(func(tx database.Tx) error {
		last = &Tx{tx: tx, now: s.Now(), store: s, wrote: &changed}
		return f(last)
	})
	s.forgetMachines(changed) // also if it is not known whether it happened
	if err == nil {
		for _, done := range last.done {
			done()
		}
	}
	return err
}

// Now is the time of the transaction, the same all through it.
func (tx *Tx) Now() time.Time { return tx.now }

// Bucket is a bucket of another package, which names it after itself.
func (tx *Tx) Bucket(name string) database.Bucket { return tx.tx.Bucket(name) }

// Prune removes sessions, tickets, attempts and messages that are over, and expired tokens of the
// given age. Call it now and then.
func (s *Store) Prune() error {
	const tokenAge = 30 * 24 * time.Hour // a revoked token is worth showing for a while
	return s.Update(func(tx *Tx) error {
		return errors.Join(tx.pruneSessions(), tx.pruneTickets(), tx.pruneAttempts(), tx.pruneTokens(tokenAge),
			tx.pruneMessages())
	})
}

func get[T any](tx *Tx, bucket string, key []byte) (T, error) {
	var v T
	raw := tx.tx.Bucket(bucket).Get(key)
	if raw == nil {
		return v, identity.ErrNotFound
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("read %s record: %w", bucket, err)
	}
	return v, nil
}

func put(tx *Tx, bucket string, key []byte, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s record: %w", bucket, err)
	}
	if err := tx.tx.Bucket(bucket).Put(key, raw); err != nil {
		return fmt.Errorf("write %s record: %w", bucket, err)
	}
	tx.wrote.note(bucket, key)
	return nil
}

func all[T any](tx *Tx, bucket string) ([]T, error) {
	var out []T
	for _, raw := range tx.tx.Bucket(bucket).Range(nil, nil) {
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return out, fmt.Errorf("read %s record: %w", bucket, err)
		}
		out = append(out, v)
	}
	return out, nil
}
