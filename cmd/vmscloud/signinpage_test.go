package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Someone with a browser signs in at the real program, agrees once, and is sent to the application
// with a code; the second time at once. Support sees what they agreed to, and takes it back.
func TestABrowserSignsIn(t *testing.T) {
	t.Parallel()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no browser: apt install chromium (scripts/deps does)")
	}
	const anna, password = "anna@example.org", "hunter2hunter2"
	codes := make(chan url.Values, 4)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			codes <- r.URL.Query()
		}
		_, _ = w.Write([]byte("<h1>the application</h1>"))
	}))
	t.Cleanup(app.Close)
	dir := t.TempDir()
	file, data := filepath.Join(dir, "password"), filepath.Join(dir, "data")
	require.NoError(t, os.WriteFile(file, []byte(password+"\n"), 0o600))
	must(t, "init", "--data", data, "--account", "Demo", "--email", anna, "--password-file", file)
	p := startProcess(t, data, "--listen", "127.0.0.1:0")
	key := signIn(t, p.base, anna, password)
	status, made, _ := ask(t, "POST", p.base+"/oauth2/clients", key,
		map[string]any{"name": "Viewer", "redirect_uris": []string{"http://127.0.0.1/back"}})
	require.Equal(t, 201, status, "%v", made)
	id := made["client_id"].(string)

	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx,
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox,
			chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(time.Minute))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	address := p.base + "/oauth2/authorize?" +
		url.Values{"response_type": {"code"}, "client_id": {id}, "state": {"x&y"},
			"redirect_uri": {app.URL + "/back"}}.Encode()
	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		require.NoError(t, chromedp.Do(ctx, steps...))
	}
	arrives := func() url.Values {
		t.Helper()
		select {
		case q := <-codes:
			return q
		case <-ctx.Done():
		}
		text, _ := chromedp.Run(ctx, chromedp.Text("body"))
		require.Fail(t, "nobody came to the application", text)
		return nil
	}
	do(chromedp.Navigate(address), chromedp.SendKeys(`input[name="username"]`, anna), chromedp.SendKeys(`input[name="password"]`, password+"\n"))
	do(chromedp.Click(`button[value="allow"]`))
	q := arrives()
	require.Equal(t, "x&y", q.Get("state"))
	status, got := form(t, p.base+"/oauth2/token", id, made["client_secret"].(string), "grant_type",
		"authorization_code", "code", q.Get("code"), "redirect_uri", app.URL+"/back")
	require.Equal(t, 200, status, "%v", got)
	require.Equal(t, "vms.read", got["scope"])
	_, err = clientOf(t, p.base, got["access_token"].(string)).User(t.Context())
	require.NoError(t, err)
	do(chromedp.Navigate(address))
	require.NotEmpty(t, arrives().Get("code"), "not asked again")

	require.Regexp(t, "(?m)^"+id+" +Viewer +vms.read ", must(t, "user", "consents", "--data", data, anna))
	must(t, "user", "consents", "--data", data, "--revoke", id, anna)
	require.NotContains(t, must(t, "user", "consents", "--data", data, anna), id)
	_, err = clientOf(t, p.base, got["access_token"].(string)).User(t.Context())
	require.Error(t, err)
	do(chromedp.Navigate(address), chromedp.Click(`button[value="deny"]`))
	require.Equal(t, "access_denied", arrives().Get("error"))
}
