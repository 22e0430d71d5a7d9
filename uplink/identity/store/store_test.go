package store

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/vms"
)

// clock is a time that a test moves.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func open(t *testing.T, path string, c *clock) *Store {
	t.Helper()
	s, err := Open(path, Options{Now: c.now})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// active is an account that is in use.
func active(id, name string) model.Account {
	a := model.NewAccount()
	a.ID, a.Name, a.Status = id, name, model.Texts{model.StatusActive}
	return a
}

// member is a user who may sign in.
func member(account, email string, set ...func(*model.User)) model.User {
	u := model.NewUser()
	u.OwnerAccountID, u.Email, u.IsActive, u.IsPending = account, email, true, false
	for _, f := range set {
		f(&u)
	}
	return u
}

func TestTokenLife(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.db")
	c := &clock{time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)}
	s := open(t, path, c)
	acc, err := s.CreateAccount(active("", "Demo"))
	require.NoError(t, err)
	user, err := s.CreateUser(member(acc.ID, "anna@example.org",
		func(u *model.User) { u.FirstName, u.Timezone = "Anna", "Europe/Berlin" }))
	require.NoError(t, err)
	forUser, userSecret, err := s.CreateToken(model.Token{Kind: identity.KindUser, AccountID: acc.ID, UserID: user.ID,
		Name: "laptop", Cameras: []string{"cam-1"}, Scopes: []string{identity.ScopeRead}})
	require.NoError(t, err)
	c.t = c.t.Add(time.Minute) // lists go by the time of making
	_, bridgeSecret, err := s.CreateToken(model.Token{Kind: identity.KindBridge, AccountID: acc.ID, Name: "gate",
		Expires: c.t.Add(time.Hour)})
	require.NoError(t, err)
	require.NotEqual(t, userSecret, bridgeSecret)

	p, err := s.Authenticate(userSecret)
	require.NoError(t, err)
	require.NotNil(t, p.Grants)
	p.Grants = nil
	require.Equal(t, identity.Principal{TokenID: forUser.ID, Holder: "user:" + user.ID, Name: "laptop",
		Kind: identity.KindUser, AccountID: acc.ID, Cameras: []string{"cam-1"}, Scopes: []string{identity.ScopeRead},
		User: vms.User{ID: user.ID, FirstName: "Anna", AccountID: acc.ID, Email: "anna@example.org",
			Language: "en-us", TimeZone: &vms.TimeZone{TimeZone: "Europe/Berlin"}}}, p)
	p, err = s.Authenticate(bridgeSecret)
	require.NoError(t, err)
	require.Equal(t, "gate", p.User.FirstName, "a bridge's token has a user of its own name")
	require.Equal(t, acc.ID, p.User.AccountID)

	// All of it is there after a restart, and the file does not hold the tokens.
	require.NoError(t, s.Close())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, text := range []string{userSecret, bridgeSecret} {
		tail := text[len("vms1_")+13:]
		require.NotContains(t, string(raw), tail)
		bits, err := base64.RawURLEncoding.DecodeString(tail)
		require.NoError(t, err)
		require.Len(t, bits, 32)
		require.False(t, bytes.Contains(raw, bits))
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	s = open(t, path, c)
	_, err = s.Authenticate(userSecret)
	require.NoError(t, err)

	// Expiry, to the moment.
	c.t = c.t.Add(time.Hour - time.Second)
	_, err = s.Authenticate(bridgeSecret)
	require.NoError(t, err)
	c.t = c.t.Add(time.Second)
	_, err = s.Authenticate(bridgeSecret)
	require.ErrorIs(t, err, identity.ErrUnknown)

	// Revocation.
	revoked, err := s.RevokeToken(forUser.ID)
	require.NoError(t, err)
	require.Equal(t, c.t, revoked.Revoked)
	_, err = s.Authenticate(userSecret)
	require.ErrorIs(t, err, identity.ErrUnknown)
	c.t = c.t.Add(time.Hour)
	again, err := s.RevokeToken(forUser.ID)
	require.NoError(t, err)
	require.Equal(t, revoked.Revoked, again.Revoked, "the first time counts")
	_, err = s.RevokeToken("nobody")
	require.ErrorIs(t, err, identity.ErrNotFound)

	all, err := s.Tokens()
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, tok := range all {
		require.Empty(t, tok.Hash)
	}
	require.Equal(t, "revoked", all[0].State(c.t))
	require.Equal(t, "expired", all[1].State(c.t))
	require.Equal(t, "active", all[1].State(c.t.Add(-24*time.Hour)))
}

