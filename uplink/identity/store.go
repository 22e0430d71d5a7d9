package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"

	"vmsbridge/uplink/vms"
)

// The buckets of the file: id → JSON of the record.
var (
	bucketAccounts = []byte("accounts")
	bucketUsers    = []byte("users")
	bucketTokens   = []byte("tokens")
)

// Options of Open. The zero value is right outside tests.
type Options struct {
	Now func() time.Time // time.Now
}

// Store keeps accounts, users and tokens in a bbolt file. Every change is durable when its method returns. Safe for
// concurrent use by one process; the file is locked against others.
type Store struct {
	db  *bolt.DB
	now func() time.Time
}

// Account owns cameras, bridges, users and events.
type Account struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
}

// User is a person of an account.
type User struct {
	ID        string    `json:"id"`
	AccountID string    `json:"accountId"`
	FirstName string    `json:"firstName"`
	LastName  string    `json:"lastName"`
	Email     string    `json:"email"`
	Language  string    `json:"language"`
	TimeZone  string    `json:"timeZone"`
	Created   time.Time `json:"created"`
}

// Token is what is stored of a token. The token itself is returned once, by CreateToken.
type Token struct {
	ID        string `json:"id"`
	Kind      Kind   `json:"kind"`
	AccountID string `json:"accountId"`
	UserID    string `json:"userId,omitempty"`
	Name      string `json:"name"`
	// Cameras that may be seen; nil means all, an empty list none.
	Cameras []string  `json:"cameras,omitzero"`
	Scopes  []string  `json:"scopes,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero: never
	Revoked time.Time `json:"revoked,omitzero"` // zero: not revoked
	Hash    []byte    `json:"hash,omitempty"`
}

// State is "active", "expired" or "revoked" at the given time.
func (t Token) State(now time.Time) string {
	switch {
	case !t.Revoked.IsZero():
		return "revoked"
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		return "expired"
	}
	return "active"
}

// Open opens or makes the file. It waits a second for another process to let go of it.
func Open(path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second})
	if err != nil {
		return nil, fmt.Errorf("open identity file %s: %w", path, err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range [][]byte{bucketAccounts, bucketUsers, bucketTokens} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare identity file %s: %w", path, err), db.Close())
	}
	return &Store{db, o.Now}, nil
}

// Close lets go of the file.
func (s *Store) Close() error { return s.db.Close() }

// CreateAccount adds an account. An empty ID gets a random one. ErrExists if the id is taken.
func (s *Store) CreateAccount(a Account) (Account, error) {
	if a.ID == "" {
		a.ID = NewID()
	}
	if !vms.ValidID(a.ID) {
		return Account{}, fmt.Errorf("create account: %q cannot be an id: use letters, digits, dots and hyphens", a.ID)
	}
	a.Created = s.now().UTC()
	return a, s.db.Update(func(tx *bolt.Tx) error { return insert(tx, bucketAccounts, a.ID, a) })
}

// CreateUser adds a user to an account. An empty ID gets a random one.
func (s *Store) CreateUser(u User) (User, error) {
	if u.ID == "" {
		u.ID = NewID()
	}
	if u.Language == "" {
		u.Language = "en"
	}
	u.Created = s.now().UTC()
	return u, s.db.Update(func(tx *bolt.Tx) error {
		if _, err := find[Account](tx, bucketAccounts, u.AccountID); err != nil {
			return fmt.Errorf("create user: account %q: %w", u.AccountID, err)
		}
		return insert(tx, bucketUsers, u.ID, u)
	})
}

// CreateToken adds a token and returns it as the secret text that its holder sends; it cannot be read again. ID, Hash and
// Created are set here. Kind, Name and an AccountID that exists are needed; a UserID must exist in that account.
func (s *Store) CreateToken(t Token) (Token, string, error) {
	if !t.Kind.Valid() {
		return Token{}, "", fmt.Errorf("create token: kind %q is neither %s nor %s", t.Kind, KindBridge, KindUser)
	}
	for _, scope := range t.Scopes {
		if !slices.Contains(Scopes, scope) {
			return Token{}, "", fmt.Errorf("create token: there is no scope %q, only %v", scope, Scopes)
		}
	}
	for _, c := range t.Cameras {
		if !vms.ValidID(c) {
			return Token{}, "", fmt.Errorf("create token: %q cannot be the id of a camera", c)
		}
	}
	var secret string
	t.ID, secret, t.Hash = newSecret()
	t.Created, t.Revoked = s.now().UTC(), time.Time{}
	err := s.db.Update(func(tx *bolt.Tx) error {
		if _, err := find[Account](tx, bucketAccounts, t.AccountID); err != nil {
			return fmt.Errorf("create token: account %q: %w", t.AccountID, err)
		}
		if t.UserID != "" {
			u, err := find[User](tx, bucketUsers, t.UserID)
			if err != nil || u.AccountID != t.AccountID {
				return fmt.Errorf("create token: user %q of account %q: %w", t.UserID, t.AccountID, ErrNotFound)
			}
		}
		return insert(tx, bucketTokens, t.ID, t)
	})
	if err != nil {
		return Token{}, "", err
	}
	t.Hash = nil
	return t, secret, nil
}

// RevokeToken ends a token at once; its record stays. Revoking twice is no error. ErrNotFound if there is none.
func (s *Store) RevokeToken(id string) (Token, error) {
	var t Token
	err := s.db.Update(func(tx *bolt.Tx) error {
		var err error
		if t, err = find[Token](tx, bucketTokens, id); err != nil {
			return fmt.Errorf("revoke token %q: %w", id, err)
		}
		if t.Revoked.IsZero() {
			t.Revoked = s.now().UTC()
		}
		return put(tx, bucketTokens, id, t)
	})
	t.Hash = nil
	return t, err
}

// Tokens lists all tokens, revoked ones too, oldest first and without their hashes.
func (s *Store) Tokens() ([]Token, error) {
	list, err := all[Token](s.db, bucketTokens)
	slices.SortStableFunc(list, func(a, b Token) int { return a.Created.Compare(b.Created) })
	for i := range list {
		list[i].Hash = nil
	}
	return list, err
}

// Accounts lists all accounts, oldest first.
func (s *Store) Accounts() ([]Account, error) {
	list, err := all[Account](s.db, bucketAccounts)
	slices.SortStableFunc(list, func(a, b Account) int { return a.Created.Compare(b.Created) })
	return list, err
}

// Users lists the users of an account, oldest first.
func (s *Store) Users(account string) ([]User, error) {
	list, err := all[User](s.db, bucketUsers)
	list = slices.DeleteFunc(list, func(u User) bool { return u.AccountID != account })
	slices.SortStableFunc(list, func(a, b User) int { return a.Created.Compare(b.Created) })
	return list, err
}

// Authenticate finds whose token it is. ErrUnknown for a wrong, revoked or expired one; other errors are the store's.
func (s *Store) Authenticate(secret string) (Principal, error) {
	id, ok := idOf(secret)
	if !ok {
		return Principal{}, ErrUnknown
	}
	var p Principal
	err := s.db.View(func(tx *bolt.Tx) error {
		t, err := find[Token](tx, bucketTokens, id)
		if errors.Is(err, ErrNotFound) {
			return ErrUnknown
		}
		if err != nil {
			return err
		}
		if !sameHash(hashOf(secret), t.Hash) || t.State(s.now()) != "active" {
			return ErrUnknown
		}
		p = Principal{TokenID: t.ID, Name: t.Name, Kind: t.Kind, AccountID: t.AccountID, Cameras: t.Cameras, Scopes: t.Scopes}
		if t.UserID != "" {
			u, err := find[User](tx, bucketUsers, t.UserID)
			if errors.Is(err, ErrNotFound) {
				return ErrUnknown // the user is gone, and the token with it
			}
			if err != nil {
				return err
			}
			p.User = wireUser(u)
		}
		p.User = fillUser(p.User, p)
		return nil
	})
	if err != nil {
		return Principal{}, err
	}
	return p, nil
}

func wireUser(u User) vms.User {
	out := vms.User{ID: u.ID, FirstName: u.FirstName, LastName: u.LastName, AccountID: u.AccountID, Email: u.Email, Language: u.Language}
	if u.TimeZone != "" {
		out.TimeZone = &vms.TimeZone{TimeZone: u.TimeZone}
	}
	return out
}

func find[T any](tx *bolt.Tx, bucket []byte, id string) (T, error) {
	var v T
	raw := tx.Bucket(bucket).Get([]byte(id))
	if raw == nil {
		return v, ErrNotFound
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("read %s record %q: %w", bucket, id, err)
	}
	return v, nil
}

func insert(tx *bolt.Tx, bucket []byte, id string, v any) error {
	if tx.Bucket(bucket).Get([]byte(id)) != nil {
		return fmt.Errorf("%s %q: %w", bucket, id, ErrExists)
	}
	return put(tx, bucket, id, v)
}

func put(tx *bolt.Tx, bucket []byte, id string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return tx.Bucket(bucket).Put([]byte(id), raw)
}

func all[T any](db *bolt.DB, bucket []byte) ([]T, error) {
	var list []T
	err := db.View(func(tx *bolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(_, raw []byte) error {
			var v T
			if err := json.Unmarshal(raw, &v); err != nil {
				return fmt.Errorf("read %s: %w", bucket, err)
			}
			list = append(list, v)
			return nil
		})
	})
	return list, err
}
