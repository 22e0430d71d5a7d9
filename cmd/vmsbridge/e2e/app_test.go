package e2e

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/server/openapitest"
	"vmsbridge/uplink/vms"
)

// newApp is a server of somebody's application: empty pages at another address than ours. back has
// the arguments of a page once it is loaded.
func newApp(t *testing.T) (app *httptest.Server, back chan url.Values) {
	back = make(chan url.Values, 8)
	app = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/loaded" {
			back <- r.URL.Query()
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>app</title><h1>app</h1><script>addEventListener('load', () => " +
			"fetch('/loaded' + location.search))</script>"))
	}))
	t.Cleanup(app.Close)
	return app, back
}

// asApp gives the page what an application has: api(method, path, body) asks the server at base
// with a token, and image(address, headers) is how wide the picture there is.
func (b *browser) asApp(base, token string) {
	b.t.Helper()
	ask[bool](b, fmt.Sprintf(`(window.answers = [], window.api = async (method, path, body) => {
		const res = await fetch(%q + "/api/v3.0/" + path, {method, body: body && JSON.stringify(body),
			headers: {Authorization: "Bearer " + %q, ...(body && {"Content-Type": "application/json"})}});
		const text = await res.text();
		answers.push({method, address: res.url, code: res.status, type: res.headers.get("Content-Type") || "", text});
		if (!res.ok) throw new Error(method + " " + path + ": " + res.status + " " + text);
		return text && JSON.parse(text);
	}, window.image = (address) => new Promise((done) => {
		const img = new Image();
		img.onload = () => done(img.naturalWidth);
		img.onerror = () => done(0);
		img.src = address;
		document.body.append(img);
	}), window.blob = async (path) => {
		const res = await fetch(%[1]q + "/api/v3.0/" + path, {headers: {Authorization: "Bearer " + %[2]q}});
		return image(URL.createObjectURL(await res.blob()));
	}, window.subscribe = async (type) => {
		const sub = await api("POST", "eventSubscriptions?include=signedUrls", {deliveryConfig: {type: "serverSentEvents.v1"}, filters: [{types: [{id: type}]}]});
		window.named = []; window.plain = []; window.opened = 0;
		window.source = new EventSource(sub.deliveryConfig.sseUrl);
		source.onopen = () => { opened++; };
		source.onmessage = (m) => plain.push([m.lastEventId, JSON.parse(m.data)]);
		source.addEventListener(type, (m) => named.push([m.lastEventId, JSON.parse(m.data)]));
	}, true)`, base, token))
}

// conforms holds what api was answered so far against the document of the server at base.
func (b *browser) conforms(base string) {
	b.t.Helper()
	var answers []struct {
		Method, Address, Type, Text string
		Code                        int
	}
	require.NoError(b.t, json.Unmarshal([]byte(ask[string](b, `JSON.stringify(answers)`)), &answers))
	require.NotEmpty(b.t, answers)
	doc := openapitest.Document(b.t, base)
	for _, a := range answers {
		doc.Conforms(b.t, a.Method, a.Address,
			&http.Response{StatusCode: a.Code, Header: http.Header{"Content-Type": {a.Type}}}, []byte(a.Text))
	}
}

// hears requires that both listeners of a subscription hear the same, each message once.
func (b *browser) hears(n int) {
	b.t.Helper()
	b.shows(fmt.Sprintf(`named.length >= %d && plain.length >= named.length`, n))
	require.True(b.t, ask[bool](b, `JSON.stringify(named) === JSON.stringify(plain.slice(0, named.length)) && new Set(named.map((m) => m[0])).size === named.length`))
}

// TestSubscriptionInABrowser: a page of another address follows the bridge's events by an
// EventSource, which sends no token: the listener of a type and onmessage hear each event once.
func TestSubscriptionInABrowser(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	s := newSite(t, cameraYAML("gate", sceneCamera(t, "mjpeg"), "", "auto", "", ""))
	s.startBridge()
	app, _ := newApp(t)
	b.do(chromedp.Navigate(app.URL))
	b.asApp(s.local, lanToken)
	ask[bool](b, fmt.Sprintf(`subscribe(%q).then(() => true)`, vms.TypeMotion))
	b.shows(`opened > 0`)
	b.hears(3)
	require.True(t, ask[bool](b, fmt.Sprintf(`named.every((m) => m[1].actorId === "gate" && m[1].type === %q)`, vms.TypeMotion)))
	b.conforms(s.local)
	// The bridge stops in time though somebody follows.
	s.bridge.stop(5 * time.Second)
}

