package store

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/vms"
)

func fresh(t testing.TB, c *clock) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "identity.db"), Options{Now: c.now, Volatile: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Two who change different fields of one record at the same time both succeed.
func TestNoUpdateIsLost(t *testing.T) {
	s := fresh(t, &clock{time.Now()})
	_, err := s.CreateAccount(active("acc", ""))
	require.NoError(t, err)
	u, err := s.CreateUser(member("acc", "a@x.org"))
	require.NoError(t, err)
	const writers, each = 8, 20
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				err := s.Update(func(tx *Tx) error {
					u, err := tx.User(u.ID)
					if err != nil {
						return err
					}
					u.Inner.CodeFailures++
					return tx.PutUser(u)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, s.View(func(tx *Tx) error {
		u, err := tx.User(u.ID)
		require.Equal(t, writers*each, u.Inner.CodeFailures)
		return err
	}))
}

func TestAnUpdateThatFailsChangesNothing(t *testing.T) {
	s := fresh(t, &clock{time.Now()})
	_, err := s.CreateAccount(active("acc", ""))
	require.NoError(t, err)
	err = s.Update(func(tx *Tx) error {
		if _, err := tx.AddUser(member("acc", "a@x.org")); err != nil {
			return err
		}
		if err := tx.Record(model.AuditEntry{AccountID: "acc", Action: model.AuditCreate}); err != nil {
			return err
		}
		_, err := tx.AddUser(member("acc", "A@X.org"))
		return err
	})
	require.ErrorIs(t, err, identity.ErrExists, "addresses that differ in case only are one")
	require.NoError(t, s.View(func(tx *Tx) error {
		users, err := tx.UsersOf("acc")
		require.Empty(t, users)
		trail, err2 := tx.AuditTrail("", 0, 10)
		require.Empty(t, trail)
		require.NoError(t, err2)
		_, notFound := tx.UserByEmail("a@x.org")
		require.ErrorIs(t, notFound, identity.ErrNotFound)
		return err
	}))
}

// Whatever is done to users and accounts, the indexes say what the records say.
func TestIndexesAgreeWithRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := rapidDir(t)
		s, err := Open(filepath.Join(dir, "identity.db"), Options{Volatile: true})
		require.NoError(t, err)
		defer s.Close()
		plain := map[string]model.User{}
		for _, id := range []string{"a1", "a2"} {
			_, err := s.CreateAccount(active(id, ""))
			require.NoError(t, err)
		}
		emails := rapid.SampledFrom([]string{"x@x.org", "X@x.org", "y@x.org", "z@x.org", ""})
		accounts := rapid.SampledFrom([]string{"a1", "a2"})
		ids := rapid.SampledFrom([]string{"u1", "u2", "u3", "u4"})
		taken := func(email, but string) bool {
			for id, u := range plain {
				if id != but && email != "" && model.Fold(u.Email) == model.Fold(email) {
					return true
				}
			}
			return false
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				u := member(accounts.Draw(t, "account"), emails.Draw(t, "email"))
				u.ID = ids.Draw(t, "id")
				err := s.Update(func(tx *Tx) error { return tx.PutUser(u) })
				require.Equal(t, taken(u.Email, u.ID), err != nil)
				if err == nil {
					plain[u.ID] = u
				}
			},
			"delete": func(t *rapid.T) {
				id := ids.Draw(t, "id")
				err := s.Update(func(tx *Tx) error { return tx.DeleteUser(id) })
				_, there := plain[id]
				require.Equal(t, there, err == nil)
				delete(plain, id)
			},
			"": func(t *rapid.T) {
				require.NoError(t, s.View(func(tx *Tx) error {
					n := 0
					for _, account := range []string{"a1", "a2"} {
						users, err := tx.UsersOf(account)
						require.NoError(t, err)
						for _, u := range users {
							require.Equal(t, plain[u.ID].OwnerAccountID, account)
							n++
						}
					}
					require.Equal(t, len(plain), n)
					for _, u := range plain {
						if u.Email == "" {
							continue
						}
						found, err := tx.UserByEmail(u.Email)
						require.NoError(t, err)
						require.Equal(t, u.ID, found.ID)
					}
					_, err := tx.UserByEmail("")
					require.Error(t, err)
					return nil
				}))
			},
		})
	})
}

