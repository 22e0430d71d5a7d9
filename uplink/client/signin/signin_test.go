package signin_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/client/signin"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

func TestTwoSteps(t *testing.T) {
	b := newBed(t)
	_, c, path, lines := b.source(b.signedIn())
	u, err := c.User(t.Context())
	require.NoError(t, err)
	require.Equal(t, "acc-1", u.AccountID)
	require.Equal(t, anna, onDisk(t, path).User)
	for range 5 {
		_, err = c.User(t.Context())
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, b.tokens.Load(), "one token serves all")
	b.pass(11 * time.Hour)
	_, err = c.User(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, b.tokens.Load(), "it is renewed before it ends")
	s := onDisk(t, path)
	require.NotContains(t, lines.String(), s.Session)
	require.NotContains(t, lines.String(), s.Access)
}

func TestCodeAndTrustedDevice(t *testing.T) {
	b := newBed(t)
	d := b.door()
	c, err := d.Authenticate(t.Context(), ben, password)
	require.NoError(t, err)
	require.NotNil(t, c.Ways)
	require.Contains(t, c.Ways.Mail, "example.org")
	_, err = d.Authorize(t.Context(), c.Token, "")
	require.ErrorContains(t, err, "sign in again from the start (401)")
	require.ErrorContains(t, d.SendCode(t.Context(), c.Token, "pigeon"), "choose the other one (415)")
	require.Error(t, d.SendCode(t.Context(), c.Token, signin.WaySMS))
	require.NoError(t, d.SendCode(t.Context(), c.Token, signin.WayMail))
	wrong := "0000"
	if b.lastCode() == wrong {
		wrong = "0001"
	}
	_, err = d.Authorize(t.Context(), c.Token, wrong)
	require.ErrorContains(t, err, "the code is wrong: try again (406)")
	s, err := d.Authorize(t.Context(), c.Token, b.lastCode())
	require.NoError(t, err)
	require.NotEmpty(t, s.Device)

	d.Device = s.Device
	c, err = d.Authenticate(t.Context(), ben, password)
	require.NoError(t, err)
	require.Nil(t, c.Ways, "the device is trusted")
	_, err = d.Authorize(t.Context(), c.Token, "")
	require.NoError(t, err)

	d.Device = ""
	c, err = d.Authenticate(t.Context(), ben, password)
	require.NoError(t, err)
	require.NoError(t, d.SendCode(t.Context(), c.Token, signin.WayMail))
	for range 3 {
		_, err = d.Authorize(t.Context(), c.Token, wrong)
		require.ErrorContains(t, err, "406")
	}
	_, err = d.Authorize(t.Context(), c.Token, wrong)
	require.ErrorContains(t, err, "only the service's support can unlock it (429)")
	_, err = d.Authenticate(t.Context(), ben, password)
	require.ErrorContains(t, err, "(412)")
}

// Every status that the interface lists for the first step comes from the service itself and says
// what to do.
func TestStatusesOfTheFirstStep(t *testing.T) {
	b := newBed(t)
	for _, c := range []struct {
		words string
		set   func()
	}{
		{"wrong, or an API key is missing: try again (401)", nil},
		{"suspended: settle that with the service, then sign in again (402)",
			func() { b.account(model.StatusSuspended) }},
		{"inactive: ask whoever runs it (460)", func() { b.account(model.StatusInactive) }},
		{"waits to be activated: follow the link in the mail that came when it was made (461)",
			func() { b.account(model.StatusPending) }},
		{"disabled, or locked after wrong codes: an administrator of the account or the service's support must let " +
			"it in again (412)", func() {
			b.account(model.StatusActive)
			b.user(anna, func(u *model.User) { u.IsActive = false })
		}},
		{"no password yet: follow the link in the mail that came when it was made (462)",
			func() { b.user(anna, func(u *model.User) { u.IsPending = true }) }},
	} {
		given := password
		if c.set == nil {
			given = "not the password"
		} else {
			c.set()
		}
		_, err := b.door().Authenticate(t.Context(), anna, given)
		require.ErrorContains(t, err, c.words)
		require.NotContains(t, err.Error(), given)
	}
	for code, words := range map[int]string{404: "check service.url", 302: "leads to another one",
		308: "put that into service.url", 407: "HTTPS_PROXY", 500: "try again later", 200: "not the service's sign-in",
		400: "service.url right", 403: "API key"} {
		b.answer(code)
		_, err := b.door().Authenticate(t.Context(), anna, password)
		require.ErrorContains(t, err, words, "%d", code)
	}
}

