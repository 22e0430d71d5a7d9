package oauth_test

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/identity/store"
)

// Whatever is sent to whichever endpoint by a user of another account, the answer is one of the
// protocol's, is no fault of ours, and shows and changes nothing of account c.
func FuzzRequest(f *testing.F) {
	b := newFixture(f)
	id, secret := b.client("c", nil)
	other, otherSecret := b.client("o", nil)
	tokens := b.token(basic(id, secret), "grant_type", "password", "username", "ru@c", "password", password)
	key := b.signIn("asu@o")
	types := []string{"application/x-www-form-urlencoded", "application/json", "multipart/form-data; boundary=b", ""}
	endpoints := []string{"POST /oauth2/token", "GET /oauth2/authorize", "POST /oauth2/revoke",
		"POST /oauth2/clients", "POST /oauth2/keys", "DELETE /oauth2/clients", "GET /oauth2/keys",
		"POST /oauth2/authorize",
		"DELETE /oauth2/keys", "GET /oauth2/clients", "POST " + oauth.PathReseller}
	for i, s := range []string{"grant_type=password&username=ru%40c&password=x",
		"grant_type=refresh_token&refresh_token=" + tokens.text("refresh_token"),
		"token=" + tokens.text("access_token"), "grant_type=client_credentials&client_id=" + id,
		`{"name":"x","redirect_uris":["https://a.b/"],"is_public":1}`, "id=" + id,
		"response_type=code&client_id=" + id + "&redirect_uri=" + back,
		"grant_type=authorization_code&code=x&code_verifier=" + verifier, "grant_type=cookie&scope=vms.read", "a=%zz",
		`{"grant_type":null,"scope":[1]}`} {
		f.Add(uint8(i), uint8(i), []byte(s), "")
		f.Add(uint8(i), uint8(0), []byte(nil), s)
	}
	for _, s := range []string{`{"type":"reseller","targetType":"account","targetId":"c"}`,
		`{"type":"reseller","targetType":"account","targetId":"o","scopes":["vms.read"]}`, `[`} {
		f.Add(uint8(len(endpoints)-1), uint8(1), []byte(s), "")
	}
	theirs := b.token(cookie(key), "grant_type", "cookie").text("access_token")
	f.Fuzz(func(t *testing.T, which, kind uint8, body []byte, query string) {
		method, path, _ := strings.Cut(endpoints[int(which)%len(endpoints)], " ")
		r := httptest.NewRequest(method, path, bytes.NewReader(body))
		r.URL.RawQuery = query
		r.Header.Set("Content-Type", types[int(kind)%len(types)])
		cookie(key)(r)
		if kind&4 != 0 {
			basic(other, otherSecret)(r)
		}
		if path == oauth.PathReseller {
			bearer(theirs)(r)
		}
		w := httptest.NewRecorder()
		b.server.Config.Handler.ServeHTTP(w, r)
		switch w.Code {
		case 200, 201, 204, 302, 400, 401, 403, 404, 413, 415, 429:
		default:
			t.Fatalf("%s %s answers %d to %q %q: %s", method, path, w.Code, body, query, w.Body)
		}
		if s := w.Body.String(); strings.Contains(s, "App of c") || strings.Contains(s, secret) {
			t.Fatalf("%s %s shows what is not o's to %q %q: %s", method, path, body, query, s)
		}
		if err := b.Store.View(func(tx *store.Tx) error {
			list, err := tx.Tokens()
			for _, x := range list {
				if x.AccountID == "c" && (x.ClientID == other || !x.Revoked.IsZero() || !x.Used.IsZero()) {
					t.Fatalf("%s %s changed a token of c with %q %q", method, path, body, query)
				}
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	})
}