// TestAnAppOfSomebody does at the service what an application does, from its sign-in on, in a page
// of another address: cameras chosen by their status, users, bridges, accounts, events with their
// pictures in an <img>, the live picture, when there are pictures at all, and events as they
// happen, over a restart of the service.
func TestAnAppOfSomebody(t *testing.T) {
	t.Parallel()
	const anna, password = "anna@example.org", "hunter2hunter2"
	b := openBrowser(t)
	app, back := newApp(t)
	s := &site{dir: t.TempDir(), cloudArgs: []string{"--origin", app.URL}}
	file := s.path("password")
	s.t = t
	s.write("password", password+"\n")
	newSiteWith(t, s, []string{"--email", anna, "--password-file", file},
		cameraYAML("gate", sceneCamera(t, "mjpeg"), "", "auto", "", "")+
			cameraYAML("gone", "rtsp://127.0.0.1:1/none", "", "auto", "", ""))
	s.startBridge()
	client := strings.Fields(command(t, "vmscloud", "client", "create", "--data", s.path("cloud"), "--account",
		s.account, "--public", "--redirect", app.URL+"/back", "--quiet", "Viewer"))[0]

	// Sign-in with PKCE: the code comes back to the page, which makes a token of it without a
	// secret.
	verifier := strings.Repeat("a-verifier-of-the-page-", 3)
	hash := sha256.Sum256([]byte(verifier))
	b.do(chromedp.Navigate(s.service + "/oauth2/authorize?" +
		url.Values{"response_type": {"code"}, "client_id": {client}, "state": {"x&y"}, "scope": {"vms.all"},
			"redirect_uri": {app.URL + "/back"}, "code_challenge": {base64.RawURLEncoding.EncodeToString(hash[:])},
			"code_challenge_method": {"S256"}}.Encode()))
	b.looks("oauth-sign-in")
	b.do(chromedp.SendKeys(`input[name="username"]`, anna), chromedp.SendKeys(`input[name="password"]`, password+"\n"), chromedp.WaitVisible(`button[value="allow"]`))
	b.looks("oauth-consent")
	b.do(chromedp.Click(`button[value="allow"]`))
	select {
	case q := <-back:
		require.Equal(t, "x&y", q.Get("state"))
	case <-time.After(2 * time.Minute):
		t.Fatal("nobody came back to the application")
	}
	token := ask[string](b, fmt.Sprintf(`fetch(%q + "/oauth2/token", {method: "POST", body: new URLSearchParams({grant_type: "authorization_code", client_id: %q,
		code: new URLSearchParams(location.search).get("code"), redirect_uri: %q, code_verifier: %q})}).then((r) => r.json()).then((t) => t.access_token || JSON.stringify(t))`,
		s.service, client, app.URL+"/back", verifier))
	b.asApp(s.service, token)
	until(t, 90*time.Second, "a motion at the service",
		func() bool { return len(s.events("gate", vms.TypeMotion)) > 1 })

	// What is there.
	list := func(path, field string) string {
		t.Helper()
		return ask[string](b, fmt.Sprintf(`api("GET", %q).then((page) => page.results.map((r) => %s).join(" "))`, path, field))
	}
	require.Equal(t, "gate",
		list("cameras?status__in=online,asleep&include=status",
			"r.id + (r.status.connectionStatus === 'online' ? '' : '!')"))
	require.Equal(t, "gone", list("cameras?status__in=deviceOffline&bridgeId__in=bridge-1", "r.id"))
	require.Equal(t, "gate gone", list("cameras?name__contains=camera&sort=name", "r.id"))
	require.Contains(t, list("users?include=permissions", "r.email"), anna)
	require.Equal(t, anna, ask[string](b, `api("GET", "users/self").then((u) => u.email)`))
	require.Equal(t, "bridge-1 online", list("bridges?include=status", "r.id + ' ' + r.status.connectionStatus"))
	require.Equal(t, s.account, ask[string](b, `api("GET", "accounts/self").then((a) => a.id)`))
	require.Contains(t, list("feeds?deviceId=gate", "r.deviceId"), "gate")

	// Events, and their pictures as a browser opens them.
	day := "startTimestamp__gte=2020-01-01T00:00:00Z&endTimestamp__lte=2100-01-01T00:00:00Z"
	picture := `api("GET", "events?actor=camera:gate&type__in=` + vms.TypeMotion + `&pageSize=1&` + day + `&include=` + "data." + vms.SchemaFullFrame + `,data.` + vms.SchemaCroppedFrame +
		`,data.` + vms.SchemaFullFrameOverlay + `,signedUrls").then((page) => Promise.all(page.results[0].data.map((d) => image(d.httpsUrl || d.overlayEmbeddedUrl))))
		.then((widths) => widths.length > 3 && widths.every((w) => w > 0))`
	until(t, 30*time.Second, "the pictures of the newest motion", func() bool { return ask[bool](b, picture) })
	require.Equal(t, 2, ask[int](b, fmt.Sprintf(`(async () => { // as the vendor's documents open a session of images
		const options = {credentials: "include", headers: {Authorization: "Bearer " + %q}};
		const first = await fetch(%q, options), second = await fetch((await first.json()).url, options);
		return first.ok + second.ok;
	})()`, token, s.service+"/api/v3.0/media/session")))
	require.Greater(t, ask[int](b, `blob("media/liveImage.jpeg?deviceId=gate&type=preview")`), 300)
	require.Equal(t, 100, ask[int](b, `blob("media/liveImage.jpeg?deviceId=gate&type=preview&targetWidth=100")`))
	require.True(t, ask[bool](b, `api("GET", "media?deviceId=gate&type=preview&mediaType=image&startTimestamp__gte=2020-01-01T00:00:00Z").then((m) => m.results.length > 0 && m.gaps.length >= 0)`))
	require.True(t, ask[bool](b, `api("GET", "media?deviceId=gone&type=preview&startTimestamp__gte=2020-01-01T00:00:00Z").then((m) => m.results.length === 0 && Array.isArray(m.gaps))`))
	require.Positive(t, ask[int](b, `api("GET", "eventMetrics?actor=camera:gate&eventType=`+vms.TypeMotion+`").then((m) => m[0].dataPoints.reduce((n, p) => n + p[1], 0))`))
	require.Equal(t, 400, ask[int](b, `api("GET", "cameras?zebra=1").then(() => 200, (e) => Number(/: (\d+) /.exec(e.message)[1]))`))
	require.Equal(t, 404, ask[int](b, `api("GET", "cameras/another").then(() => 200, (e) => Number(/: (\d+) /.exec(e.message)[1]))`))

	// Events as they happen: the stream goes on by itself after a restart, and nothing that
	// happened is missing.
	ask[bool](b, fmt.Sprintf(`subscribe(%q).then(() => true)`, vms.TypeMotion))
	b.shows(`opened > 0`)
	b.hears(2)
	s.cloud.stop(10 * time.Second)
	before := ask[int](b, `named.length`)
	s.startCloud()
	b.hears(before + 4)
	b.shows(`opened > 1`)
	var heard []vms.Event
	require.NoError(t, json.Unmarshal([]byte(ask[string](b, `JSON.stringify(named.map((m) => m[1]))`)), &heard))
	ids := map[string]bool{}
	for _, ev := range heard {
		ids[ev.ID] = true
	}
	for _, ev := range s.events("gate", vms.TypeMotion) {
		if first, last := heard[0], heard[len(heard)-1]; ev.StartTimestamp.After(first.StartTimestamp.Time) &&
			ev.StartTimestamp.Before(last.StartTimestamp.Time) {
			require.True(t, ids[ev.ID], "%s was not heard of", ev.ID)
		}
	}
	b.conforms(s.service)
	for line := range strings.Lines(b.console()) {
		require.NotContains(t, line, "CORS", "the console")
	}
}
