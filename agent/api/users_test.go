package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/health"
	"vmsbridge/configs"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/identitytest"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// bridgeOf is what the API of a folder's bridge is told, as far as signing in needs it.
func bridgeOf(data string, log io.Writer) *Options {
	cfg := &configs.Config{}
	cfg.Bridge.ID, cfg.Bridge.Name, cfg.Bridge.Account, cfg.Bridge.Data = "bridge-1", "Front gate", "acc-1", data
	cfg.Cameras = []configs.Camera{{ID: "cam-1", Name: "Door"}}
	return &Options{Config: func() *configs.Config { return cfg }, Operations: &health.Operations{},
		Log: slog.New(slog.NewTextHandler(log, nil)),
		Cameras: func() []vms.Camera {
			return []vms.Camera{{ID: "cam-1", Name: "Door",
				Status: &vms.ConnectionStatus{ConnectionStatus: vms.StatusOff}}}
		}}
}

func form(t *testing.T, base, path string, fields ...string) *http.Response {
	t.Helper()
	v := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		v.Set(fields[i], fields[i+1])
	}
	res, err := http.PostForm(base+path, v)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// From a bridge that nobody can sign in at to a user on the LAN who sees the cameras, over a
// restart, and nothing secret in the log.
func TestSigningInAtTheBridge(t *testing.T) {
	data := t.TempDir()
	var log bytes.Buffer
	open := func() (*users, *httptest.Server) {
		p := openUsers(bridgeOf(data, &log))
		require.NotNil(t, p.ids)
		s := httptest.NewServer(p.http)
		t.Cleanup(s.Close)
		return p, s
	}
	p, s := open()
	file := filepath.Join(data, FirstUserFile)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	old := strings.TrimSpace(string(raw))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, p.Close())
	s.Close()

	p, s = open()
	raw, err = os.ReadFile(file)
	require.NoError(t, err)
	token := strings.TrimSpace(string(raw))
	require.NotEqual(t, old, token, "a new one at each start")
	require.Equal(t, 462, form(t, s.URL, "/g/aaa/authenticate", "username", firstUser, "password",
		"hunter2hunter2").StatusCode)
	require.Equal(t, 406, form(t, s.URL, "/g/aaa/reset_password", "token", old, "password",
		"hunter2hunter2").StatusCode)
	require.Equal(t, 200, form(t, s.URL, "/g/aaa/reset_password", "token", token, "password",
		"hunter2hunter2").StatusCode)
	require.Equal(t, 503, form(t, s.URL, "/g/aaa/create_account", "email", "x@y.org", "password",
		"hunter2hunter2").StatusCode, "a bridge has one account")
	require.NoError(t, p.Close())
	s.Close()

	p, s = open()
	require.NoFileExists(t, file, "somebody can sign in now")
	var in struct{ Token string }
	require.NoError(t,
		json.NewDecoder(form(t, s.URL, "/g/aaa/authenticate", "username", firstUser, "password",
			"hunter2hunter2").Body).Decode(&in))
	res := form(t, s.URL, "/g/aaa/authorize", "token", in.Token)
	require.Equal(t, 200, res.StatusCode)
	key := res.Cookies()[0].Value
	res, err = http.Get(s.URL + "/g/device/list?A=" + url.QueryEscape(key))
	require.NoError(t, err)
	var devices [][]any
	require.NoError(t, json.NewDecoder(res.Body).Decode(&devices))
	require.NoError(t, res.Body.Close())
	require.Len(t, devices, 2)
	require.Equal(t, []any{"acc-1", "bridge-1", "Front gate", "bridge"}, devices[0][:4])
	require.Equal(t, []any{"acc-1", "cam-1", "Door", "camera"}, devices[1][:4])

	// A user's bearer token opens the other half of the API, beside those of the configuration.
	users, err := p.ids.Users("acc-1")
	require.NoError(t, err)
	_, bearer, err := p.ids.CreateToken(model.Token{Kind: identity.KindUser, AccountID: "acc-1", UserID: users[0].ID})
	require.NoError(t, err)
	fixed := identity.NewFixed()
	require.NoError(t, fixed.Add("from the YAML", identity.Principal{Name: "lan", AccountID: "acc-1"}))
	both := authenticators{fixed, p}
	for text, want := range map[string]string{bearer: "Admin", "from the YAML": "lan"} {
		who, err := both.Authenticate(text)
		require.NoError(t, err)
		require.Equal(t, want, who.User.FirstName)
	}
	_, err = both.Authenticate("neither")
	require.ErrorIs(t, err, identity.ErrUnknown)

	// A bridge sends no codes: whoever needs one is turned away, not let in by the password alone.
	require.NoError(t, p.ids.Update(func(tx *store.Tx) error {
		u, err := tx.User(users[0].ID)
		if err != nil {
			return err
		}
		u.IsFactorEnabled = true
		return tx.PutUser(u)
	}))
	var again struct{ Token string }
	require.NoError(t,
		json.NewDecoder(form(t, s.URL, "/g/aaa/authenticate", "username", firstUser, "password",
			"hunter2hunter2").Body).Decode(&again))
	require.Equal(t, 401, form(t, s.URL, "/g/aaa/authorize", "token", again.Token).StatusCode)
	require.Equal(t, 412, form(t, s.URL, "/g/aaa/two_factor_authenticate", "token", again.Token,
		"two_factor_authentication_type", "email").StatusCode)
	require.NoError(t, p.Close())
	for _, secret := range []string{old, token, key, in.Token, bearer, "hunter2hunter2"} {
		require.NotContains(t, log.String(), secret)
	}
}

