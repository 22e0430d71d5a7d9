package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/identitytest"
	"vmsbridge/uplink/vms"
)

// The running service sends its letters, asks for codes, and tells of changes as events; nothing
// secret is in its log.
func TestLettersCodesAndEvents(t *testing.T) {
	t.Parallel()
	server := identitytest.StartSMTP(t, "starttls", "cloud", "password of the mail server")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("mail-password", "password of the mail server")
	settings := write("letters.yaml", "mail: {server: "+`"`+server.Address()+`"`+", user: cloud, password_file: mail-password, from: Cameras <cameras@example.org>, ca_file: "+server.CAFile+"}\n")
	data := filepath.Join(dir, "data")
	must(t, "init", "--data", data, "--account", "Demo", "--email", "anna@example.org", "--password-file",
		write("password", "hunter2hunter2\n"))
	bearer := must(t, "token", "create", "--data", data, "--kind", "user", "--quiet")
	p := startProcess(t, data, "--listen", "127.0.0.1:0", "--letters", settings, "--log-level", "debug")
	key := signIn(t, p.base, "anna@example.org", "hunter2hunter2")
	code := func() string {
		t.Helper()
		found := regexp.MustCompile(`your code is (\d{4})`).FindStringSubmatch(server.Next(t).Text)
		require.NotNil(t, found)
		return found[1]
	}
	const aaa = "/g/aaa/two_factor_authenticate"
	status, out, _ := ask(t, "POST", p.base+aaa+"/update", key,
		map[string]any{"two_factor_authentication_type": "email", "password": "hunter2hunter2",
			"update_json": map[string]any{"is_two_factor_authentication_enabled": 1}})
	require.Equal(t, 200, status, "%v", out)
	status, out, _ = ask(t, "POST", p.base+aaa+"/verify", key, map[string]any{"two_factor_authentication_code": code()})
	require.Equal(t, 200, status, "%v", out)
	status, out, _ = ask(t, "POST", p.base+"/g/aaa/authenticate", "",
		map[string]any{"username": "anna@example.org", "password": "hunter2hunter2"})
	require.Equal(t, 200, status)
	require.Equal(t, map[string]any{"sms": "no phone number", "email": "a***@example.org"},
		out["two_factor_authentication_code"])
	token := out["token"]
	status, _, _ = ask(t, "POST", p.base+aaa, "",
		map[string]any{"token": token, "two_factor_authentication_type": "sms"})
	require.Equal(t, 412, status)
	status, _, _ = ask(t, "POST", p.base+aaa, "",
		map[string]any{"token": token, "two_factor_authentication_type": "email"})
	require.Equal(t, 200, status)
	status, user, res := ask(t, "POST", p.base+"/g/aaa/authorize", "",
		map[string]any{"token": token, "two_factor_authentication_code": code()})
	require.Equal(t, 200, status)
	key = sessionOf(t, res)
	status, out, _ = ask(t, "POST", p.base+"/oauth2/token", key, map[string]any{"grant_type": "cookie"})
	require.Equal(t, 200, status, "%v", out)
	own, _ := out["access_token"].(string)
	status, made, _ := ask(t, "PUT", p.base+"/g/user", key,
		map[string]any{"first_name": "B", "last_name": "C", "email": "b@example.org"})
	require.Equal(t, 200, status)
	link := server.Next(t)
	require.Equal(t, []string{"b@example.org"}, link.To)
	require.Equal(t, "Set your password", link.Subject)

	// The events are there for whoever lists them.
	read := func(token, path string) string {
		r, err := http.NewRequest("GET", p.base+"/api/v3.0/"+path, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return string(raw)
	}
	list := func(actor, id, typ string) string {
		q := url.Values{"actor": {actor + ":" + id}, "type__in": {typ},
			"startTimestamp__lte": {time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000+00:00")},
			"startTimestamp__gte": {time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15:04:05.000+00:00")}}
		return read(bearer, "events?"+q.Encode())
	}
	require.Contains(t, read(own, "users/self/trustedClients"), `"description":"Go-http-client/1.1"`)
	id, _ := made["id"].(string)
	require.Eventually(t, func() bool { return strings.Contains(list("user", id, "vms.userCreationEvent.v1"), id+"-") },
		time.Minute, 50*time.Millisecond,
		list("user", id, "vms.userCreationEvent.v1"))
	mine, _ := user["id"].(string)
	require.Contains(t, list("user", mine, "vms.userUpdateEvent.v1"), mine+"-")
	require.Zero(t, p.stop())
	for _, secret := range []string{"password of the mail server", "hunter2", key, token.(string),
		strings.TrimSpace(link.Text[strings.LastIndex(link.Text, "days:")+5:])} {
		require.NotEmpty(t, secret)
		require.NotContains(t, p.logged(), secret)
	}
}

func TestWrongLettersSettingsAreSaidAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "letters.yaml")
	must(t, "init", "--data", data, "--account", "Demo")
	require.NoError(t, os.WriteFile(file, []byte("mail: {server: smtp.example.org}\n"), 0o600))
	_, errs, code := vmscloud(t, "run", "--data", data, "--listen", "127.0.0.1:0", "--letters", file)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "mail.server must be a host and a port")
}

// An invitation outlives the program: killed while the mail server is away, it sends a letter with
// a link that works once both are there again.
func TestAnInvitationOutlivesAKill(t *testing.T) {
	t.Parallel()
	server := identitytest.StartSMTP(t, "none", "", "")
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "letters.yaml")
	settings := func(address string) {
		require.NoError(t, os.WriteFile(file, []byte("mail: {server: "+`"`+address+`"`+", security: none, from: cameras@example.org}\n"), 0o600))
	}
	password := filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(password, []byte("hunter2hunter2\n"), 0o600))
	must(t, "init", "--data", data, "--account", "Demo", "--email", "anna@example.org", "--password-file", password)
	settings("127.0.0.1:1") // nobody listens there
	p := startProcess(t, data, "--listen", "127.0.0.1:0", "--letters", file)
	key := signIn(t, p.base, "anna@example.org", "hunter2hunter2")
	status, out, _ := ask(t, "PUT", p.base+"/g/user", key,
		map[string]any{"first_name": "B", "last_name": "C", "email": "b@example.org"})
	require.Equal(t, 200, status, "%v", out)
	p.kill()

	settings(server.Address())
	p = startProcess(t, data, "--listen", "127.0.0.1:0", "--letters", file, "--log-level", "debug")
	letter := server.Next(t)
	require.Equal(t, []string{"b@example.org"}, letter.To)
	token := regexp.MustCompile(`(?m)^[0-9A-Za-z]{48}`).FindString(letter.Text)
	status, out, _ = ask(t, "POST", p.base+"/g/aaa/reset_password", "",
		map[string]any{"token": token, "password": "hunter2hunter2"})
	require.Equal(t, 200, status, "%v %s", out, letter.Text)
	require.Eventually(t, func() bool { return strings.Contains(p.logged(), "message sent") }, time.Minute,
		5*time.Millisecond)
	require.Zero(t, p.stop())
	require.NotContains(t, p.logged(), token)
	p = startProcess(t, data, "--listen", "127.0.0.1:0", "--letters", file)
	signIn(t, p.base, "b@example.org", "hunter2hunter2")
	require.Zero(t, p.stop())
	require.Zero(t, server.Waiting(), "it is not sent again")
}

