package oauth_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/web"
)

var paths = []string{"/oauth2/clients", "/oauth2/keys"}

func (b *fixture) list(path, key string) (ids []string, raw string) {
	b.t.Helper()
	r := b.do("GET", path, nil, cookie(key))
	require.Equal(b.t, 200, r.code, "%v", r.body)
	all, err := json.Marshal(r.body)
	require.NoError(b.t, err)
	for _, x := range r.body["results"].([]any) {
		ids = append(ids, x.(map[string]any)["id"].(string)+" "+x.(map[string]any)["state"].(string))
	}
	return ids, string(all)
}

func TestHolding(t *testing.T) {
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			b := newFixture(t)
			key := b.signIn("asu@c")
			r := b.do("POST", path, map[string]any{"name": "Door \"1\""}, cookie(key))
			require.Equal(t, 201, r.code, "%v", r.body)
			secret := r.text("key") + r.text("client_secret")
			require.True(t, strings.HasPrefix(secret, "vms1_"))
			require.Empty(t, b.opens(secret), "it is no access token")
			ids, raw := b.list(path, key)
			require.Equal(t, []string{r.text("id") + " active"}, ids)
			require.NotContains(t, raw, secret)
			require.NotContains(t, raw, "hash")
			require.Equal(t, 404, b.do("DELETE", path+"?id=nothing", nil, cookie(key)).code)
			require.Equal(t, 400, b.do("DELETE", path, nil, cookie(key)).code)
			require.Equal(t, 204, b.do("DELETE", path+"?id="+r.text("id"), nil, cookie(key)).code)
			ids, _ = b.list(path, key)
			require.Equal(t, []string{r.text("id") + " revoked"}, ids)
			for _, bad := range []map[string]any{{}, {"name": ""}, {"name": strings.Repeat("x", 101)},
				{"name": "x", "more": 1}, {"name": []int{1}}} {
				require.Equal(t, 400, b.do("POST", path, bad, cookie(key)).code, "%v", bad)
			}
		})
	}
	b := newFixture(t)
	key := b.signIn("asu@c")
	for _, to := range []string{"http://example.org/", "javascript:alert(1)", "https://", "https://x.org/#f", "ftp:x",
		"", "//x.org", "https://u:p@x.org/"} {
		r := b.do("POST", "/oauth2/clients", map[string]any{"name": "x", "redirect_uris": []string{to}}, cookie(key))
		require.Equal(t, 400, r.code, to)
	}
	require.Equal(t, "invalid_scope", b.do("POST", "/oauth2/clients",
		map[string]any{"name": "x", "scopes": []string{"root"}}, cookie(key)).text("error"))
	for asked, want := range map[string]any{"": nil, " ": nil, "vms.read": []any{"vms.read"},
		"vms.read  vms.report": []any{"vms.read", "vms.report"}} {
		r := b.do("POST", "/oauth2/clients", map[string]any{"name": "x", "scopes": []string{asked, ""}}, cookie(key))
		require.Equal(t, 201, r.code, "%v", r.body)
		require.Equal(t, want, r.body["scopes"], asked)
	}
}

// Nobody sees, uses or ends what another account holds, and in one's own only those who may.
func TestHoldingOfAnotherAccount(t *testing.T) {
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			b := newFixture(t)
			mine := b.signIn("asu@c")
			made := b.do("POST", path, map[string]any{"name": "Secret name"}, cookie(mine))
			for email, code := range map[string]int{"asu@o": 404, "asu@m": 404, "ru@c": 403, "ru@o": 403, "": 401,
				"gone": 401} {
				key := "c000~x"
				if email != "" && email != "gone" {
					key = b.signIn(email)
				}
				r := b.do("DELETE", path+"?id="+made.text("id"), nil, cookie(key))
				require.Equal(t, code, r.code, email)
				if code == 404 {
					ids, raw := b.list(path, key)
					require.Empty(t, ids)
					require.NotContains(t, raw, "Secret name")
				} else {
					require.Equal(t, code, b.do("GET", path, nil, cookie(key)).code)
					require.Equal(t, code, b.do("POST", path, map[string]any{"name": "y"}, cookie(key)).code)
				}
			}
			ids, _ := b.list(path, mine)
			require.Equal(t, []string{made.text("id") + " active"}, ids)
			cross := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
			require.Equal(t, 403, b.do("POST", path, map[string]any{"name": "y"}, cookie(mine), cross).code,
				"a page of another site")
			// The master's superuser holds them once inside, and so does nobody else.
			master := b.signIn("asu@m")
			require.Equal(t, 200, b.do("POST", "/g/aaa/switch_account", map[string]string{"account_id": "c"},
				cookie(master)).code)
			require.Equal(t, 204, b.do("DELETE", path+"?id="+made.text("id"), nil, cookie(master)).code)
		})
	}
	// Settings are enough for keys, and not for clients, whose own token sees everything.
	b := newFixture(t)
	b.EditUser("ru@c", func(u *model.User) { u.IsEditAccount = true })
	key := b.signIn("ru@c")
	require.Equal(t, 201, b.do("POST", "/oauth2/keys", map[string]any{"name": "x"}, cookie(key)).code)
	require.Equal(t, 403, b.do("POST", "/oauth2/clients", map[string]any{"name": "x"}, cookie(key)).code)
}

func TestAPIKeyIsAskedFor(t *testing.T) {
	var b *fixture
	required := false
	b = newFixture(t, func(o *web.Options, _ *oauth.Options) {
		o.CheckKey = func(key string) (bool, error) {
			if !required {
				return true, nil
			}
			return oauth.CheckKey(b.Store, key)
		}
	})
	session := b.signIn("asu@c")
	made := b.do("POST", "/oauth2/keys", map[string]any{"name": "x"}, cookie(session))
	_, secret := b.client("c", nil)
	required = true
	ask := func(header, key string) int {
		return b.do("GET", "/g/aaa/isauth", nil, cookie(session),
			func(r *http.Request) { r.Header.Set(header, key) }).code
	}
	require.Equal(t, 200, ask("Authentication", made.text("key")))
	require.Equal(t, 200, ask("Authentication", made.text("key")+":"))
	require.Equal(t, 200, ask("Authorization", made.text("key")))
	require.Equal(t, 401, ask("Authentication", ""))
	require.Equal(t, 401, ask("Authentication", made.text("key")+"x"))
	require.Equal(t, 401, ask("Authentication", secret), "a client's secret is no key")
	b.SetStatus("c", model.StatusSuspended)
	ok, err := oauth.CheckKey(b.Store, made.text("key"))
	require.NoError(t, err)
	require.False(t, ok)
	b.SetStatus("c", model.StatusActive)
	require.Equal(t, 204, b.do("DELETE", "/oauth2/keys?id="+made.text("id"), nil, cookie(session)).code)
	require.Equal(t, 401, ask("Authentication", made.text("key")))
}
