package store

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/database"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
)

// far is records that are far away: it counts how often they are looked at.
type far struct {
	database.Store
	mu     sync.Mutex // guards what follows
	held   bool
	looks  int
	during func() // happens once, after the next look and before its end
}

func (f *far) Held() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held
}

func (f *far) View(read func(database.Tx) error) error {
	err := f.Store.View(read)
	f.mu.Lock()
	f.looks++
	during := f.during
	f.during = nil
	f.mu.Unlock()
	if during != nil {
		during()
	}
	return err
}

// A machine's token is looked at once, until something changes that it depends on; what is known of
// it counts only while nobody else can have changed it.
func TestMachinesAreRemembered(t *testing.T) {
	now := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	o := Options{Volatile: true, Now: func() time.Time { return now }}
	db, err := database.Open(filepath.Join(t.TempDir(), "identity.db"), options(o))
	require.NoError(t, err)
	f := &far{Store: database.InFile(db), held: true}
	s, err := New(f, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	var accounts []model.Account
	for range 2 {
		a := model.NewAccount()
		a.Status = model.Texts{model.StatusActive}
		a, err = s.CreateAccount(a)
		require.NoError(t, err)
		accounts = append(accounts, a)
	}
	token := func(t2 model.Token) (model.Token, string) {
		t2.Kind, t2.AccountID = identity.KindBridge, accounts[0].ID
		made, text, err := s.CreateToken(t2)
		require.NoError(t, err)
		return made, text
	}
	asked := func(text string, looks int, want error) {
		t.Helper()
		before := f.looks
		p, err := s.Authenticate(text)
		require.ErrorIs(t, err, want)
		if want == nil {
			require.Equal(t, accounts[0].ID, p.AccountID)
		}
		require.Equal(t, looks, f.looks-before)
	}
	require.True(t, f.Store.Held(), "a file is its process's alone")
	a, text := token(model.Token{})
	_, brief := token(model.Token{Expires: now.Add(time.Hour)})
	asked(text, 1, nil)
	asked(text, 0, nil)
	asked(text[:len(text)-1]+"?", 1, identity.ErrUnknown)
	asked(brief, 1, nil)
	asked(brief, 0, nil)

	f.held = false // another process may have the records
	asked(text, 1, nil)
	f.held = true
	asked(text, 0, nil)

	change := func(account model.Account, status string) {
		account.Status = model.Texts{status}
		require.NoError(t, s.Update(func(tx *Tx) error { return tx.PutAccount(account) }))
	}
	change(accounts[1], model.StatusSuspended) // another one's
	asked(text, 0, nil)
	change(accounts[0], model.StatusSuspended)
	asked(text, 1, identity.ErrUnknown)
	change(accounts[0], model.StatusActive)
	asked(text, 1, nil)
	asked(brief, 1, nil)
	now = now.Add(time.Hour)
	asked(brief, 1, identity.ErrUnknown)

	// What is revoked while it is looked at is not remembered as it was.
	_, other := token(model.Token{})
	asked(text, 0, nil)
	f.held = false
	f.during = func() { _, err = s.RevokeToken(a.ID) }
	asked(text, 1, nil)
	require.NoError(t, err)
	f.held = true
	asked(text, 1, identity.ErrUnknown)
	asked(other, 1, nil)
	asked(other, 0, nil)
}
