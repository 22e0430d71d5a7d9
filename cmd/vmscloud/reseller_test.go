package main

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A sub-account shuts its reseller out of video: a link that the reseller sends to one of its
// users, and that this user follows and agrees to, opens nothing either.
func TestAShutResellerGetsNoEventsByAUser(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	user := "asu@a.org"
	code, made, _ := c.as("root@example.org", "POST", "/oauth2/clients",
		map[string]any{"name": "Helpful", "redirect_uris": []string{"https://evil.example/cb"}})
	require.Equal(t, 201, code, "%v", made)
	id := made["client_id"].(string)
	link := c.p.base + "/oauth2/authorize?response_type=code&client_id=" + id
	stay := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	visit := func(method string, form url.Values) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, link, strings.NewReader(form.Encode()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.AddCookie(&http.Cookie{Name: "auth_key", Value: c.sessions[user]})
		res, err := stay.Do(r)
		require.NoError(t, err)
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res, string(raw)
	}
	res, page := visit("GET", nil)
	require.Equal(t, 200, res.StatusCode, "a link alone gives the reseller nothing")
	require.Empty(t, res.Header.Get("Location"))
	require.Contains(t, page, "evil.example")
	res, _ = visit("POST", url.Values{"decision": {"allow"}, "proof": {regexp.MustCompile(`name="proof" value="([^"]+)"`).FindStringSubmatch(page)[1]}})
	require.Equal(t, 302, res.StatusCode)
	back, err := url.Parse(res.Header.Get("Location"))
	require.NoError(t, err)
	code, tokens := form(t, c.p.base+"/oauth2/token", id, made["client_secret"].(string), "grant_type",
		"authorization_code", "code", back.Query().Get("code"))
	require.Equal(t, 200, code, "%v", tokens)
	token := tokens["access_token"].(string)
	list := "/api/v3.0/events?actor=camera:cam-a" + window
	image := "/api/v3.0/media/recordedImage.jpeg?deviceId=cam-a&type=main&timestamp__lte=2026-06-01T00:00:00.000Z"
	code, text := c.api(token, "GET", list, "")
	require.Equal(t, 200, code, text)
	code, out, _ := c.as("root@example.org", "POST", "/g/account",
		map[string]any{"id": c.accounts["a"], "is_master_video_disabled_allowed": 1})
	require.Equal(t, 200, code, "%v", out)
	code, out, _ = c.as(user, "POST", "/g/account",
		map[string]any{"id": c.accounts["a"], "is_master_video_disabled": 1})
	require.Equal(t, 200, code, "%v", out)
	for _, path := range []string{list, image} {
		code, text = c.api(token, "GET", path, "")
		require.Equal(t, 403, code, text)
	}
	code, text = c.api(c.bearer(user), "GET", list, "")
	require.Equal(t, 200, code, "the user goes on: %s", text)
	require.NoError(t, clientOf(t, c.p.base, c.bridges["a"]).Report(t.Context(), motion(c.accounts["a"], "cam-a", 1)),
		"and so does the bridge")
}
