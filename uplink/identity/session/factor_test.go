package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/store"
)

// The end-to-end tests, over HTTP with a mail server and a gateway, are in identity/web.

// outbox keeps messages instead of sending them.
type outbox struct {
	mu   sync.Mutex // guards sent and fail
	sent []notify.Message
	fail error
}

func (b *outbox) Send(l notify.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail == nil {
		b.sent = append(b.sent, l)
	}
	return b.fail
}

func (b *outbox) Can(notify.Channel) bool { return true }

func (b *outbox) last() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sent[len(b.sent)-1].Code
}

type fixture struct {
	*Service
	outbox *outbox
	now    time.Time
	user   model.User
}

const password = "correct horse 1"

func newFixture(t testing.TB, path string) *fixture {
	b := &fixture{outbox: &outbox{}, now: time.Date(2026, 11, 16, 17, 0, 0, 0, time.UTC)}
	s, err := store.Open(path, store.Options{Now: func() time.Time { return b.now }, Volatile: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	hasher := identity.NewHasher(identity.Cost{MemoryKiB: 64, Passes: 1, Lanes: 1}, 4)
	b.Service = New(Options{Store: s, Hasher: hasher, Post: b.outbox})
	a := model.NewAccount()
	a.ID, a.Status = "acc", model.Texts{model.StatusActive}
	_, err = s.CreateAccount(a)
	require.NoError(t, err)
	u := model.NewUser()
	u.Email, u.SMSPhone, u.OwnerAccountID, u.IsActive, u.IsPending, u.IsFactorEnabled = "a@b.c", "+15125550100",
		"acc", true, false, true
	u.Inner.PasswordHash, err = hasher.Hash(context.Background(), password)
	require.NoError(t, err)
	b.user, err = s.CreateUser(u)
	require.NoError(t, err)
	return b
}

// ticket begins a sign-in and returns its token.
func (b *fixture) ticket(t testing.TB) string {
	token := identity.NewTicket()
	require.NoError(t, b.store.Update(func(tx *store.Tx) error {
		return tx.PutTicket(model.Ticket{Hash: identity.HashToken(token), Purpose: model.PurposeLogin,
			AccountID: "acc", UserID: b.user.ID, Created: tx.Now(),
			Expires: tx.Now().Add(15 * time.Minute), Factor: true})
	}))
	return token
}

func (b *fixture) caller(t testing.TB) Caller {
	s := model.Session{Hash: identity.HashToken(identity.NewToken(8)), UserID: b.user.ID, ActiveAccount: "acc",
		Created: b.now, Seen: b.now}
	require.NoError(t, b.store.Update(func(tx *store.Tx) error { return tx.PutSession(s) }))
	return Caller{User: b.user, Session: s}
}

func codeOf(err error) int {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// Whatever is tried in whatever order, a code lets in only if it is the one sent last, within 15
// minutes, once, and before the fourth wrong one since the last right one.
func TestCheckProperty(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		b := newFixture(t, filepath.Join(dir, fmt.Sprint(n)))
		ticket, u := model.Ticket{Hash: []byte("h"), Purpose: model.PurposeLogin, UserID: "u", Factor: true}, b.user
		current, sentAt, wrong, locked := "", time.Time{}, 0, false
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			switch rapid.IntRange(0, 4).Draw(r, "step") {
			case 0:
				require.NoError(r, b.store.Update(func(tx *store.Tx) error {
					if !locked {
						current, sentAt = issue(tx, &ticket, u, notify.Mail, u.Email).Code, b.now
					}
					return nil
				}))
			case 1:
				b.now = b.now.Add(time.Duration(rapid.IntRange(1, 16*60).Draw(r, "pass")) * time.Second)
			default:
				try := current
				if current == "" || rapid.Bool().Draw(r, "wrong") {
					try = rapid.SampledFrom([]string{"", "0000", "00000", "x", "１２３４", current + " "}).Draw(r, "try")
				}
				var err error
				require.NoError(r, b.store.Update(
					func(tx *store.Tx) error { err = b.checkCode(tx, &ticket, &u, try); return nil }))
				want := 0
				switch {
				case locked:
					want = 429
				case try == "" || current == "" || b.now.Sub(sentAt) >= 15*time.Minute:
					want = 401
				case try == current:
					current, wrong = "", 0
				default:
					if wrong++; wrong > 3 {
						want, locked = 429, true
					} else {
						want = 406
					}
				}
				require.Equal(r, want, codeOf(err), "try %q of %q: %v", try, current, err)
				require.Equal(r, locked, u.Locked())
			}
		}
	})
}

func TestMasked(t *testing.T) {
	for _, c := range []struct{ email, phone, wantEmail, wantPhone string }{
		{"anna.long@example.org", "+1 (512) 555-0123", "a***@example.org", "***23"},
		{"a@b", "", "a***@b", "no phone number"},
		{"", "", "***", "no phone number"},
		{"@", "7", "***", "***7"},
	} {
		require.Equal(t, Masked{SMS: c.wantPhone, Email: c.wantEmail},
			maskedWays(model.User{Email: c.email, SMSPhone: c.phone}))
	}
}

