// Package identitytest is for tests only. A Fixture is a real store with accounts and users, a
// clock that passes when it is told to, and one password for everyone, whose hash is cheap and made
// once. An SMTPServer is one that is not ours: Debian's python3-aiosmtpd, unprivileged, on the
// loopback address, with TLS and AUTH and a certificate of its own.
//
//	f := identitytest.New(t)
//	f.AddAccount("c", "m", nil)
//	f.AddUser("anna@c", func(u *model.User) { u.IsAccountSuperuser = true })
//	f.Advance(time.Hour)
//	server := identitytest.StartSMTP(t, "starttls", "cloud", "secret")
//	mail := server.Next(t)
package identitytest

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/database"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// Password is everyone's.
const Password = "correct horse 1"

// Hasher is cheap: what argon2 costs by default is tested with the hasher.
var Hasher = identity.NewHasher(identity.Cost{MemoryKiB: 64, Passes: 1, Lanes: 1}, 4)

// Hash is that of Password, made once.
var Hash = sync.OnceValue(func() string {
	hash, err := Hasher.Hash(context.Background(), Password)
	if err != nil {
		panic(err)
	}
	return hash
})

// Monday is a Monday, 09:00 in US/Pacific, when towns begin.
var Monday = time.Date(2026, 11, 16, 17, 0, 0, 0, time.UTC)

// twice runs each transaction two times and undoes the first, as a store does where two of them
// meet: what a function leaves behind from the first time shows.
type twice struct{ database.Store }

var errFirst = errors.New("the first time")

func (s twice) View(read func(database.Tx) error) error {
	_ = s.Store.View(read)
	return s.Store.View(read)
}

func (s twice) Update(write func(database.Tx) error) error {
	_ = s.Store.Update(func(tx database.Tx) error { return errors.Join(write(tx), errFirst) })
	return s.Store.Update(write)
}

// Fixture is a store and its clock.
type Fixture struct {
	Store *store.Store
	Dir   string // of the store's file, identity.db

	t  testing.TB
	mu sync.Mutex // guards at
	at time.Time
}

// New makes a fixture without anyone. Its file goes with the test.
func New(t testing.TB) *Fixture {
	t.Helper()
	b := &Fixture{Dir: t.TempDir(), t: t, at: Monday}
	o := store.FileOptions()
	o.NoSync = true
	db, err := database.Open(filepath.Join(b.Dir, "identity.db"), o)
	require.NoError(t, err)
	b.Store, err = store.New(twice{database.InFile(db)}, store.Options{Now: b.Now})
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Store.Close() })
	return b
}

// Now is the time of the fixture.
func (b *Fixture) Now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at
}

// Advance lets time pass.
func (b *Fixture) Advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = b.at.Add(d)
}

// AddAccount adds an active account below another one, or below none.
func (b *Fixture) AddAccount(id, owner string, set func(*model.Account)) {
	b.t.Helper()
	a := model.NewAccount()
	a.ID, a.Name, a.OwnerAccountID, a.Status = id, "Account "+id, owner, model.Texts{model.StatusActive}
	if set != nil {
		set(&a)
	}
	_, err := b.Store.CreateAccount(a)
	require.NoError(b.t, err)
}

// AddUser adds an active user with everyone's password, who has read the mail of the address, to
// the account behind the @.
func (b *Fixture) AddUser(email string, set func(*model.User)) model.User {
	b.t.Helper()
	name, account, _ := strings.Cut(email, "@")
	u := model.NewUser()
	u.Email, u.FirstName, u.LastName, u.OwnerAccountID = email, "First", name, account
	u.IsActive, u.IsPending, u.Inner.PasswordHash, u.Inner.Mailbox = true, false, Hash(), model.Fold(email)
	if set != nil {
		set(&u)
	}
	u, err := b.Store.CreateUser(u.Settled())
	require.NoError(b.t, err)
	return u
}

// EditUser changes a user as it is stored.
func (b *Fixture) EditUser(email string, f func(*model.User)) {
	b.t.Helper()
	require.NoError(b.t, b.Store.Update(func(tx *store.Tx) error {
		u, err := tx.UserByEmail(email)
		if err != nil {
			return err
		}
		f(&u)
		return tx.PutUser(u)
	}))
}

// EditAccount changes an account as it is stored.
func (b *Fixture) EditAccount(id string, f func(*model.Account)) {
	b.t.Helper()
	require.NoError(b.t, b.Store.Update(func(tx *store.Tx) error {
		a, err := tx.Account(id)
		if err != nil {
			return err
		}
		f(&a)
		return tx.PutAccount(a)
	}))
}

// SetStatus sets the status of an account.
func (b *Fixture) SetStatus(id, v string) {
	b.t.Helper()
	b.EditAccount(id, func(a *model.Account) { a.Status = model.Texts{v} })
}

// User is a user as it is stored, one without an ID if there is none.
func (b *Fixture) User(email string) (u model.User) {
	b.t.Helper()
	err := b.Store.View(func(tx *store.Tx) (err error) { u, err = tx.UserByEmail(email); return err })
	if !errors.Is(err, identity.ErrNotFound) {
		require.NoError(b.t, err)
	}
	return u
}

// Account is an account as it is stored.
func (b *Fixture) Account(id string) (a model.Account) {
	b.t.Helper()
	require.NoError(b.t, b.Store.View(func(tx *store.Tx) (err error) { a, err = tx.Account(id); return err }))
	return a
}