// A users' file that cannot be opened costs signing in and nothing else.
func TestWithoutAUsersFile(t *testing.T) {
	data := t.TempDir()
	// A damaged file is repaired or put aside; one that another process has is neither.
	other, err := store.Open(filepath.Join(data, IdentityFile), store.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	var log bytes.Buffer
	p := openUsers(bridgeOf(data, &log))
	require.Nil(t, p.ids)
	_, err = p.Authenticate("vms1_x")
	require.ErrorIs(t, err, identity.ErrUnknown)
	w := httptest.NewRecorder()
	p.http.ServeHTTP(w, httptest.NewRequest("GET", "/g/aaa/isauth", nil))
	require.Equal(t, 404, w.Code)
	require.NoError(t, p.Close())
	require.Contains(t, log.String(), "nobody can sign in")
}

// What is over goes, and the trail keeps its newest entries: a bridge runs for months.
func TestTheUsersFileStaysSmall(t *testing.T) {
	now := time.Date(2026, 11, 16, 17, 0, 0, 0, time.UTC)
	ids, err := store.Open(filepath.Join(t.TempDir(), IdentityFile),
		store.Options{Now: func() time.Time { return now }, Volatile: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, ids.Close()) }()
	require.NoError(t, tidy(ids, 10), "nothing is there yet")
	require.NoError(t, ids.Update(func(tx *store.Tx) error {
		for i := range 25 {
			err = errors.Join(err,
				tx.Record(model.AuditEntry{AccountID: "acc-1", Action: model.AuditRefuse, Name: strconv.Itoa(i)}),
				tx.PutAttempts("nobody"+strconv.Itoa(i)+"@x.org", model.Attempts{Count: 1, Last: now}))
		}
		return errors.Join(err,
			tx.PutSession(model.Session{Hash: []byte("s"), UserID: "u", Seen: now, Expires: now.Add(time.Hour)}))
	}))
	now = now.Add(48 * time.Hour)
	require.NoError(t, tidy(ids, 10))
	require.NoError(t, tidy(ids, 10))
	require.NoError(t, ids.View(func(tx *store.Tx) error {
		left, err := tx.AuditTrail("acc-1", 0, 100)
		require.Len(t, left, 10)
		require.Equal(t, "24", left[0].Name)
		require.Equal(t, "15", left[9].Name)
		tried, lost := tx.Attempts("nobody3@x.org")
		require.Zero(t, tried.Count)
		_, gone := tx.Session([]byte("s"))
		require.ErrorIs(t, gone, identity.ErrNotFound)
		return errors.Join(err, lost)
	}))
}

// Whoever guesses on the LAN, with what the bridge's hashes cost, keeps the owner of the password
// out nowhere.
func TestGuessersKeepNobodyOut(t *testing.T) {
	data := t.TempDir()
	began := time.Now()
	p := openUsers(bridgeOf(data, io.Discard))
	require.NotNil(t, p.ids)
	t.Cleanup(func() { _ = p.Close() })
	s := httptest.NewServer(p.http)
	t.Cleanup(s.Close)
	raw, err := os.ReadFile(filepath.Join(data, FirstUserFile))
	require.NoError(t, err)
	res := form(t, s.URL, "/g/aaa/reset_password", "token", strings.TrimSpace(string(raw)), "password",
		"hunter2hunter2")
	require.Equal(t, 200, res.StatusCode)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/oauth2/token?grant_type=cookie", nil)
	require.NoError(t, err)
	r.Host = "evil.example"
	for _, c := range res.Cookies() {
		r.AddCookie(c)
	}
	token, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer token.Body.Close()
	text, err := io.ReadAll(token.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), `"httpsBaseUrl":{"hostname":"127.0.0.1"`, "not the host that the client made up")
	looked := identitytest.GuessFromManyAddresses(t, s.URL, firstUser, "hunter2hunter2", 2)
	require.LessOrEqual(t, looked, 24*3+20+1+int(time.Since(began)/time.Minute))
}
