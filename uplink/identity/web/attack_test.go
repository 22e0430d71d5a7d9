package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

// What one account writes about people of another must not reach into what those see: a zero byte
// in an address ended the key of an index early, so that whoever was named before it could no more
// be told what is shared with them.
func TestForeignNamesReachNobody(t *testing.T) {
	b := newFixture(t)
	asu, theirs := b.session("asu@o"), b.session("asu@c")
	before := string(b.call("GET", "/g/device/list", theirs, nil).want(200).body)
	require.Contains(t, before, "cam1-c")
	for name, responders := range map[string][][]string{
		"zero byte": {{"asu@c\x00x", "F", "L", "Co", ""}}, "line": {{"asu@c\r\nBcc: x@y", "F", "L", "Co", ""}},
		"endless":    {{strings.Repeat("x", 100_000), "F", "L", "Co", ""}},
		"no address": {{"somebody", "F", "L", "Co", ""}}, "nothing": {{}},
		"too many":          {{"asu@c", "F", "L", "Co", "", "more"}},
		"endless name":      {{"e@x.org", strings.Repeat("x", 100_000), "L", "Co", ""}},
		"name of two lines": {{"e@x.org", "F\n", "L", "Co", ""}},
		"an address alone":  {{"e@x.org"}}, "four": {{"e@x.org", "F", "L", "Co"}},
	} {
		b.call("POST", "/g/account", asu, args{"id": "o", "first_responders": responders}).want(400, name)
	}
	b.call("POST", "/g/account", asu, args{"id": "o", "camera_shares": [][]string{{"M", "cam1-o", "asu@c,c\x00x"}},
		"camera_share_perms": map[string]any{}}).want(400)
	b.call("POST", "/g/account", asu, args{"id": "o",
		"camera_shares":      [][]string{{"M", "cam1-o", "asu@c," + strings.Repeat("c", 5000)}},
		"camera_share_perms": map[string]any{}}).want(400)
	require.Equal(t, before, string(b.call("GET", "/g/device/list", theirs, nil).want(200).body))
}

// A camera of one's own stays one's own, whoever says that they share one of that name.
func TestSharingHidesNoCamera(t *testing.T) {
	b := newFixture(t)
	asu, theirs := b.session("asu@o"), b.session("asu@c")
	before := string(b.call("GET", "/g/device/list", theirs, nil).want(200).body)
	require.Contains(t, before, "cam1-c")
	b.call("POST", "/g/account", asu, args{"id": "o", "first_responders": [][]string{{"asu@c", "F", "L", "Co", "c"}},
		"responder_active":  true,
		"responder_cameras": []string{"cam1-c", "bridge-o", "cam1-o"}}).want(200)
	after := string(b.call("GET", "/g/device/list", theirs, nil).want(200).body)
	require.Contains(t, after, "cam1-c")
	require.Contains(t, after, "cam1-o", "and what is really shared is there too")
	require.NoError(t, b.Store.View(func(tx *store.Tx) error {
		u, err := tx.UserByEmail("asu@c")
		require.NoError(t, err)
		home, err := tx.Account("c")
		require.NoError(t, err)
		p, err := tx.Principal(u, home)
		require.Equal(t, map[string]string{"cam1-o": "o"}, p.Grants.Shared)
		return err
	}))
}

// An application is held to the limits of the records that it becomes.
func TestApplicationsAreBounded(t *testing.T) {
	b := newFixture(t)
	for _, name := range []string{"name", "first_name", "last_name"} {
		for _, bad := range []string{strings.Repeat("x", 2000), "a\x00b", "a\nb", "\x1b[2J"} {
			b.call("POST", "/g/aaa/create_account", "",
				args{"email": "new@x.org", "password": fresh, name: bad}).want(400, name, bad)
		}
	}
	b.call("POST", "/g/aaa/create_account", "", args{"email": "new@x.org", "password": fresh,
		"timezone": "../UTC"}).want(400)
	b.call("POST", "/g/aaa/create_account", "", args{"email": "new@x.org", "password": fresh,
		"name": "Ünïcode 日本"}).want(202)
}