// The statuses of the second step and of sending the code: each says what to do.
func TestStatusesOfTheOtherSteps(t *testing.T) {
	b := newBed(t)
	for _, c := range []struct {
		code       int
		send, open string
	}{
		{400, "is service.url right", "is service.url right"},
		{401, "sign in again from the start", "sign in again from the start"},
		{402, "settle that with the service", "settle that with the service"},
		{403, "check the API key", "check the API key"},
		{406, "try again", "the code is wrong: try again"},
		{412, "choose the other one", "an administrator of the account or the service's support must let it in"},
		{415, "choose the other one", "choose the other one"},
		{429, "try again later", "only the service's support can unlock it"},
		{460, "ask whoever runs it", "ask whoever runs it"},
		{461, "follow the link in the mail", "follow the link in the mail"},
		{462, "follow the link in the mail", "follow the link in the mail"},
		{500, "try again later", "try again later"},
	} {
		b.answer(c.code)
		require.ErrorContains(t, b.door().SendCode(t.Context(), "token", signin.WayMail), c.send, "%d", c.code)
		_, err := b.door().Authorize(t.Context(), "token", "1234")
		require.ErrorContains(t, err, c.open, "%d", c.code)
		require.ErrorContains(t, err, fmt.Sprintf("(%d)", c.code))
	}
}

// A session that ends is told, does not make the bridge ask again and again, and a new sign-in is
// noticed without a restart.
func TestRevokedSession(t *testing.T) {
	b := newBed(t)
	src, c, path, lines := b.source(b.signedIn())
	_, err := c.User(t.Context())
	require.NoError(t, err)
	require.NoError(t, src.Trouble())
	r, err := http.NewRequest("POST", b.url+"/g/aaa/logout", nil)
	require.NoError(t, err)
	r.AddCookie(&http.Cookie{Name: "auth_key", Value: onDisk(t, path).Session})
	res, err := b.way().Do(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 204, res.StatusCode)
	b.pass(time.Minute)
	var unauthorized *vms.UnauthorizedError
	for range 5 {
		_, err = c.User(t.Context())
		require.ErrorAs(t, err, &unauthorized)
		require.ErrorContains(t, err, "vmsbridge login")
		b.pass(time.Hour)
	}
	require.EqualValues(t, 2, b.tokens.Load())
	require.ErrorAs(t, src.Trouble(), &unauthorized)
	require.Contains(t, lines.String(), "recording goes on")

	require.NoError(t, b.signedIn().Keep(path))
	_, err = c.User(t.Context())
	require.NoError(t, err)
	require.NoError(t, src.Trouble())
}

// What is refused by anyone but the service, such as a portal, does not end a sign-in: once it is
// gone the bridge is in again.
func TestARefusalOfWhatStandsBetween(t *testing.T) {
	for _, code := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
		http.StatusNotFound, http.StatusProxyAuthRequired, http.StatusFound} {
		b := newBed(t)
		_, c, _, _ := b.source(b.signedIn())
		page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "<html>Welcome to the hotel</html>")
		})
		b.gate.Store(&page)
		_, err := c.User(t.Context())
		require.Error(t, err)
		b.back()
		b.pass(6 * time.Minute)
		_, err = c.User(t.Context())
		require.NoError(t, err, "%d", code)
	}
}

