package identity

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

func TestTokenLife(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.db")
	c := &clock{time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)}
	s := open(t, path, c)
	acc, err := s.CreateAccount(Account{Name: "Demo"})
	require.NoError(t, err)
	user, err := s.CreateUser(User{AccountID: acc.ID, FirstName: "Anna", Email: "anna@example.org", TimeZone: "Europe/Berlin"})
	require.NoError(t, err)
	forUser, userSecret, err := s.CreateToken(Token{Kind: KindUser, AccountID: acc.ID, UserID: user.ID, Name: "laptop", Cameras: []string{"cam-1"}, Scopes: []string{ScopeRead}})
	require.NoError(t, err)
	c.t = c.t.Add(time.Minute) // lists go by the time of making
	_, bridgeSecret, err := s.CreateToken(Token{Kind: KindBridge, AccountID: acc.ID, Name: "gate", Expires: c.t.Add(time.Hour)})
	require.NoError(t, err)
	require.NotEqual(t, userSecret, bridgeSecret)

	p, err := s.Authenticate(userSecret)
	require.NoError(t, err)
	require.Equal(t, Principal{TokenID: forUser.ID, Name: "laptop", Kind: KindUser, AccountID: acc.ID, Cameras: []string{"cam-1"}, Scopes: []string{ScopeRead},
		User: vms.User{ID: user.ID, FirstName: "Anna", AccountID: acc.ID, Email: "anna@example.org", Language: "en", TimeZone: &vms.TimeZone{TimeZone: "Europe/Berlin"}}}, p)
	p, err = s.Authenticate(bridgeSecret)
	require.NoError(t, err)
	require.Equal(t, "gate", p.User.FirstName, "a bridge's token has a user of its own name")
	require.Equal(t, acc.ID, p.User.AccountID)

	// All of it is there after a restart, and the file does not hold the tokens.
	require.NoError(t, s.Close())
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, secret := range []string{userSecret, bridgeSecret} {
		tail := secret[len(tokenPrefix)+2*idBytes+1:]
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
	require.ErrorIs(t, err, ErrUnknown)

	// Revocation.
	revoked, err := s.RevokeToken(forUser.ID)
	require.NoError(t, err)
	require.Equal(t, c.t, revoked.Revoked)
	_, err = s.Authenticate(userSecret)
	require.ErrorIs(t, err, ErrUnknown)
	c.t = c.t.Add(time.Hour)
	again, err := s.RevokeToken(forUser.ID)
	require.NoError(t, err)
	require.Equal(t, revoked.Revoked, again.Revoked, "the first time counts")
	_, err = s.RevokeToken("nobody")
	require.ErrorIs(t, err, ErrNotFound)

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
	acc, err := s.CreateAccount(Account{ID: "acc-1"})
	require.NoError(t, err)
	tok, secret, err := s.CreateToken(Token{Kind: KindUser, AccountID: acc.ID})
	require.NoError(t, err)
	flipped := []byte(secret)
	flipped[len(flipped)-2] ^= 1
	for name, bad := range map[string]string{"empty": "", "id alone": tokenPrefix + tok.ID, "id with no secret": tokenPrefix + tok.ID + "_", "one bit": string(flipped),
		"longer": secret + "A", "shorter": secret[:len(secret)-1], "other prefix": strings.Replace(secret, "vms1", "vms2", 1), "other id": strings.Replace(secret, tok.ID, NewID(), 1),
		"nul": "\x00", "huge": strings.Repeat("a", 1<<20)} {
		_, err := s.Authenticate(bad)
		require.ErrorIs(t, err, ErrUnknown, name)
	}
	require.NoError(t, s.Close())
	_, err = s.Authenticate(secret)
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrUnknown, "a broken store does not call a good token bad")
}