func rapidDir(t *rapid.T) string {
	dir := filepath.Join(testDir, fmt.Sprint(identity.NewID()))
	require.NoError(t, mkdir(dir))
	return dir
}

func TestDeletingTakesEverythingAlong(t *testing.T) {
	c := &clock{time.Now()}
	s := fresh(t, c)
	master := active("m", "")
	master.IsMaster = true
	_, err := s.CreateAccount(master)
	require.NoError(t, err)
	child := active("c", "")
	child.OwnerAccountID = "m"
	_, err = s.CreateAccount(child)
	require.NoError(t, err)
	u, err := s.CreateUser(member("c", "a@x.org"))
	require.NoError(t, err)
	_, text, err := s.CreateToken(model.Token{Kind: identity.KindUser, AccountID: "c", UserID: u.ID})
	require.NoError(t, err)
	_, bridge, err := s.CreateToken(model.Token{Kind: identity.KindBridge, AccountID: "c"})
	require.NoError(t, err)
	require.NoError(t, s.Update(func(tx *Tx) error {
		require.NoError(t, tx.PutSession(model.Session{Hash: []byte("s"), UserID: u.ID}))
		require.NoError(t, tx.PutTicket(model.Ticket{Hash: []byte("t"), UserID: u.ID, Purpose: model.PurposePassword,
			Expires: c.t.Add(time.Hour)}))
		list, err := tx.Children("m")
		require.Len(t, list, 1)
		require.ErrorIs(t, tx.DeleteAccount("m"), identity.ErrExists, "not while it has sub-accounts")
		return err
	}))
	require.NoError(t, s.Update(func(tx *Tx) error { return tx.DeleteAccount("c") }))
	for _, token := range []string{text, bridge} {
		_, err = s.Authenticate(token)
		require.ErrorIs(t, err, identity.ErrUnknown)
	}
	require.NoError(t, s.View(func(tx *Tx) error {
		_, err := tx.Session([]byte("s"))
		require.ErrorIs(t, err, identity.ErrNotFound)
		_, err = tx.Ticket([]byte("t"))
		require.ErrorIs(t, err, identity.ErrNotFound)
		_, err = tx.UserByEmail("a@x.org")
		require.ErrorIs(t, err, identity.ErrNotFound)
		list, err := tx.Children("m")
		require.Empty(t, list)
		return err
	}))
	require.NoError(t, s.Update(func(tx *Tx) error { return tx.DeleteAccount("m") }))
}