// The session is found in the body of any call that has one, which GET has not, and where it stands
// twice the interface's order decides alone: a good one in a lesser place does not make up for a
// bad one.
func TestSessionInEveryPlace(t *testing.T) {
	b := newFixture(t)
	good, bad := b.session("asu@c"), "c000~"+strings.Repeat("x", 32)
	in := func(kind, body string) func(*http.Request) {
		return func(r *http.Request) {
			r.Body, r.ContentLength = http.NoBody, 0
			if body != "" {
				with, err := http.NewRequest(r.Method, r.URL.String(), strings.NewReader(body))
				require.NoError(t, err)
				r.Body, r.ContentLength = with.Body, with.ContentLength
				r.Header.Set("Content-Type", kind)
			}
		}
	}
	const form, object = "application/x-www-form-urlencoded", "application/json"
	for name, c := range map[string]struct {
		query, kind, body, cookie string
		code                      int
	}{
		"query": {"?A=" + good, "", "", bad, 200}, "bad query": {"?A=" + bad, form, "A=" + good, good, 401},
		"form": {"", form, "A=" + good, bad, 200}, "bad form": {"", form, "A=" + bad, good, 401},
		"body":     {"", object, `{"A":"` + good + `"}`, bad, 200},
		"bad body": {"", object, `{"A":"` + bad + `"}`, good, 401},
		"cookie":   {"", "", "", good, 200}, "unreadable body": {"", object, `{"A":`, good, 200},
		"body of something else":             {"", object, `[1]`, good, 200},
		"arguments in the body do not count": {"", object, `{"id":"nobody"}`, good, 200},
	} {
		done := c.code
		if done == 200 {
			done = 404
		}
		if strings.Contains(name, "unreadable") || strings.Contains(name, "something else") {
			done = 400
		}
		q := "?id=nobody"
		if c.query != "" {
			q = c.query + "&id=nobody"
		}
		b.call("DELETE", "/g/user"+q, c.cookie, nil, in(c.kind, c.body)).want(done, name)
		alone := 401
		if c.cookie == good && c.query == "" || c.query == "?A="+good {
			alone = 200
		}
		b.call("GET", "/g/user"+c.query, c.cookie, nil, in(c.kind, c.body)).want(alone, name+", GET")
	}
	b.call("DELETE", "/g/user", "", nil, in(object, `{"A":"`+good+`","id":"nobody"}`)).want(404)
	b.call("POST", "/g/aaa/logout?A="+good, bad, nil).want(204)
}

// Whoever deletes the account that they are in is at home again; others who are in it have to sign
// in anew, since what they meant for that account must not reach their own.
func TestDeletingTheAccountOneIsIn(t *testing.T) {
	b := newFixture(t)
	mine, other := b.session("asu@m"), b.session("asu@m")
	for _, key := range []string{mine, other} {
		b.call("POST", "/g/aaa/switch_account", key, args{"account_id": "s"}).want(200)
	}
	b.call("DELETE", "/g/account", mine, args{"id": "s"}).want(200)
	require.Equal(t, "m", b.call("GET", "/g/user", mine, nil).want(200).field("active_account_id"))
	b.call("PUT", "/g/user", other, newUser("x@s")).want(401)
}

// A bad key or session in front of a body is refused without waiting for the body, and a GET with
// one is answered as without it.
func TestNoBodyBeforeTheSession(t *testing.T) {
	b := newFixture(t, func(o *Options, _ *session.Options) {
		o.CheckKey = func(key string) (bool, error) { return key == "good", nil }
	})
	good := b.session("asu@c")
	for head, code := range map[string]int{
		"POST /g/user HTTP/1.1\r\nAuthentication: bad":                                             401,
		"POST /g/user?A=bad HTTP/1.1\r\nAuthentication: good":                                      401,
		"GET /g/aaa/isauth HTTP/1.1\r\nAuthentication: good":                                       401,
		"GET /g/aaa/isauth HTTP/1.1\r\nAuthentication: good\r\nCookie: auth_key=" + good:           200,
		"HEAD /g/aaa/isauth?A=" + good + " HTTP/1.1\r\nAuthentication: good\r\nCookie: auth_key=x": 200,
	} {
		c, err := net.Dial("tcp", b.server.Listener.Addr().String())
		require.NoError(t, err)
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		_, err = io.WriteString(c, head+"\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{")
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: strings.Fields(head)[0]})
		require.NoError(t, err, head)
		require.Equal(t, code, res.StatusCode, head)
		_ = res.Body.Close()
		_ = c.Close()
	}
}
