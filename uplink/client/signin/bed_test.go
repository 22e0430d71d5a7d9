package signin_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/client/signin"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/identity/web"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

const (
	password = "correct horse 1"
	anna     = "anna@example.org" // signs in with a password
	ben      = "ben@example.org"  // needs a code
)

var (
	hasher = identity.NewHasher(identity.Cost{MemoryKiB: 64, Passes: 1, Lanes: 1}, 4)
	hashed = sync.OnceValue(func() string { h, _ := hasher.Hash(context.Background(), password); return h })
)

// bed is the service: its real doors over a real store, behind a real server. gate may answer in
// their place.
type bed struct {
	t      *testing.T
	store  *store.Store
	url    string
	gate   atomic.Pointer[http.HandlerFunc]
	tokens atomic.Int64 // requests for tokens
	mu     sync.Mutex   // guards at and code
	at     time.Time
	code   string
}

func (b *bed) Send(l notify.Message) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.code = l.Code
	return nil
}
func (b *bed) Can(c notify.Channel) bool { return c == notify.Mail }

func (b *bed) now() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return b.at }

func (b *bed) pass(d time.Duration) { b.mu.Lock(); defer b.mu.Unlock(); b.at = b.at.Add(d) }

func (b *bed) lastCode() string { b.mu.Lock(); defer b.mu.Unlock(); return b.code }

type noDevices struct{}

func (noDevices) Devices(context.Context, string) ([]web.Device, error)             { return nil, nil }
func (noDevices) Device(string, string) (d web.Device, ok bool)                     { return d, false }
func (noDevices) CameraIDs(string, string) []string                                 { return nil }
func (noDevices) CameraOf(string, string) (cam vms.Camera, ok bool)                 { return cam, false }
func (noDevices) HasActor(context.Context, string, vms.Actor) (has bool, err error) { return true, nil }

func newBed(t *testing.T) *bed {
	b := &bed{t: t, at: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	var err error
	b.store, err = store.Open(filepath.Join(t.TempDir(), "identity.db"), store.Options{Now: b.now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.store.Close()) })
	a := model.NewAccount()
	// for ever
	a.ID, a.Name, a.IsMaster, a.Status, a.SessionDuration = "acc-1", "Demo", true, model.Texts{model.StatusActive}, 0
	_, err = b.store.CreateAccount(a)
	require.NoError(t, err)
	for _, email := range []string{anna, ben} {
		u := model.NewUser()
		u.Email, u.OwnerAccountID, u.IsActive, u.IsPending, u.Inner.PasswordHash = email, "acc-1", true, false, hashed()
		u.IsAccountSuperuser, u.IsFactorEnabled = true, email == ben
		_, err = b.store.CreateUser(u)
		require.NoError(t, err)
	}
	sessions := session.New(session.Options{Store: b.store, Hasher: hasher, Post: b})
	plenty := web.Limit{Burst: 1 << 20, Every: time.Microsecond}
	door, err := web.New(web.Options{Store: b.store, Sessions: sessions, Devices: noDevices{},
		Limits: web.Limits{PerAddress: plenty, PerUser: plenty}})
	require.NoError(t, err)
	issuer, err := oauth.New(oauth.Options{Store: b.store, Sessions: sessions, Gate: door})
	require.NoError(t, err)
	events, err := journal.Open(filepath.Join(t.TempDir(), "events.db"), journal.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, events.Close()) })
	api, err := server.New(server.Options{Events: server.Own{OwnStore: events}, Cameras: noDevices{}, Auth: b.store,
		NotFound: journal.ErrNotFound})
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/g/", door)
	mux.Handle("/oauth2/", issuer)
	mux.Handle("/api/", api)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/oauth2/token" {
			b.tokens.Add(1)
		}
		if gate := b.gate.Load(); gate != nil {
			(*gate)(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	b.url = s.URL
	return b
}

// answer makes the service answer everything with a status.
func (b *bed) answer(code int) {
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	b.gate.Store(&h)
}

func (b *bed) back() { b.gate.Store(nil) }

func (b *bed) edit(f func(*store.Tx) error) { b.t.Helper(); require.NoError(b.t, b.store.Update(f)) }

func (b *bed) user(email string, f func(*model.User)) {
	b.t.Helper()
	b.edit(func(tx *store.Tx) error {
		u, err := tx.UserByEmail(email)
		require.NoError(b.t, err)
		f(&u)
		return tx.PutUser(u)
	})
}

func (b *bed) account(status string) {
	b.t.Helper()
	b.edit(func(tx *store.Tx) error {
		a, err := tx.Account("acc-1")
		require.NoError(b.t, err)
		a.Status = model.Texts{status}
		return tx.PutAccount(a)
	})
}

// way is how requests go.
func (b *bed) way() *http.Client {
	c, err := client.New(client.Options{BaseURL: b.url, Token: client.Token("x")})
	require.NoError(b.t, err)
	b.t.Cleanup(c.Close)
	return c.HTTP()
}

func (b *bed) door() signin.Door { return signin.Door{URL: b.url, HTTP: b.way()} }

// signedIn is what a sign-in of a user without a code leaves.
func (b *bed) signedIn() signin.Saved {
	b.t.Helper()
	d := b.door()
	c, err := d.Authenticate(b.t.Context(), anna, password)
	require.NoError(b.t, err)
	s, err := d.Authorize(b.t.Context(), c.Token, "")
	require.NoError(b.t, err)
	return s
}

// source is one over a file that holds s, and a client with it. The clock is the bed's.
func (b *bed) source(s signin.Saved) (*signin.Source, *client.Client, string, *log) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "service.session")
	require.NoError(b.t, s.Keep(path))
	lines := &log{}
	src := signin.New(signin.Options{Path: path, HTTP: b.way(), Now: b.now,
		Log: slog.New(slog.NewTextHandler(lines, nil))})
	c, err := client.New(client.Options{BaseURL: b.url, Credentials: src})
	require.NoError(b.t, err)
	b.t.Cleanup(c.Close)
	return src, c, path, lines
}

// oauthClient makes a client at the service and returns its id and secret.
func (b *bed) oauthClient() (id, text string) {
	b.t.Helper()
	r, err := http.NewRequest("POST", b.url+"/oauth2/clients", strings.NewReader(`{"name":"bridges"}`))
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.AddCookie(&http.Cookie{Name: "auth_key", Value: b.signedIn().Session})
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	b.do(r, 201, &made)
	return made.ID, made.Secret
}

// refreshToken is one that a program got for anna.
func (b *bed) refreshToken(id, text string) string {
	b.t.Helper()
	r, err := http.NewRequest("POST", b.url+"/oauth2/token",
		strings.NewReader(url.Values{"grant_type": {"password"}, "username": {anna}, "password": {password}}.Encode()))
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(id, text)
	var got struct {
		Refresh string `json:"refresh_token"`
	}
	b.do(r, 200, &got)
	require.NotEmpty(b.t, got.Refresh)
	return got.Refresh
}

func (b *bed) do(r *http.Request, code int, out any) {
	b.t.Helper()
	res, err := b.way().Do(r)
	require.NoError(b.t, err)
	defer func() { require.NoError(b.t, res.Body.Close()) }()
	require.Equal(b.t, code, res.StatusCode)
	require.NoError(b.t, json.NewDecoder(res.Body).Decode(out))
}

type log struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *log) Write(p []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.b.Write(p) }

func (l *log) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

func onDisk(t *testing.T, path string) signin.Saved {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	s, err := signin.Load(path)
	require.NoError(t, err)
	return s
}