func TestSessionsAndTickets(t *testing.T) {
	c := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	s := fresh(t, c)
	require.NoError(t, s.Update(func(tx *Tx) error {
		for i, expires := range []time.Time{c.t.Add(time.Hour), {}, c.t.Add(2 * time.Hour)} {
			require.NoError(t, tx.PutSession(model.Session{Hash: []byte{byte(i)}, UserID: "u", Seen: c.t,
				Expires: expires}))
		}
		require.NoError(t, tx.PutTicket(model.Ticket{Hash: []byte("a"), UserID: "u", Purpose: model.PurposeLogin,
			Expires: c.t.Add(time.Minute)}))
		require.NoError(t, tx.PutTicket(model.Ticket{Hash: []byte("b"), UserID: "u", Purpose: model.PurposePassword,
			Expires: c.t.Add(24 * time.Hour)}))
		require.NoError(t, tx.PutTicket(model.Ticket{Hash: []byte("c"), Purpose: model.PurposePassword,
			Expires: c.t.Add(time.Minute)}))
		require.NoError(t, tx.PutAttempts("A@x.org", model.Attempts{Count: 3, Last: c.t}))
		return nil
	}))
	count := func() (sessions, tickets, attempts int) {
		require.NoError(t, s.View(func(tx *Tx) error {
			list, err := tx.SessionsOf("u")
			require.NoError(t, err)
			held, err := all[model.Ticket](tx, bucketTickets)
			require.NoError(t, err)
			a, err := tx.Attempts("a@x.org")
			sessions, tickets, attempts = len(list), len(held), a.Count
			return err
		}))
		return sessions, tickets, attempts
	}
	check := func(s, k, a int) {
		t.Helper()
		gs, gk, ga := count()
		require.Equal(t, []int{s, k, a}, []int{gs, gk, ga})
	}
	check(3, 3, 3)
	c.t = c.t.Add(time.Hour)
	require.NoError(t, s.Prune())
	check(2, 1, 3)
	c.t = c.t.Add(25 * time.Hour)
	require.NoError(t, s.Prune())
	check(1, 0, 0)
	c.t = c.t.AddDate(2, 0, 0)
	require.NoError(t, s.Prune())
	check(0, 0, 0)
	require.NoError(t, s.Update(func(tx *Tx) error {
		for i := range 3 {
			require.NoError(t, tx.PutSession(model.Session{Hash: []byte{byte(i)}, UserID: "u"}))
		}
		return tx.EndSessions("u", []byte{1})
	}))
	check(1, 0, 0)
	require.NoError(t, s.Update(func(tx *Tx) error { return tx.DeleteSession([]byte("never there")) }))
}

func TestTrail(t *testing.T) {
	s := fresh(t, &clock{time.Now()})
	require.NoError(t, s.Update(func(tx *Tx) error {
		for i := range 10 {
			require.NoError(t, tx.Record(model.AuditEntry{AccountID: []string{"a", "ab"}[i%2], Target: fmt.Sprint(i)}))
		}
		return nil
	}))
	targets := func(list []model.AuditEntry, err error) (out []string) {
		require.NoError(t, err)
		for _, e := range list {
			out = append(out, e.Target)
		}
		return out
	}
	require.NoError(t, s.View(func(tx *Tx) error {
		require.Equal(t, []string{"8", "6", "4"}, targets(tx.AuditTrail("a", 0, 3)))
		require.Equal(t, []string{"2", "0"}, targets(tx.AuditTrail("a", 5, 3)))
		require.Equal(t, []string{"9", "7", "5", "3", "1"}, targets(tx.AuditTrail("ab", 0, 99)))
		require.Equal(t, []string{"9", "8"}, targets(tx.AuditTrail("", 0, 2)))
		require.Empty(t, targets(tx.AuditTrail("none", 0, 9)))
		require.Equal(t, []string{"7", "8"}, targets(tx.AuditTrailAfter(7, 2)))
		return nil
	}))
	require.NoError(t, s.Update(func(tx *Tx) error { return tx.PruneAuditTrail(8) }))
	require.NoError(t, s.View(func(tx *Tx) error {
		require.Equal(t, []string{"8"}, targets(tx.AuditTrail("a", 0, 9)))
		require.Equal(t, []string{"9", "8"}, targets(tx.AuditTrail("", 0, 9)))
		return nil
	}))
}