// A service of another make: its answer has other fields, in other forms, and no new refresh token.
func TestTokensOfAnotherMake(t *testing.T) {
	b := newBed(t)
	src, c, path, _ := b.source(signin.Saved{Door: b.url, Client: "id", Secret: "text", Refresh: "stays"})
	good := ""
	other := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/oauth2/token" && r.FormValue("refresh_token") == "stays":
			good = fmt.Sprint("token-", b.tokens.Load())
			_, _ = io.WriteString(w, ` { "scope":"vms.all", "token_type":"bearer","httpsBaseUrl" : "`+b.url+`/eu/","expires_in":"3600",  "refresh_token":null, "access_token":"`+good+`"}`)
		case r.URL.Path == "/eu/api/v3.0/users/self" && r.Header.Get("Authorization") == "Bearer "+good:
			_, _ = io.WriteString(w, `{"accountId":"acc-9"}`)
		default:
			w.WriteHeader(http.StatusTeapot)
		}
	})
	b.gate.Store(&other)
	for n := range int64(3) {
		u, err := c.User(t.Context())
		require.NoError(t, err)
		require.Equal(t, "acc-9", u.AccountID)
		require.Equal(t, n+1, b.tokens.Load())
		require.Equal(t, b.url+"/eu", src.Base())
		require.Equal(t, "stays", onDisk(t, path).Refresh)
		b.pass(55 * time.Minute)
	}
}

// A suspended account is asked about now and then, as somebody may settle that without a new
// sign-in.
func TestARefusalThatMayPass(t *testing.T) {
	b := newBed(t)
	_, c, _, _ := b.source(b.signedIn())
	b.answer(http.StatusPaymentRequired)
	for range 10 {
		_, err := c.User(t.Context())
		require.ErrorContains(t, err, "suspended")
		b.pass(20 * time.Second)
	}
	require.EqualValues(t, 1, b.tokens.Load())
	b.pass(5 * time.Minute)
	b.back()
	_, err := c.User(t.Context())
	require.NoError(t, err)
}

func TestNobodyHasSignedIn(t *testing.T) {
	b := newBed(t)
	_, c, path, _ := b.source(b.signedIn())
	require.NoError(t, os.Remove(path))
	var unauthorized *vms.UnauthorizedError
	_, err := c.User(t.Context())
	require.ErrorAs(t, err, &unauthorized)
	require.ErrorContains(t, err, "nobody has signed in (sign in with: vmsbridge login)")
	require.NoError(t, os.WriteFile(path, []byte("{}"), 0o600))
	_, err = c.User(t.Context())
	require.ErrorContains(t, err, "vmsbridge login")
	require.NoError(t, b.signedIn().Keep(path))
	_, err = c.User(t.Context())
	require.NoError(t, err)
}

func TestClientCredentials(t *testing.T) {
	b := newBed(t)
	id, text := b.oauthClient()
	src, c, path, _ := b.source(signin.Saved{Door: b.url, Client: id, Secret: text})
	_, err := c.Events(t.Context(), vms.Query{Actors: []vms.Actor{{Type: "camera", ID: "cam-1"}}, PageSize: 1}, "")
	require.NoError(t, err)
	require.Equal(t, b.url, src.Base())
	token, err := src.Token(t.Context(), "")
	require.NoError(t, err)
	p, err := b.store.Authenticate(token)
	require.NoError(t, err)
	require.Equal(t, identity.KindBridge, p.Kind, "it may register bridges")
	require.Empty(t, onDisk(t, path).Refresh)
	_, c, _, _ = b.source(signin.Saved{Door: b.url, Client: id, Secret: "wrong"})
	_, err = c.User(t.Context())
	require.ErrorContains(t, err, "vmsbridge login")
}

// What a person signed in for lasts longer than the person's session.
func TestLasting(t *testing.T) {
	b := newBed(t)
	b.edit(func(tx *store.Tx) error {
		a, err := tx.Account("acc-1")
		require.NoError(t, err)
		a.SessionDuration = 10 // minutes
		return tx.PutAccount(a)
	})
	s, err := b.door().Lasting(t.Context(), b.signedIn(), "vmsbridge bridge-1")
	require.NoError(t, err)
	require.Empty(t, s.Session)
	_, c, _, _ := b.source(s)
	for range 3 {
		b.pass(24 * time.Hour)
		_, err = c.Events(t.Context(), vms.Query{Actors: []vms.Actor{{Type: "camera", ID: "cam-1"}}, PageSize: 1}, "")
		require.NoError(t, err)
	}
	_, err = b.door().Lasting(t.Context(), signin.Saved{Door: b.url, Session: "gone"}, "x")
	require.ErrorContains(t, err, "(401)")
	require.ErrorContains(t, b.door().End(t.Context(), signin.Saved{Door: b.url, Session: "gone"}, s.Client), "(401)")
	require.NoError(t, b.door().End(t.Context(), b.signedIn(), s.Client))
	b.pass(24 * time.Hour)
	_, err = c.User(t.Context())
	require.ErrorAs(t, err, new(*vms.UnauthorizedError), "it has ended")
	b.answer(http.StatusNotFound)
	_, err = b.door().Lasting(t.Context(), signin.Saved{Door: b.url, Session: "x"}, "x")
	var refusal *signin.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, 404, refusal.Code)
}

