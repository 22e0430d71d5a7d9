package web

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// Whatever a body holds, every endpoint answers one of its codes, never with a fault of ours, and
// nothing of another account is in the answer or gone.
func FuzzBodies(f *testing.F) {
	for i, body := range []string{`{"username":"asu@c","password":"correct horse 1"}`,
		`{"id":"c","camera_shares":[["M","cam1-c","a@b.c"]],"camera_share_perms":{"cam1-c":{"a@b.c":["ptz_live"]}}}`,
		`{"first_name":"a","last_name":"b","email":"f@c","camera_access":[["M","cam1-c","RW"]]}`,
		`username=asu%40c&password=x`, "--b\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\nx@y.z\r\n--b--\r\n",
		`{"token":null,"password":[],"id":{}}`, `{"A":"c000~x"}`,
		`{"update_json":{"email":"x@y.z"},"password":"p","two_factor_authentication_type":"email"}`, "\x00\xff{",
		`{"status":["active"],"id":"o"}`,
		`{"name":"n","contact_first_name":"a","contact_last_name":"b","contact_email":"c@d.e","owner_account_id":"m","holiday":["20260101"]}`} {
		f.Add(uint8(i*3), uint8(i), []byte(body), "")
	}
	f.Add(uint8(20), uint8(0), []byte(nil), "id=c&account_id=m")
	types := []string{"application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "",
		"text/xml"}
	b := newFixture(f, withFactor(nil))
	key := b.signIn("asu@c")
	other := b.snapshot("o")
	f.Fuzz(func(t *testing.T, which, kind uint8, body []byte, query string) {
		b.t = t
		e := Endpoints[int(which)%len(Endpoints)]
		if e.Path == "/g/aaa/logout" {
			return
		}
		r := httptest.NewRequest(e.Method, e.Path, bytes.NewReader(body))
		r.URL.RawQuery = query
		r.Header["Content-Type"] = []string{types[int(kind)%len(types)]}
		r.AddCookie(&http.Cookie{Name: "auth_key", Value: key})
		w := httptest.NewRecorder()
		b.web.ServeHTTP(w, r)
		if w.Code == 500 || !slices.Contains(e.Codes, w.Code) && !slices.Contains(Beyond, w.Code) {
			t.Fatalf("%s answers %d to %q %q: %s", e, w.Code, body, query, w.Body)
		}
		for _, text := range []string{"cameras of o", "Account o", "cam1-o", b.ids["ru@o"]} {
			if bytes.Contains(w.Body.Bytes(), []byte(text)) && !bytes.Contains(body, []byte(text)) {
				t.Fatalf("%s shows %q to %q %q", e, text, body, query)
			}
		}
		if b.snapshot("o") != other {
			t.Fatalf("%s with %q %q changed another account", e, body, query)
		}
	})
}