// When nothing can be sent, that is said, and no ticket is left half done.
func TestWhatThePostSays(t *testing.T) {
	b := newFixture(t, filepath.Join(t.TempDir(), "db"))
	token, c := b.ticket(t), b.caller(t)
	change := map[string]json.RawMessage{"sms_phone": json.RawMessage(`"+15125550199"`)}
	b.outbox.fail = notify.ErrFull
	require.Equal(t, 503, codeOf(b.SendCode(token, "sms")))
	require.Equal(t, 503, codeOf(b.PrepareChange(t.Context(), c, "sms", password, change)))
	b.outbox.fail = notify.ErrNoChannel
	require.Equal(t, 412, codeOf(b.SendCode(token, "sms")))
	require.Equal(t, 415, codeOf(b.PrepareChange(t.Context(), c, "sms", password, change)))
	b.outbox.fail = nil
	require.NoError(t, b.SendCode(token, "sms"))
	require.NoError(t, b.PrepareChange(t.Context(), c, "sms", password, change))
	require.NoError(t, b.VerifyChange(c, b.outbox.last()))
}

// A session that ended, a user who was disabled and a password that was changed while a change was
// on its way stop it.
func TestChangesMeanwhile(t *testing.T) {
	change := map[string]json.RawMessage{"email": json.RawMessage(`"new@b.c"`)}
	for name, set := range map[string]func(tx *store.Tx, b *fixture, c Caller) error{
		"session ended": func(tx *store.Tx, _ *fixture, c Caller) error { return tx.DeleteSession(c.Session.Hash) },
		"user disabled": func(tx *store.Tx, b *fixture, _ Caller) error {
			u := b.user
			u.IsActive = false
			return tx.PutUser(u)
		},
		"user deleted": func(tx *store.Tx, b *fixture, _ Caller) error { return tx.DeleteUser(b.user.ID) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t, filepath.Join(t.TempDir(), "db"))
			c := b.caller(t)
			require.NoError(t, b.PrepareChange(t.Context(), c, "email", password, change))
			require.NoError(t, b.store.Update(func(tx *store.Tx) error { return set(tx, b, c) }))
			require.Equal(t, 401, codeOf(b.VerifyChange(c, b.outbox.last())))
			require.Equal(t, 401, codeOf(b.PrepareChange(t.Context(), c, "email", password, change)))
		})
	}
	b := newFixture(t, filepath.Join(t.TempDir(), "db"))
	c := b.caller(t)
	u := b.user
	u.Inner.PasswordHash = ""
	require.NoError(t, b.store.Update(func(tx *store.Tx) error { return tx.PutUser(u) }))
	require.Equal(t, 401, codeOf(b.PrepareChange(t.Context(), c, "email", password, change)),
		"the password is another one now")

	// The account began to ask everyone for a code after the change was prepared.
	b = newFixture(t, filepath.Join(t.TempDir(), "db"))
	c = b.caller(t)
	require.NoError(t, b.PrepareChange(t.Context(), c, "email", password,
		map[string]json.RawMessage{"is_two_factor_authentication_enabled": json.RawMessage("0")}))
	require.NoError(t, b.store.Update(func(tx *store.Tx) error {
		a, err := tx.Account("acc")
		a.IsFactorForced = true
		return errors.Join(err, tx.PutAccount(a))
	}))
	require.Equal(t, 406, codeOf(b.VerifyChange(c, b.outbox.last())))
}

// Many who try at once get no more tries than one after the other.
func TestWrongCodesAtOnce(t *testing.T) {
	b := newFixture(t, filepath.Join(t.TempDir(), "db"))
	c := b.caller(t)
	require.NoError(t, b.PrepareChange(t.Context(), c, "sms", password,
		map[string]json.RawMessage{"sms_phone": json.RawMessage(`""`)}))
	right := b.outbox.last()
	var g sync.WaitGroup
	for i := range 20 {
		g.Go(func() {
			if code := fmt.Sprintf("%04d", i); code != right {
				_ = b.VerifyChange(c, code)
			}
		})
	}
	g.Wait()
	require.NoError(t, b.store.View(func(tx *store.Tx) error {
		u, err := tx.User(b.user.ID)
		require.True(t, u.Locked())
		require.Equal(t, 4, u.Inner.CodeFailures)
		return err
	}))
	require.NotEmpty(t, codeOf(b.VerifyChange(c, right)))
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"email":"a@b.c"}`, `{"sms_phone":"+1 512 555 0100"}`,
		`{"is_two_factor_authentication_enabled":1}`, `{"sms_phone":null}`, `{"email":["x"]}`, `{}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return
		}
		w, bad := parse(fields)
		if bad != nil {
			require.Equal(t, 400, bad.Code)
			return
		}
		n := 0
		if w.Phone != nil {
			n++
			require.True(t, *w.Phone == "" || model.CheckPhone(*w.Phone) == nil)
		}
		if w.Email != nil {
			n++
			require.NoError(t, model.CheckEmail(*w.Email))
		}
		if w.Enabled != nil {
			n++
		}
		require.Equal(t, 1, n, "exactly one field")
	})
}