// A user's token follows the user: what the record allows at the moment, nothing while the user or
// account may not act.
func TestATokenFollowsItsUser(t *testing.T) {
	c := &clock{time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)}
	s := fresh(t, c)
	_, err := s.CreateAccount(active("acc", ""))
	require.NoError(t, err)
	u, err := s.CreateUser(member("acc", "a@x.org", func(u *model.User) { u.Timezone = "UTC" }))
	require.NoError(t, err)
	_, text, err := s.CreateToken(model.Token{Kind: identity.KindUser, AccountID: "acc", UserID: u.ID})
	require.NoError(t, err)
	_, bridge, err := s.CreateToken(model.Token{Kind: identity.KindBridge, AccountID: "acc"})
	require.NoError(t, err)
	_, refresh, err := s.CreateToken(model.Token{Kind: identity.KindUser, AccountID: "acc", UserID: u.ID,
		Purpose: "refresh"})
	require.NoError(t, err)
	_, err = s.Authenticate(refresh)
	require.ErrorIs(t, err, identity.ErrUnknown, "a refresh token opens nothing")
	user := func(f func(*model.User)) {
		require.NoError(t, s.Update(func(tx *Tx) error {
			now, err := tx.User(u.ID)
			require.NoError(t, err)
			f(&now)
			return tx.PutUser(now)
		}))
	}
	status := func(v string) {
		require.NoError(t, s.Update(func(tx *Tx) error {
			a, err := tx.Account("acc")
			require.NoError(t, err)
			a.Status = model.Texts{v}
			return tx.PutAccount(a)
		}))
	}
	good := func(token string) bool {
		_, err := s.Authenticate(token)
		if err != nil {
			require.ErrorIs(t, err, identity.ErrUnknown)
		}
		return err == nil
	}
	cam := vms.Actor{Type: vms.ActorCamera, ID: "cam"}
	p, err := s.Authenticate(text)
	require.NoError(t, err)
	require.False(t, p.Sees(cam))
	user(func(u *model.User) { u.CameraAccess = model.Lists{{"cam", "R"}} })
	p, err = s.Authenticate(text)
	require.NoError(t, err)
	require.True(t, p.Sees(cam))

	user(func(u *model.User) { u.Inner.Locked = c.t })
	require.False(t, good(text))
	user(func(u *model.User) { u.Inner.Locked, u.IsActive = time.Time{}, false })
	require.False(t, good(text))
	user(func(u *model.User) { u.IsActive, u.AccessPeriod = true, model.Texts{"0-0800-1000"} })
	require.False(t, good(text), "it is Monday noon")
	user(func(u *model.User) { u.AccessPeriod = model.Texts{"0-1100-1300"} })
	require.True(t, good(text))
	for v, want := range map[string][2]bool{model.StatusActive: {true, true}, model.StatusInactive: {false, true},
		model.StatusSuspended: {false, false}, model.StatusPending: {false, false}} {
		status(v)
		require.Equal(t, want, [2]bool{good(text), good(bridge)}, v)
	}
}

func TestSharesReachTheirRecipients(t *testing.T) {
	s := fresh(t, &clock{time.Now()})
	owner := active("own", "")
	owner.CameraShares = model.Lists{{"cam", "B@x.org,"}}
	_, err := s.CreateAccount(owner)
	require.NoError(t, err)
	_, err = s.CreateAccount(active("other", ""))
	require.NoError(t, err)
	u, err := s.CreateUser(member("other", "b@x.org", func(u *model.User) { u.Inner.Mailbox = "b@x.org" }))
	require.NoError(t, err)
	_, text, err := s.CreateToken(model.Token{Kind: identity.KindUser, AccountID: "other", UserID: u.ID})
	require.NoError(t, err)
	home := func() string {
		p, err := s.Authenticate(text)
		require.NoError(t, err)
		return p.Home("cam")
	}
	require.Equal(t, "own", home())
	require.NoError(t, s.Update(func(tx *Tx) error {
		owner.CameraShares = nil
		return tx.PutAccount(owner)
	}))
	require.Equal(t, "other", home())
}

// A file of a newer version is refused.
func TestNewerVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.db")
	s, err := Open(path, Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	db, err := bolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(bucketMeta)).Put(keyVersion, []byte("3"))
	}))
	require.NoError(t, db.Close())
	_, err = Open(path, Options{})
	require.ErrorContains(t, err, "newer program")
}
