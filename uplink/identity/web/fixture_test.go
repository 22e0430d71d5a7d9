package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/identitytest"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/notify"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

const password = identitytest.Password

// fixture is the handlers over a real store, behind a real HTTP server. It holds a master account m
// with the children c and s, and an account o that has nothing to do with them. Users are called as
// they are: asu@m, ru@m and so on; root@m is a superuser. c and o have a bridge and two cameras
// each.
type fixture struct {
	*identitytest.Fixture
	t        testing.TB
	sessions *session.Service
	web      *Web
	server   *httptest.Server
	outbox   *outbox
	devices  *devices
	ids      map[string]string // address → user id
}

// outbox keeps what was sent.
type outbox struct {
	mu   sync.Mutex // guards sent and none
	sent []notify.Message
	none map[notify.Channel]bool
}

func (l *outbox) Send(x notify.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = append(l.sent, x)
	return nil
}

func (l *outbox) Can(c notify.Channel) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.none[c]
}

// last is the newest message to an address.
func (b *fixture) message(to string) notify.Message {
	b.t.Helper()
	b.outbox.mu.Lock()
	defer b.outbox.mu.Unlock()
	for _, l := range slices.Backward(b.outbox.sent) {
		if l.To == to {
			return l
		}
	}
	require.Fail(b.t, "no message to "+to)
	return notify.Message{}
}

func (b *fixture) messagesTo(to string) (n int) {
	b.outbox.mu.Lock()
	defer b.outbox.mu.Unlock()
	for _, l := range b.outbox.sent {
		if l.To == to {
			n++
		}
	}
	return n
}

// devices are those of the fixture, by account.
type devices struct {
	listing func() // called by Devices; nil: nothing is

	mu   sync.Mutex // guards list and fail
	list map[string][]Device
	fail bool
}