func TestAuthenticateRefuses(t *testing.T) {
	c := &clock{time.Now()}
	s := open(t, filepath.Join(t.TempDir(), "identity.db"), c)
	acc, err := s.CreateAccount(active("acc-1", ""))
	require.NoError(t, err)
	tok, text, err := s.CreateToken(model.Token{Kind: identity.KindUser, AccountID: acc.ID})
	require.NoError(t, err)
	flipped := []byte(text)
	flipped[len(flipped)-2] ^= 1
	for name, bad := range map[string]string{"empty": "", "id alone": "vms1_" + tok.ID, "id with no secret": "vms1_" +
		tok.ID + "_", "one bit": string(flipped),
		"longer": text + "A", "shorter": text[:len(text)-1], "other prefix": strings.Replace(text, "vms1", "vms2", 1),
		"other id": strings.Replace(text, tok.ID, identity.NewID(), 1),
		"nul":      "\x00", "huge": strings.Repeat("a", 1<<20)} {
		_, err := s.Authenticate(bad)
		require.ErrorIs(t, err, identity.ErrUnknown, name)
	}
	require.NoError(t, s.Close())
	_, err = s.Authenticate(text)
	require.Error(t, err)
	require.NotErrorIs(t, err, identity.ErrUnknown, "a broken store does not call a good token bad")
}

func TestCreateRefuses(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "identity.db"), &clock{time.Now()})
	_, err := s.CreateAccount(active("acc-1", ""))
	require.NoError(t, err)
	_, err = s.CreateAccount(active("acc-1", "again"))
	require.ErrorIs(t, err, identity.ErrExists)
	_, err = s.CreateAccount(active("a/b", ""))
	require.Error(t, err)
	_, err = s.CreateUser(member("none", ""))
	require.ErrorIs(t, err, identity.ErrNotFound)
	_, err = s.CreateAccount(active("acc-2", ""))
	require.NoError(t, err)
	u2, err := s.CreateUser(member("acc-2", ""))
	require.NoError(t, err)
	for name, bad := range map[string]model.Token{
		"no kind": {AccountID: "acc-1"}, "other kind": {AccountID: "acc-1", Kind: "admin"},
		"no account":      {Kind: identity.KindUser},
		"unknown account": {Kind: identity.KindUser, AccountID: "acc-3"},
		"user of another": {Kind: identity.KindUser, AccountID: "acc-1", UserID: u2.ID},
		"unknown scope":   {Kind: identity.KindUser, AccountID: "acc-1", Scopes: []string{"vms.al"}},
		"bad camera":      {Kind: identity.KindUser, AccountID: "acc-1", Cameras: []string{""}},
	} {
		_, text, err := s.CreateToken(bad)
		require.Error(t, err, name)
		require.Empty(t, text)
	}
	all, err := s.Tokens()
	require.NoError(t, err)
	require.Empty(t, all)
	users, err := s.Users("acc-1")
	require.NoError(t, err)
	require.Empty(t, users)
	accounts, err := s.Accounts()
	require.NoError(t, err)
	require.Len(t, accounts, 2)
}

func TestOpenIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.db")
	open(t, path, &clock{})
	_, err := Open(path, Options{})
	require.ErrorContains(t, err, "another process has the file open")
	require.NoError(t, os.WriteFile(path+"x", []byte("this is no database, though long enough to be looked at"), 0o600))
	s, err := Open(path+"x", Options{})
	require.NoError(t, err, "what is no database is set aside")
	require.Len(t, s.File().Damage(), 1)
	require.NoError(t, s.Close())
}