// Each refresh token is on the disk before it is exchanged: whenever the bridge is killed, the file
// holds one that is good.
func TestRotation(t *testing.T) {
	b := newBed(t)
	id, text := b.oauthClient()
	src, c, path, lines := b.source(signin.Saved{Door: b.url, Client: id, Secret: text,
		Refresh: b.refreshToken(id, text)})
	seen := map[string]bool{}
	for range 4 {
		_, err := c.User(t.Context())
		require.NoError(t, err)
		s := onDisk(t, path)
		require.False(t, seen[s.Refresh])
		seen[s.Refresh] = true
		require.NotContains(t, lines.String(), s.Refresh)
		b.pass(11 * time.Hour)
	}
	// Many who ask at once are one exchange.
	before := b.tokens.Load()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := src.Token(t.Context(), ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, before+1, b.tokens.Load())

	// The disk takes nothing: the token is used, its successor waits.
	dir := filepath.Dir(path)
	full := dir + "-away"
	b.pass(11 * time.Hour)
	former := onDisk(t, path).Refresh
	require.NoError(t, os.Rename(dir, full))
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	_, err := c.User(t.Context())
	require.NoError(t, err)
	after := b.tokens.Load()
	b.pass(13 * time.Hour)
	var busy *vms.TransientError
	_, err = c.User(t.Context())
	require.ErrorAs(t, err, &busy)
	require.ErrorContains(t, err, "not exchanged before it is on the disk")
	require.Equal(t, after, b.tokens.Load())
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Rename(full, dir))
	b.pass(time.Minute)
	_, err = c.User(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, former, onDisk(t, path).Refresh)

	// A refresh token that somebody else has used too is over, and says so.
	_, thief, _, _ := b.source(signin.Saved{Door: b.url, Client: id, Secret: text, Refresh: former})
	_, err = thief.User(t.Context())
	require.ErrorContains(t, err, "sign in again with vmsbridge login")
	b.pass(13 * time.Hour)
	_, err = c.User(t.Context())
	require.ErrorContains(t, err, "sign in again with vmsbridge login")
}

// A service that is away costs nothing but time: the token that is there is used, and it is asked
// at most every few seconds.
func TestServiceAway(t *testing.T) {
	b := newBed(t)
	src, c, _, _ := b.source(b.signedIn())
	_, err := c.User(t.Context())
	require.NoError(t, err)
	b.pass(11 * time.Hour)
	b.answer(http.StatusBadGateway)
	for range 10 {
		token, err := src.Token(t.Context(), "")
		require.NoError(t, err)
		require.NotEmpty(t, token)
	}
	require.EqualValues(t, 2, b.tokens.Load())
	b.back()
	b.pass(10 * time.Second)
	_, err = c.User(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, b.tokens.Load())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = src.Token(ctx, "")
	if err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, src.Trouble())
}

// A service that refuses the very token that it gave is not asked for another one each time.
func TestATokenThatIsRefusedAtOnce(t *testing.T) {
	b := newBed(t)
	src, _, _, _ := b.source(b.signedIn())
	token, err := src.Token(t.Context(), "")
	require.NoError(t, err)
	for range 5 {
		_, err = src.Token(t.Context(), token)
		require.ErrorContains(t, err, "just given")
	}
	require.EqualValues(t, 1, b.tokens.Load())
	b.pass(time.Minute)
	next, err := src.Token(t.Context(), token)
	require.NoError(t, err)
	require.NotEqual(t, token, next)
}
