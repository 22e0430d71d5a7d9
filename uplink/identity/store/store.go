package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/storage/database"
	"vmsbridge/uplink/identity"
)

// The buckets of the file. Keys that join two parts have a zero byte between them.
var (
	bucketAccounts   = []byte("accounts")      // account id → accountRow
	bucketUsers      = []byte("users")         // user id → userRow
	bucketTokens     = []byte("tokens")        // token id → model.Token
	bucketEmails     = []byte("emails")        // folded address → user id
	bucketMembers    = []byte("members")       // account id, user id → nothing
	bucketChildren   = []byte("children")      // parent id, account id → nothing
	bucketSessions   = []byte("sessions")      // hash → model.Session
	bucketOpen       = []byte("user-sessions") // user id, hash → nothing
	bucketTickets    = []byte("tickets")       // hash → model.Ticket
	bucketHeld       = []byte("user-tickets")  // user id, hash → nothing
	bucketAttempts   = []byte("attempts")      // hash of a folded address → model.Attempts
	bucketShares     = []byte("shares")        // folded address, account id that shares with it → nothing
	bucketTrail      = []byte("audit")         // sequence number → model.AuditEntry
	bucketTrailIndex = []byte("account-audit") // account id, sequence number → nothing
	bucketMessages   = []byte("letters")       // user id, kind → model.Message
	bucketMeta       = []byte("meta")          // "version" → version
	buckets          = [][]byte{bucketAccounts, bucketUsers, bucketTokens, bucketEmails, bucketMembers,
		bucketChildren, bucketSessions, bucketOpen, bucketTickets, bucketHeld, bucketAttempts, bucketShares,
		bucketTrail, bucketTrailIndex, bucketMessages, bucketMeta}
	keyVersion = []byte("version")
)

// version of the file. Version 1, which had no such mark, knew only accounts, users and tokens.
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

// Store is the file. Safe for concurrent use by one process; the file is locked against others.
type Store struct {
	db  *database.DB
	now func() time.Time
	has func(account, camera string) bool

	mu        sync.Mutex           // guards what follows
	seen      map[string]time.Time // hash of a session → its last request, if that is not written yet
	standings map[string]standing  // account id → what its record said when it was last read
}

// Tx is a transaction. It is good until the function that got it returns.
type Tx struct {
	tx    *bolt.Tx
	now   time.Time
	store *Store
}

// Open opens or makes the file, and brings one of an older version up to date. It waits a second
// for another process to let go of it. Damage costs what is damaged; accounts, users and tokens are
// kept twice: see package database.
func Open(path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	db, err := database.Open(path, options(o))
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, now: o.Now, seen: map[string]time.Time{}, standings: map[string]standing{}}
	err = s.Update(func(tx *Tx) error {
		for _, name := range buckets {
			if _, err := tx.tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return tx.upgrade()
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare identity file %s: %w", path, err), db.Close())
	}
	return s, nil
}

// Close lets go of the file. It waits for transactions under way.
func (s *Store) Close() error { return s.db.Close() }

// File is the file below the store.
func (s *Store) File() *database.DB { return s.db }

// Now is the time of the store's clock.
func (s *Store) Now() time.Time { return s.now().UTC() }

// Owners tells the store who has which camera: an account shares with others only what has says
// that it has. Without it every account is believed. Call it before the store is used by several;
// has is asked inside transactions and must answer from memory.
func (s *Store) Owners(has func(account, camera string) bool) { s.has = has }

// View reads one state of everything. f must not change anything and not call Update.
func (s *Store) View(f func(*Tx) error) error {
	return s.db.View(func(tx *bolt.Tx) error { return f(&Tx{tx, s.Now(), s}) })
}

// Update changes things: all of it if f returns nil, nothing if not. When it returns nil, the
// change is on the disk. Updates run one after the other, so f should not wait for anything.
func (s *Store) Update(f func(*Tx) error) error {
	return s.db.Update(func(tx *bolt.Tx) error { return f(&Tx{tx, s.Now(), s}) })
}

// Now is the time of the transaction, the same all through it.
func (tx *Tx) Now() time.Time { return tx.now }

// Bucket is a bucket of another package, which names it after itself. It is made if it is
// not there; in View it may be nil.
func (tx *Tx) Bucket(name string) (*bolt.Bucket, error) {
	if b := tx.tx.Bucket([]byte(name)); b != nil || !tx.tx.Writable() {
		return b, nil
	}
	return tx.tx.CreateBucket([]byte(name))
}

// Prune removes sessions, tickets, attempts and messages that are over, and expired tokens of the
// given age. Call it now and then.
func (s *Store) Prune() error {
	const tokenAge = 30 * 24 * time.Hour // a revoked token is worth showing for a while
	return s.Update(func(tx *Tx) error {
		return errors.Join(tx.pruneSessions(), tx.pruneTickets(), tx.pruneAttempts(), tx.pruneTokens(tokenAge),
			tx.pruneMessages())
	})
}

func get[T any](tx *Tx, bucket, key []byte) (T, error) {
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

func put(tx *Tx, bucket, key []byte, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s record: %w", bucket, err)
	}
	if err := tx.tx.Bucket(bucket).Put(key, raw); err != nil {
		return fmt.Errorf("write %s record: %w", bucket, err)
	}
	return nil
}

func all[T any](tx *Tx, bucket []byte) ([]T, error) {
	var out []T
	err := tx.tx.Bucket(bucket).ForEach(func(_, raw []byte) error {
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("read %s record: %w", bucket, err)
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

// pair joins the parts of a key.
func pair(a string, b []byte) []byte { return append(append([]byte(a), 0), b...) }

// seconds lists the second parts of the keys whose first part is a.
func seconds(tx *Tx, bucket []byte, a string) [][]byte {
	var out [][]byte
	prefix := pair(a, nil)
	c := tx.tx.Bucket(bucket).Cursor()
	for k, _ := c.Seek(prefix); len(k) >= len(prefix) && string(k[:len(prefix)]) == string(prefix); k, _ = c.Next() {
		out = append(out, append([]byte(nil), k[len(prefix):]...))
	}
	return out
}

// mark sets or clears an entry of an index.
func mark(tx *Tx, bucket, key []byte, set bool) error {
	if set {
		return tx.tx.Bucket(bucket).Put(key, nil)
	}
	return tx.tx.Bucket(bucket).Delete(key)
}