func TestCreateRefuses(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "identity.db"), &clock{time.Now()})
	_, err := s.CreateAccount(Account{ID: "acc-1"})
	require.NoError(t, err)
	_, err = s.CreateAccount(Account{ID: "acc-1", Name: "again"})
	require.ErrorIs(t, err, ErrExists)
	_, err = s.CreateAccount(Account{ID: "a/b"})
	require.Error(t, err)
	_, err = s.CreateUser(User{AccountID: "none"})
	require.ErrorIs(t, err, ErrNotFound)
	_, err = s.CreateAccount(Account{ID: "acc-2"})
	require.NoError(t, err)
	u2, err := s.CreateUser(User{AccountID: "acc-2"})
	require.NoError(t, err)
	for name, bad := range map[string]Token{
		"no kind": {AccountID: "acc-1"}, "other kind": {AccountID: "acc-1", Kind: "admin"}, "no account": {Kind: KindUser},
		"unknown account": {Kind: KindUser, AccountID: "acc-3"}, "user of another": {Kind: KindUser, AccountID: "acc-1", UserID: u2.ID},
		"unknown scope": {Kind: KindUser, AccountID: "acc-1", Scopes: []string{"vms.al"}}, "bad camera": {Kind: KindUser, AccountID: "acc-1", Cameras: []string{""}},
	} {
		_, secret, err := s.CreateToken(bad)
		require.Error(t, err, name)
		require.Empty(t, secret)
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
	require.ErrorContains(t, err, "timeout")
	require.NoError(t, os.WriteFile(path+"x", []byte("this is no database, though long enough to be looked at"), 0o600))
	_, err = Open(path+"x", Options{})
	require.Error(t, err)
}

func TestFixed(t *testing.T) {
	f := NewFixed()
	_, err := f.Authenticate("")
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorContains(t, f.Add("", Principal{Name: "lan"}), "lan")
	_, err = f.Authenticate("")
	require.ErrorIs(t, err, ErrUnknown)
	require.NoError(t, f.Add("one", Principal{Name: "first", AccountID: "a"}))
	require.NoError(t, f.Add("two", Principal{Name: "second", AccountID: "a", Kind: KindBridge, User: vms.User{ID: "u", LastName: "L", Language: "ja"}}))
	p, err := f.Authenticate("one")
	require.NoError(t, err)
	require.Equal(t, KindUser, p.Kind)
	require.Equal(t, vms.User{ID: "first", FirstName: "first", AccountID: "a", Language: "en"}, p.User)
	p, err = f.Authenticate("two")
	require.NoError(t, err)
	require.Equal(t, vms.User{ID: "u", LastName: "L", AccountID: "a", Language: "ja"}, p.User)
	for _, bad := range []string{"on", "onee", "ONE", "one "} {
		_, err = f.Authenticate(bad)
		require.ErrorIs(t, err, ErrUnknown)
	}
}

// A token that may see no camera does not turn into one that may see all by being written down.
func TestNoCameraIsNotAllCameras(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "identity.db"), &clock{time.Now()})
	_, err := s.CreateAccount(Account{ID: "acc-1"})
	require.NoError(t, err)
	for _, cameras := range [][]string{nil, {}} {
		_, secret, err := s.CreateToken(Token{Kind: KindUser, AccountID: "acc-1", Cameras: cameras})
		require.NoError(t, err)
		p, err := s.Authenticate(secret)
		require.NoError(t, err)
		require.Equal(t, cameras == nil, p.Sees(vms.Actor{Type: vms.ActorCamera, ID: "c"}))
	}
}

func TestPrincipal(t *testing.T) {
	cam := func(id string) vms.Actor { return vms.Actor{Type: vms.ActorCamera, ID: id} }
	all, one, none := Principal{}, Principal{Cameras: []string{"c1"}}, Principal{Cameras: []string{}}
	require.True(t, all.Sees(cam("c2")) && all.Sees(vms.Actor{Type: vms.ActorBridge, ID: "b"}))
	require.True(t, one.Sees(cam("c1")))
	require.False(t, one.Sees(cam("c2")) || one.Sees(vms.Actor{Type: vms.ActorBridge, ID: "c1"}))
	require.False(t, none.Sees(cam("c1")), "a list without a camera is not the same as no list")

	require.True(t, all.May(ScopeRead) && all.May(ScopeReport))
	require.True(t, Principal{Scopes: []string{ScopeAll}}.May(ScopeReport))
	require.False(t, Principal{Scopes: []string{ScopeRead}}.May(ScopeReport))
}