// TestAnyPageOfTheFileMayBeLost: the accounts, users and tokens are there, with their ids, and can
// be found by their indexes; also where the account's own record is lost, and its copy.
func TestAnyPageOfTheFileMayBeLost(t *testing.T) {
	from := filepath.Join(t.TempDir(), "identity.db")
	s, err := Open(from, Options{})
	require.NoError(t, err)
	_, err = s.CreateAccount(active("acc-1", ""))
	require.NoError(t, err)
	for i := range 60 {
		u := model.NewUser()
		u.ID, u.OwnerAccountID, u.Email = fmt.Sprintf("user-%02d", i), "acc-1", fmt.Sprintf("u%02d@example.org", i)
		_, err = s.CreateUser(u)
		require.NoError(t, err)
	}
	_, text, err := s.CreateToken(model.Token{Kind: identity.KindUser, AccountID: "acc-1"})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	whole, err := os.ReadFile(from)
	require.NoError(t, err)
	copied, err := os.ReadFile(from + ".copy")
	require.NoError(t, err)
	for page := range len(whole)/4096 + 1 {
		path := filepath.Join(t.TempDir(), "identity.db")
		b := slices.Clone(whole)
		if page == len(whole)/4096 {
			clear(b)
		} else {
			clear(b[page*4096:][:4096])
		}
		require.NoError(t, os.WriteFile(path, b, 0o600))
		require.NoError(t, os.WriteFile(path+".copy", copied, 0o600))
		s, err := Open(path, Options{Volatile: true})
		require.NoError(t, err, "page %d", page)
		users, err := s.Users("acc-1")
		require.NoError(t, err)
		require.Len(t, users, 60, "page %d", page)
		p, err := s.Authenticate(text)
		require.NoError(t, err)
		require.Equal(t, "acc-1", p.AccountID)
		require.NoError(t, s.View(func(tx *Tx) error {
			u, err := tx.UserByEmail("u07@example.org")
			require.Equal(t, "user-07", u.ID)
			return err
		}))
		require.NoError(t, s.Close())
	}
	at := bytes.LastIndex(whole, []byte(`{"record":{"id":"acc-1"`))
	if at < 0 {
		at = bytes.LastIndex(whole, []byte(`"account_id":"acc-1"`))
	}
	path := filepath.Join(t.TempDir(), "identity.db")
	clear(whole[at&^4095:][:4096])
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	s, err = Open(path, Options{Volatile: true})
	require.NoError(t, err)
	accounts, err := s.Accounts()
	require.NoError(t, err)
	require.Len(t, accounts, 1)
	require.Equal(t, "acc-1", accounts[0].ID)
	require.NoError(t, s.Close())
}

// A token that may see no camera does not turn into one that may see all by being written down.
func TestNoCameraIsNotAllCameras(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "identity.db"), &clock{time.Now()})
	_, err := s.CreateAccount(active("acc-1", ""))
	require.NoError(t, err)
	for _, cameras := range [][]string{nil, {}} {
		_, text, err := s.CreateToken(model.Token{Kind: identity.KindUser, AccountID: "acc-1", Cameras: cameras})
		require.NoError(t, err)
		p, err := s.Authenticate(text)
		require.NoError(t, err)
		require.Equal(t, cameras == nil, p.Sees(vms.Actor{Type: vms.ActorCamera, ID: "c"}))
	}
}

// A holder stands as long as what it is stands, whatever becomes of its single tokens.
func TestHolders(t *testing.T) {
	c := &clock{time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)}
	s := open(t, filepath.Join(t.TempDir(), "identity.db"), c)
	acc, err := s.CreateAccount(active("", "Demo"))
	require.NoError(t, err)
	user, err := s.CreateUser(member(acc.ID, "anna@example.org"))
	require.NoError(t, err)
	plain, _, err := s.CreateToken(model.Token{Kind: identity.KindBridge, AccountID: acc.ID, Name: "gate",
		Expires: c.t.Add(time.Hour)})
	require.NoError(t, err)
	client, _, err := s.CreateToken(model.Token{Kind: identity.KindBridge, AccountID: acc.ID, Name: "box",
		Purpose: "client"})
	require.NoError(t, err)
	_, ofClient, err := s.CreateToken(model.Token{Kind: identity.KindBridge, AccountID: acc.ID, Name: "box",
		ClientID: client.ID})
	require.NoError(t, err)
	p, err := s.Authenticate(ofClient)
	require.NoError(t, err)
	require.Equal(t, "client:"+client.ID, p.Holder)
	stands := func(holder, called string, want bool) {
		t.Helper()
		name, ok, err := s.HolderStands(holder)
		require.NoError(t, err)
		require.Equal(t, want, ok)
		require.Equal(t, called, name)
	}
	stands("user:"+user.ID, "anna@example.org", true)
	stands("token:"+plain.ID, "gate", true)
	stands(p.Holder, "box", true)
	stands("user:nobody", "", false)
	stands("token:none", "", false)
	stands("strange", "", false)
	c.t = c.t.Add(2 * time.Hour)
	stands("token:"+plain.ID, "gate", false)
	_, err = s.RevokeToken(client.ID)
	require.NoError(t, err)
	stands(p.Holder, "box", false)
}
