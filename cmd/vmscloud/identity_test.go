package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/identitytest"
	"vmsbridge/uplink/vms"
)

// ask sends a JSON body, with a session's cookie unless that is "", and returns the status and the
// body.
func ask(t *testing.T, method, address, session string, body map[string]any) (int, map[string]any, *http.Response) {
	t.Helper()
	var raw []byte
	if body != nil {
		var err error
		raw, err = json.Marshal(body)
		require.NoError(t, err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(raw))
	require.NoError(t, err)
	if session != "" {
		r.AddCookie(&http.Cookie{Name: "auth_key", Value: session})
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	var out map[string]any
	_ = json.Unmarshal(got, &out) // not every answer is an object
	return res.StatusCode, out, res
}

func sessionOf(t *testing.T, res *http.Response) string {
	t.Helper()
	for _, c := range res.Cookies() {
		if c.Name == "auth_key" {
			return c.Value
		}
	}
	t.Fatal("no session")
	return ""
}

func signIn(t *testing.T, base, email, password string) string {
	t.Helper()
	code, out, _ := ask(t, "POST", base+"/g/aaa/authenticate", "",
		map[string]any{"username": email, "password": password})
	require.Equal(t, 200, code, "%v", out)
	code, out, res := ask(t, "POST", base+"/g/aaa/authorize", "", map[string]any{"token": out["token"]})
	require.Equal(t, 200, code, "%v", out)
	return sessionOf(t, res)
}

// From an empty folder to a signed-in superuser, by what init prints, and on through a restart.
func TestFromInitToSignIn(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	text := must(t, "init", "--data", data, "--account", "Demo", "--email", "anna@example.org")
	_, after, ok := strings.Cut(text, "-d token=")
	require.True(t, ok, text)
	token, _, _ := strings.Cut(after, " ")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	code, _, _ := ask(t, "POST", p.base+"/g/aaa/authenticate", "",
		map[string]any{"username": "anna@example.org", "password": "hunter2hunter2"})
	require.Equal(t, 462, code, "nothing has a password until someone sets one")
	code, _, res := ask(t, "POST", p.base+"/g/aaa/reset_password", "",
		map[string]any{"token": token, "password": "hunter2hunter2"})
	require.Equal(t, 200, code)
	key := sessionOf(t, res)

	// A bridge and its camera are what the account's list and devices tell of.
	account := strings.Fields(must(t, "user", "list", "--data", data))
	require.Contains(t, account, "anna@example.org")
	bridge := must(t, "token", "create", "--data", data, "--kind", "bridge", "--quiet")
	require.NoError(t,
		clientOf(t, p.base, bridge).Register(t.Context(),
			vms.Registration{ID: "bridge-1", Name: "Gate", Address: "http://192.0.2.7:8480",
				Cameras: []vms.RegisteredCamera{{ID: "cam-1", Name: "Door", ConnectionStatus: "online"}}}))
	r, err := http.NewRequest("GET", p.base+"/g/device/list?A="+key, nil)
	require.NoError(t, err)
	res, err = http.DefaultClient.Do(r)
	require.NoError(t, err)
	var devices [][]any
	require.NoError(t, json.NewDecoder(res.Body).Decode(&devices))
	require.NoError(t, res.Body.Close())
	require.Len(t, devices, 2)
	require.Equal(t, []any{"bridge-1", "Gate", "bridge"}, devices[0][1:4])
	require.Equal(t, "192.0.2.7", devices[0][14])
	require.Equal(t, []any{"cam-1", "Door", "camera"}, devices[1][1:4])

	// Support.
	must(t, "user", "disable", "--data", data, "anna@example.org")
	code, _, _ = ask(t, "POST", p.base+"/g/aaa/authenticate", "",
		map[string]any{"username": "anna@example.org", "password": "hunter2hunter2"})
	require.Equal(t, 412, code)
	must(t, "user", "enable", "--data", data, "anna@example.org")
	must(t, "user", "unlock", "--data", data, "anna@example.org")
	key = signIn(t, p.base, "anna@example.org", "hunter2hunter2")
	require.Zero(t, p.stop())
	for _, secret := range []string{token, key, "hunter2hunter2"} {
		require.NotContains(t, p.logged(), secret)
	}
	p = startProcess(t, data, "--listen", "127.0.0.1:0")
	code, _, _ = ask(t, "GET", p.base+"/g/aaa/isauth", key, nil)
	require.Equal(t, 200, code, "the session is good after a restart")
	// A crash at any time leaves what was answered.
	code, out, _ := ask(t, "PUT", p.base+"/g/user", key,
		map[string]any{"first_name": "B", "last_name": "C", "email": "b@example.org"})
	require.Equal(t, 200, code)
	p.kill()
	p = startProcess(t, data, "--listen", "127.0.0.1:0")
	code, got, _ := ask(t, "GET", p.base+"/g/user?id="+out["id"].(string), key, nil)
	require.Equal(t, 200, code, "%v", out)
	require.Equal(t, "b@example.org", got["email"])
	link := must(t, "user", "link", "--data", data, "--quiet", "b@example.org")
	code, _, _ = ask(t, "POST", p.base+"/g/aaa/check_pw_reset_token", "", map[string]any{"token": link})
	require.Equal(t, 202, code)
	require.Zero(t, p.stop())
	require.NotEmpty(t, must(t, "user", "superuser", "--data", data, "b@example.org"), "without a running vmscloud too")
	require.Contains(t, must(t, "user", "list", "--data", data), "superuser  pending")
}

func TestInitWithAPassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(file, []byte("hunter2hunter2\n"), 0o600))
	require.NoError(t, os.WriteFile(file+"-short", []byte("short"), 0o600))
	data := filepath.Join(dir, "data")
	_, errs, code := vmscloud(t, "init", "--data", data, "--account", "Demo", "--password-file", file+"-short")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "10 characters")
	_, errs, code = vmscloud(t, "init", "--data", data, "--account", "Demo", "--email", "nobody")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "--email")
	text := must(t, "init", "--data", data, "--account", "Demo", "--email", "anna@example.org", "--password-file", file)
	require.NotContains(t, text, "hunter2")
	require.NotContains(t, text, "token=")
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	signIn(t, p.base, "anna@example.org", "hunter2hunter2")
	_, errs, code = vmscloud(t, "user", "unlock", "--data", data, "nobody@example.org")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "nobody@example.org")
}

func TestPrefixes(t *testing.T) {
	got, err := prefixes("--proxy", []string{"10.0.0.0/8", "192.0.2.1", "::1"})
	require.NoError(t, err)
	require.Equal(t, "[10.0.0.0/8 192.0.2.1/32 ::1/128]", fmt.Sprint(got))
	_, err = prefixes("--proxy", []string{"proxy.example"})
	require.ErrorContains(t, err, "--proxy")
}

// Whoever guesses at the real program, with what its hashes cost, keeps the owner of the password
// out nowhere.
func TestGuessersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(file, []byte("hunter2hunter2\n"), 0o600))
	data := filepath.Join(dir, "data")
	must(t, "init", "--data", data, "--account", "Demo", "--email", "anna@example.org", "--password-file", file)
	began := time.Now()
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	looked := identitytest.GuessFromManyAddresses(t, p.base, "anna@example.org", "hunter2hunter2", 2)
	require.LessOrEqual(t, looked, 24*3+20+1+int(time.Since(began)/time.Minute))
}