// A camera's status event is told to a user whose settings ask for it.
func TestACameraThatGoesOfflineIsTold(t *testing.T) {
	server := identitytest.StartSMTP(t, "none", "", "")
	file := filepath.Join(t.TempDir(), "letters.yaml")
	require.NoError(t, os.WriteFile(file, []byte("mail: {server: "+`"`+server.Address()+`"`+", security: none, from: cameras@example.org}\n"), 0o600))
	c := newCloud(t, "--letters", file)
	_, me, _ := c.as("asu@a.org", "GET", "/g/user", nil)
	period := []string{}
	for day := range 7 {
		period = append(period, fmt.Sprintf("%d-0000-2400", day))
	}
	code, out, _ := c.as("asu@a.org", "POST", "/g/user", map[string]any{"id": me["id"], "is_notify_enable": 1, "notify_period": period, "json": `{"vms":{"notify_levels":[3]}}`})
	require.Equal(t, 200, code, "%v", out)
	for _, name := range []string{"b", "a"} {
		ev := motion(c.accounts[name], "cam-"+name, 0)
		ev.Type, ev.CreatorID, ev.StartTimestamp = vms.TypeDeviceStatus, vms.CreatorHealth, vms.At(time.Now())
		ev.SetData(vms.DeviceCloudStatusUpdate("", vms.StatusDeviceOffline))
		require.NoError(t, clientOf(t, c.p.base, c.bridges[name]).Report(t.Context(), ev))
	}
	for {
		letter := server.Next(t)
		if letter.Subject == "Set your password" {
			continue // from when the account was made
		}
		require.Equal(t, []string{"asu@a.org"}, letter.To)
		require.Equal(t, "A camera is offline", letter.Subject)
		require.Contains(t, letter.Text, "Gate of a of the account Account a is offline")
		return
	}
}