func (d *devices) Devices(_ context.Context, account string) ([]Device, error) {
	if d.listing != nil {
		d.listing()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail {
		return nil, errors.New("secret detail of the registry")
	}
	return slices.Clone(d.list[account]), nil
}

func (d *devices) Device(account, id string) (Device, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.IndexFunc(d.list[account], func(d Device) bool { return d.ID == id }); i >= 0 {
		return d.list[account][i], true
	}
	return Device{}, false
}

var monday = identitytest.Monday

func newFixture(t testing.TB, set ...func(*Options, *session.Options)) *fixture {
	t.Helper()
	b := &fixture{Fixture: identitytest.New(t), t: t, outbox: &outbox{none: map[notify.Channel]bool{}},
		devices: &devices{list: map[string][]Device{}}, ids: map[string]string{}}
	plenty := Limit{1 << 20, time.Microsecond}
	so := session.Options{Store: b.Store, Hasher: identitytest.Hasher, Post: b.outbox}
	wo := Options{Store: b.Store, Devices: b.devices, CreateAccounts: true,
		Limits: Limits{PerAddress: plenty, PerUser: plenty}}
	for _, f := range set {
		f(&wo, &so)
	}
	b.sessions = session.New(so)
	wo.Sessions = b.sessions
	var err error
	b.web, err = New(wo)
	require.NoError(t, err)
	b.Store.Owners(func(account, camera string) bool {
		list, _ := b.devices.Devices(context.Background(), account)
		return slices.ContainsFunc(list, func(d Device) bool { return d.ID == camera && d.Kind == vms.ActorCamera })
	})
	b.server = httptest.NewServer(b.web)
	t.Cleanup(b.server.Close)
	b.fill()
	return b
}

// fill fills the store.
func (b *fixture) fill() {
	for _, a := range []struct {
		id, owner string
		master    bool
	}{{"m", "", true}, {"c", "m", false}, {"s", "m", false}, {"o", "", false}} {
		b.AddAccount(a.id, a.owner, func(x *model.Account) {
			x.IsMaster, x.ContactEmail, x.DefaultCameraPasswords = model.Flag(a.master), "contact@"+a.id,
				"cameras of "+a.id
		})
		if a.id == "c" || a.id == "o" {
			b.devices.list[a.id] = []Device{
				{ID: "bridge-" + a.id, AccountID: a.id, Name: "Bridge", Kind: vms.ActorBridge,
					Status: vms.StatusOnline, Address: "192.0.2.1"},
				{ID: "cam1-" + a.id, AccountID: a.id, Name: "Gate", Kind: vms.ActorCamera, Bridge: "bridge-" + a.id,
					Status: vms.StatusOnline},
				{ID: "cam2-" + a.id, AccountID: a.id, Name: "Yard", Kind: vms.ActorCamera, Bridge: "bridge-" + a.id,
					Status: vms.StatusOff},
			}
		}
		b.user("asu@"+a.id, func(u *model.User) { u.IsAccountSuperuser = true })
		b.user("ru@"+a.id, nil)
	}
	b.user("root@m", func(u *model.User) { u.IsSuperuser, u.IsAccountSuperuser = true, true })
}

// user adds a user and notes the id.
func (b *fixture) user(email string, set func(*model.User)) model.User {
	b.t.Helper()
	u := b.AddUser(email, set)
	b.ids[email] = u.ID
	return u
}

// session is one of a user without a sign-in.
func (b *fixture) session(email string) (key string) {
	b.t.Helper()
	require.NoError(b.t, b.Store.Update(func(tx *store.Tx) error {
		u, err := tx.UserByEmail(email)
		require.NoError(b.t, err)
		home, err := tx.Account(u.OwnerAccountID)
		require.NoError(b.t, err)
		o, err := b.sessions.Open(tx, u, home, session.Origin{Addr: netip.MustParseAddr("127.0.0.1")})
		key = o.Key
		return err
	}))
	return key
}

// args are the parameters of a call.
type args map[string]any

// with is the arguments with another one.
func (a args) with(name string, v any) args {
	out := args{}
	for k, v := range a {
		out[k] = v
	}
	out[name] = v
	return out
}

// The encodings that clients were seen to use.
const (
	inJSON      = "json"
	inForm      = "form"
	inMultipart = "multipart"
	inNothing   = "no content type"
	inFormBare  = "form, no content type"
	inQuery     = "query"
)

var bodyEncodings = []string{inJSON, inForm, inMultipart, inNothing, inFormBare}

// call sends a request as a client would. key is a session, sent as the cookie auth_key; "" for
// none.
func (b *fixture) call(method, path, key string, a args, more ...func(*http.Request)) reply {
	b.t.Helper()
	encoding := inJSON
	if method == http.MethodGet || method == http.MethodDelete {
		encoding = inQuery
	}
	return b.callIn(encoding, method, path, key, a, more...)
}

func (b *fixture) callIn(encoding, method, path, key string, a args, more ...func(*http.Request)) reply {
	b.t.Helper()
	body, contentType, query := encode(b.t, encoding, a)
	target := b.server.URL + path
	if query != "" {
		target += "?" + query
	}
	r, err := http.NewRequestWithContext(b.t.Context(), method, target, body)
	require.NoError(b.t, err)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	r.Header.Set("Authentication", "KEY:")
	if key != "" {
		r.AddCookie(&http.Cookie{Name: "auth_key", Value: key})
	}
	for _, f := range more {
		f(r)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(b.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	return reply{b.t, method + " " + path, res.StatusCode, res.Header, res.Cookies(), raw}
}

func encode(t testing.TB, encoding string, a args) (body io.Reader, contentType, query string) {
	form := url.Values{}
	for k, v := range a {
		switch v := v.(type) {
		case string:
			form.Set(k, v)
		case int, bool:
			form.Set(k, fmt.Sprint(v))
		default:
			raw, err := json.Marshal(v)
			require.NoError(t, err)
			form.Set(k, string(raw))
		}
	}
	switch encoding {
	case inQuery:
		return nil, "", form.Encode()
	case inForm:
		return strings.NewReader(form.Encode()), "application/x-www-form-urlencoded", ""
	case inFormBare:
		return strings.NewReader(form.Encode()), "", ""
	case inMultipart:
		var buf bytes.Buffer
		m := multipart.NewWriter(&buf)
		for k := range form {
			require.NoError(t, m.WriteField(k, form.Get(k)))
		}
		require.NoError(t, m.Close())
		return &buf, m.FormDataContentType(), ""
	}
	if a == nil {
		a = args{}
	}
	raw, err := json.Marshal(a)
	require.NoError(t, err)
	contentType = "application/json"
	if encoding == inNothing {
		contentType = ""
	}
	return bytes.NewReader(raw), contentType, ""
}

// reply is an answer with its body read.
type reply struct {
	t       testing.TB
	what    string
	code    int
	header  http.Header
	cookies []*http.Cookie
	body    []byte
}

// want checks the code, notes the cell of the table, and checks what every answer has.
func (r reply) want(code int, about ...any) reply {
	r.t.Helper()
	require.Equal(r.t, code, r.code, append([]any{fmt.Sprintf("%s: %s", r.what, r.body)}, about...)...)
	saw(r.what, code, r.t.Name())
	require.Equal(r.t, "no-store", r.header.Get("Cache-Control"))
	if code >= 400 {
		var e struct {
			StatusCode int    `json:"status_code"`
			Message    string `json:"message"`
			Reason     string `json:"reason"`
		}
		require.NoError(r.t, json.Unmarshal(r.body, &e), "%s", r.body)
		require.Equal(r.t, code, e.StatusCode)
		require.NotEmpty(r.t, e.Message)
		require.NotEmpty(r.t, e.Reason)
	}
	return r
}

// into decodes the body.
func (r reply) into(v any) reply {
	r.t.Helper()
	require.NoError(r.t, json.Unmarshal(r.body, v), "%s", r.body)
	return r
}

// field is a text of the answer's object.
func (r reply) field(name string) string {
	r.t.Helper()
	var v map[string]any
	r.into(&v)
	s, ok := v[name].(string)
	require.True(r.t, ok, "%s in %s", name, r.body)
	return s
}

func (r reply) cookie(name string) *http.Cookie {
	for _, c := range r.cookies {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// signIn signs in as a client does and returns the session's key.
func (b *fixture) signIn(email string) string {
	b.t.Helper()
	token := b.call("POST", "/g/aaa/authenticate", "",
		args{"username": email, "password": password}).want(200).field("token")
	r := b.call("POST", "/g/aaa/authorize", "", args{"token": token}).want(200)
	require.NotNil(b.t, r.cookie("auth_key"))
	return r.cookie("auth_key").Value
}
