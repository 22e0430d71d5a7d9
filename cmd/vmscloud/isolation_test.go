package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/postgres/postgrestest"
	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/vms"
)

const bedPassword = "hunter2hunter2"

// cloud is a running service with the master account main, whose superuser is root@example.org, and
// the accounts a and b below it, each with an account superuser, a bridge and a camera with one
// event.
type cloud struct {
	t        *testing.T
	data     string
	store    string // "": the data folder
	p        *process
	main     string
	accounts map[string]string // a, b → account id
	bridges  map[string]string // a, b → the bridge's token
	sessions map[string]string // address → session
}

func newCloud(t *testing.T, args ...string) *cloud { return newCloudIn(t, "", args...) }

// inBoth runs a test over a service with a data folder, and one with PostgreSQL.
func inBoth(t *testing.T, test func(*testing.T, *cloud), args ...string) {
	t.Parallel()
	t.Run("folder", func(t *testing.T) { t.Parallel(); test(t, newCloud(t, args...)) })
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, newCloudIn(t, postgrestest.Shared(t).Database(t), args...))
	})
}

// newCloudIn is newCloud with a PostgreSQL, "" for none.
func newCloudIn(t *testing.T, store string, args ...string) *cloud {
	dir := t.TempDir()
	file := filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(file, []byte(bedPassword+"\n"), 0o600))
	c := &cloud{t: t, data: filepath.Join(dir, "data"), store: store, accounts: map[string]string{},
		bridges: map[string]string{}, sessions: map[string]string{}}
	c.main = c.must("init", "--account", "Main", "--email", "root@example.org", "--password-file", file, "--quiet")
	c.start(args...)
	c.sessions["root@example.org"] = signIn(t, c.p.base, "root@example.org", bedPassword)
	for _, name := range []string{"a", "b"} {
		code, out, _ := c.as("root@example.org", "PUT", "/g/account",
			map[string]any{"name": "Account " + name, "contact_first_name": "Asu", "contact_last_name": name,
				"contact_email": "asu@" + name + ".org", "status": []string{"active"}, "timezone": "UTC"})
		require.Equal(t, 200, code, "%v", out)
		c.accounts[name] = out["id"].(string)
		c.begin("asu@" + name + ".org")
		c.bridges[name] = c.must("token", "create", "--kind", "bridge", "--account", c.accounts[name], "--quiet")
		b := clientOf(t, c.p.base, c.bridges[name])
		require.NoError(t, b.Register(t.Context(), registration(name)))
		require.NoError(t, b.Report(t.Context(), motion(c.accounts[name], "cam-"+name, 0)))
	}
	return c
}

// place leads a command to where the service keeps what it knows.
func (c *cloud) place(args ...string) []string {
	if c.store != "" {
		args = append(args, "--store", c.store)
	}
	return args
}

// must runs a command.
func (c *cloud) must(args ...string) string {
	c.t.Helper()
	return must(c.t, append(c.place(args...), "--data", c.data)...)
}

// start runs the service.
func (c *cloud) start(args ...string) {
	c.t.Helper()
	c.p = startProcess(c.t, c.data, append(c.place("--listen", "127.0.0.1:0"), args...)...)
}

func registration(name string) vms.Registration {
	return vms.Registration{ID: "bridge-" + name, Name: "Bridge " + name, ImageToken: "im4ge-t0ken",
		Cameras: []vms.RegisteredCamera{{ID: "cam-" + name, Name: "Gate of " + name}}}
}

// begin gives a user the password of the bed and signs in.
func (c *cloud) begin(email string) {
	c.t.Helper()
	code, out, _ := ask(c.t, "POST", c.p.base+"/g/aaa/reset_password", "",
		map[string]any{"token": c.must("user", "link", "--quiet", email), "password": bedPassword})
	require.Equal(c.t, 200, code, "%v", out)
	c.sessions[email] = signIn(c.t, c.p.base, email, bedPassword)
}

// as calls /g/ or /oauth2/ with a user's session.
func (c *cloud) as(email, method, path string, body map[string]any) (int, map[string]any, *http.Response) {
	c.t.Helper()
	return ask(c.t, method, c.p.base+path, c.sessions[email], body)
}

// bearer is a token of a user's session.
func (c *cloud) bearer(email string) string {
	c.t.Helper()
	code, out, _ := c.as(email, "POST", "/oauth2/token", map[string]any{"grant_type": "cookie", "scope": "vms.all"})
	require.Equal(c.t, 200, code, "%v", out)
	return out["access_token"].(string)
}

// api calls /api/v3.0 and gives back the whole answer. A stream that is let in is not read.
func (c *cloud) api(token, method, path, body string, header ...string) (int, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.p.base+path, strings.NewReader(body))
	require.NoError(c.t, err)
	if body == "" {
		r.Body = http.NoBody
	}
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(c.t, err)
	defer res.Body.Close()
	if res.Header.Get("Content-Type") == "text/event-stream" {
		return res.StatusCode, ""
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	require.NoError(c.t, err)
	return res.StatusCode, string(raw)
}

const window = "&type__in=vms.motionDetectionEvent.v1&startTimestamp__gte=2026-01-01T00:00:00.000Z&startTimestamp__lte=2027-01-01T00:00:00.000Z"

// routesOf are the endpoints of /api/v3.0 as the source of the server lists them.
func routesOf(t *testing.T) (out []string) {
	raw, err := os.ReadFile("../../uplink/server/operations.go")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`"[A-Z]+ ([^"]+)": \{serve`).FindAllStringSubmatch(string(raw), -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	require.Greater(t, len(out), 30, "the operations are not where they were")
	return append(out, strings.TrimPrefix(oauth.PathReseller, "/api/v3.0/"))
}

// For each endpoint of /api/v3.0: what a user and a bridge of b can do about a's. Nothing of a is
// in an answer, nothing of a changes, and every endpoint has its row.
func TestAnotherAccountIsOutOfReachInTheAPI(t *testing.T) {
	c := newCloud(t)
	const v3 = "/api/v3.0/"
	theirs, ours, machine := c.bearer("asu@a.org"), c.bearer("asu@b.org"), c.bridges["b"]
	code, made := c.api(theirs, "POST", v3+"eventSubscriptions", `{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"actors":["camera:cam-a"]}]}`)
	require.Equal(t, 201, code, made)
	sub := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(made)[1]
	code, image := c.api(theirs, "GET", v3+"events/"+url.PathEscape(motion(c.accounts["a"], "cam-a", 0).ID), "")
	require.Equal(t, 200, code, image)
	event := func(account, actorAccount string) string {
		ev := motion(account, "cam-a", 7)
		ev.ActorAccountID = actorAccount
		raw, err := json.Marshal(ev)
		require.NoError(t, err)
		return string(raw)
	}
	a, b := c.accounts["a"], c.accounts["b"]
	_, self := c.api(theirs, "GET", v3+"users/self", "")
	person := strings.Trim(textOf(t, self, "id"), `"`)
	type try struct {
		method, path, body string
		user, bridge       int // what asu@b.org and b's bridge get
	}
	tries := map[string][]try{
		"events": {{"GET", "events?actor=camera:cam-a" + window, "", 404, 404},
			{"GET", "events?actor__in=camera:cam-b,camera:cam-a" + window, "", 404, 404},
			{"GET", "events?actor=account:" + a + window, "", 404, 404}, {"POST", "events", event(a, a), 403, 403},
			{"POST", "events", event(b, b), 404, 404}, {"POST", "events", event(b, a), 0, 0}},
		"events/{id}": {{"GET", "events/" + url.PathEscape(motion(a, "cam-a", 0).ID), "",
			404, 404}},
		"events:listFieldValues": {{"GET", "events:listFieldValues?actor=camera:cam-a", "", 404,
			404}},
		"events:listRecentByType": {{"GET",
			"events:listRecentByType?actor=camera:cam-a&type__in=vms.motionDetectionEvent.v1", "", 404, 404}},
		"eventMetrics": {{"GET",
			"eventMetrics?actor=camera:cam-a&eventType=vms.motionDetectionEvent.v1", "", 404, 404}},
		"eventTypes": {{"GET", "eventTypes", "", 200, 200}},
		"media/recordedImage.jpeg": {{"GET",
			"media/recordedImage.jpeg?deviceId=cam-a&type=preview&timestamp__lt=2027-01-01T00:00:00Z", "", 404, 404}},
		"media/recordedImage.jpeg:listFieldValues": {{"GET",
			"media/recordedImage.jpeg:listFieldValues?deviceId=cam-a&include=overlayId", "", 404, 404}},
		"media/liveImage.jpeg": {{"GET", "media/liveImage.jpeg?deviceId=cam-a", "", 404, 404}},
		"media": {{"GET",
			"media?deviceId=cam-a&type=preview&mediaType=image&startTimestamp__gte=2026-01-01T00:00:00Z", "", 404,
			404}},
		"media/session":  {{"GET", "media/session", "", 200, 200}},
		"clientSettings": {{"GET", "clientSettings", "", 200, 200}},
		"cameras": {{"GET", "cameras", "", 200, 200},
			{"GET", "cameras?id__in=cam-a,cam-b&q=gate", "", 200, 200}},
		"cameras/{id}":          {{"GET", "cameras/cam-a", "", 404, 404}, {"PATCH", "cameras/cam-a", `{"name":"Mine"}`, 404, 403}},
		"cameras/{id}/settings": {{"GET", "cameras/cam-a/settings", "", 404, 404}},
		"bridges": {{"GET", "bridges?include=status,resourceCounts", "", 200, 200},
			{"GET", "bridges?id__in=bridge-a,bridge-b", "", 200, 200}},
		"bridges/{id}": {{"GET", "bridges/bridge-a", "", 404, 404}},
		"users": {{"GET", "users?include=permissions,loginDetails", "", 200, 403},
			{"GET", "users?email__in=asu@a.org", "", 200, 403}},
		"users/{id}": {{"GET", "users/" + person, "", 404, 404}},
		"accounts": {{"GET", "accounts?include=resourceCounts,security,brandingInfo",
			"", 200, 200}, {"GET", "accounts?id__in=" + a, "", 200, 200}},
		"accounts/{id}": {{"GET", "accounts/" + a, "", 404, 404},
			{"GET", "accounts/self", "", 200, 200}},
		"feeds": {{"GET", "feeds", "", 200, 200},
			{"GET", "feeds?deviceId=cam-a", "", 404, 404}},
		"tags":                  {{"GET", "tags?name__contains=a", "", 200, 200}},
		"languages":             {{"GET", "languages", "", 200, 200}},
		"cameras/{id}/io/ports": {{"GET", "cameras/cam-a/io/ports", "", 404, 404}},
		"devices/{id}/io/ports": {{"GET", "devices/cam-a/io/ports", "", 404, 404},
			{"GET", "devices/bridge-a/io/ports", "", 404, 404}},
		"users/self":                {{"GET", "users/self", "", 200, 200}, {"PATCH", "users/self", `{"id":"` + person + `","firstName":"Eve"}`, 400, 403}},
		"users/self/trustedClients": {{"GET", "users/self/trustedClients", "", 200, 200}},
		// Ids are an account's own (TestTwoAccountsWithTheSameIDs), and nothing names another
		// account.
		"bridges:register":   {{"POST", "bridges:register", `{"id":"bridge-a","name":"x","cameras":[],"accountId":"` + a + `"}`, 400, 400}, {"POST", "bridges:register?accountId=" + a, `{"id":"bridge-a","name":"x","cameras":[]}`, 400, 400}},
		"events:report":      {{"POST", "events:report", `{"events":[` + event(a, a) + `]}`, 0, 0}, {"POST", "events:report", `{"events":[` + event(b, b) + `]}`, 0, 0}},
		"eventSubscriptions": {{"POST", "eventSubscriptions", `{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"actors":["camera:cam-a"]}]}`, 404, 404}, {"GET", "eventSubscriptions", "", 200, 200}},
		"eventSubscriptions/{id}": {{"GET", "eventSubscriptions/" + sub, "", 404, 404},
			{"DELETE", "eventSubscriptions/" + sub, "", 404, 404}},
		"eventSubscriptions/{id}/filters": {{"GET", "eventSubscriptions/" + sub + "/filters", "", 404, 404}, {"POST", "eventSubscriptions/" + sub + "/filters", `{"actors":["camera:cam-b"]}`, 404, 404}},
		"eventSubscriptions/{id}/filters/{filter}": {{"GET", "eventSubscriptions/" + sub + "/filters/1", "", 404, 404},
			{"DELETE", "eventSubscriptions/" + sub + "/filters/1", "", 404, 404}},
		"eventSubscriptions/{id}/stream": {{"GET", "eventSubscriptions/" + sub + "/stream", "", 404, 404}},
		"bridges:leave": {{"POST", "bridges:leave?bridgeId=bridge-a", "", 409, 409},
			{"POST", "bridges:leave?bridgeId=nobody-s", "", 409, 409}},
		"bridges:tunnel": {{"GET", "bridges:tunnel?bridgeId=bridge-a", "", 409, 409},
			{"GET", "bridges:tunnel?bridgeId=nobody-s", "", 409, 409}},
		"authorizationTokens": {{"POST", "authorizationTokens", `{"type":"reseller","targetType":"account","targetId":"` + a + `"}`, 404, 403}},
	}
	for _, kind := range []string{"alertActionRules", "alertActions", "alertConditionRules", "alertTypes", "alerts",
		"applications", "availableDevices", "deletedFiles", "downloads", "eventAlertConditionRules", "files", "jobs",
		"layouts", "locations", "multiCameras", "notifications", "roleAssignments", "roles", "speakers",
		"switches"} {
		tries[kind] = []try{{"GET", kind + "?include=notes", "", 200, 200}}
		tries[kind+"/{id}"] = []try{{"GET", kind + "/1", "", 404, 404}}
	}
	state := func() string {
		out := ""
		for _, path := range []string{"cameras?include=status,notes,tags", "bridges?include=resourceCounts",
			"events?actor=camera:cam-a" + window, "eventSubscriptions/" + sub, "users/self"} {
			code, body := c.api(theirs, "GET", v3+path, "")
			require.Equal(t, 200, code, body)
			out += body
		}
		return out
	}
	before := state()
	for _, route := range routesOf(t) {
		require.NotEmpty(t, tries[route], "%s: nobody has tried this against another account", route)
		for _, x := range tries[route] {
			for token, want := range map[string]int{ours: x.user, machine: x.bridge} {
				code, body := c.api(token, x.method, v3+x.path, x.body)
				if want != 0 {
					require.Equal(t, want, code, "%s %s %s: %s", x.method, x.path, x.body, body)
				}
				for _, text := range []string{"Gate of a", "Bridge a", "bridge-a\",\"accountId", "asu@a.org",
					"Account a"} {
					require.NotContains(t, body, text, "%s %s", x.method, x.path)
				}
				if code == 200 && x.method == "GET" {
					require.NotContains(t, body, "cam-a")
					require.NotContains(t, body, sub)
				}
			}
		}
		require.Equal(t, before, state(), route)
	}
	for _, token := range []string{"", "x", sub} {
		for _, route := range routesOf(t) {
			for _, x := range tries[route] {
				code, body := c.api(token, x.method, v3+x.path, x.body)
				require.Equal(t, 401, code, "%s without a token: %s", route, body)
			}
		}
	}
	for token, want := range map[string]int{theirs: 401, ours: 401, machine: 401, c.bearer("root@example.org"): 200} {
		code, _ := c.api(token, "GET", "/metrics", "")
		require.Equal(t, want, code, "the metrics tell of all accounts")
	}
}

// A user sees no camera that was not given, and of a camera what the flags allow, in every list,
// image and event.
func TestCamerasAndFlagsInTheAPI(t *testing.T) {
	c := newCloud(t)
	code, out, _ := c.as("asu@a.org", "PUT", "/g/user",
		map[string]any{"first_name": "R", "last_name": "U", "email": "ru@a.org"})
	require.Equal(t, 200, code, "%v", out)
	id := out["id"].(string)
	c.begin("ru@a.org")
	token := c.bearer("ru@a.org")
	event := "events/" + url.PathEscape(motion("", "cam-a", 0).ID)
	preview := "media/recordedImage.jpeg?deviceId=cam-a&timestamp__lt=2027-01-01T00:00:00Z&type=preview"
	check := func(name string, want map[string]int) {
		t.Helper()
		for path, w := range want {
			code, body := c.api(token, "GET", "/api/v3.0/"+path, "")
			require.Equal(t, w, code, "%s, %s: %s", name, path, body)
		}
	}
	set := func(more map[string]any) {
		t.Helper()
		more["id"] = id
		code, out, _ := c.as("asu@a.org", "POST", "/g/user", more)
		require.Equal(t, 200, code, "%v", out)
	}
	list := "events?actor=camera:cam-a" + window
	check("no camera", map[string]int{"cameras/cam-a": 404, list: 404, event: 404, preview: 404,
		"events:listFieldValues?actor=camera:cam-a": 404})
	set(map[string]any{"camera_access": [][]string{{"M", "cam-a", "R"}}})
	// 503 is what the bridge's being away answers to who may see the image.
	check("the camera", map[string]int{"cameras/cam-a": 200, list: 200, event: 200, preview: 503,
		strings.Replace(preview, "=preview", "=main", 1): 503})
	set(map[string]any{"is_recorded_video": 0})
	check("without is_recorded_video", map[string]int{"cameras/cam-a": 200, list: 200, event: 200, preview: 503,
		strings.Replace(preview, "=preview", "=main", 1): 403})
	set(map[string]any{"is_live_video": 0, "is_export_video": 0, "is_view_preview_video": 0})
	check("without any", map[string]int{"cameras/cam-a": 200, list: 403, event: 403, preview: 403,
		strings.Replace(preview, "=preview", "=main", 1): 403})
	set(map[string]any{"camera_access": [][]string{{"D", "cam-a"}}, "is_recorded_video": 1})
	check("taken away", map[string]int{"cameras/cam-a": 404, list: 404, event: 404, preview: 404})
}

// Behind a proxy that is believed, an account's address ranges hold for the client's address, at
// sign-in and for tokens.
func TestAddressRangesBehindAProxy(t *testing.T) {
	c := newCloud(t, "--proxy", "127.0.0.1")
	token, bridge := c.bearer("asu@a.org"), c.bridges["a"]
	code, out, _ := c.as("asu@a.org", "POST", "/g/account",
		map[string]any{"id": c.accounts["a"], "access_restriction": []string{"enable_ip_restrictions"},
			"allowable_ip_address_range": []string{"203.0.113.0/24"}})
	require.Equal(t, 200, code, "%v", out)
	for from, want := range map[string]int{"203.0.113.9": 200, "198.51.100.1": 401, "203.0.113.9, 198.51.100.1": 401,
		"198.51.100.1, 203.0.113.9": 200, "": 401} {
		code, body := c.api(token, "GET", "/api/v3.0/users/self", "", "X-Forwarded-For", from)
		require.Equal(t, want, code, "%q: %s", from, body)
		code, _ = c.api(bridge, "GET", "/api/v3.0/users/self", "", "X-Forwarded-For", from)
		require.Equal(t, 200, code, "a bridge is no person who signs in")
	}
}

// A deleted account is gone with its users, tokens, devices and events; its parent is told by the
// catalogue's events, and the ids of its devices are free. All that outlives a kill in between.
func TestADeletedAccountTakesEverythingAlong(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	token := c.bearer("asu@a.org")
	code, out, _ := c.as("root@example.org", "DELETE", "/g/account?id="+c.accounts["a"], nil)
	require.Equal(t, 200, code, "%v", out)
	c.p.kill()
	c.p = startProcess(t, c.data, "--listen", "127.0.0.1:0")
	for _, held := range []string{token, c.bridges["a"]} {
		code, _ := c.api(held, "GET", "/api/v3.0/users/self", "")
		require.Equal(t, 401, code)
	}
	code, _, _ = ask(t, "POST", c.p.base+"/g/aaa/authenticate", "",
		map[string]any{"username": "asu@a.org", "password": bedPassword})
	require.Equal(t, 401, code)
	root := c.bearer("root@example.org")
	for typ, n := range map[string]int{"vms.accountCreationEvent.v1": 1, "vms.accountDeletionEvent.v1": 1,
		"vms.userDeletionEvent.v1": 1, "vms.deviceDeletionEvent.v1": 2} {
		q := "events?actor=account:" + c.main + "&include=data.vms.resourceDetails.v1&type__in=" + typ +
			"&startTimestamp__gte=2026-01-01T00:00:00Z&startTimestamp__lte=" +
			url.QueryEscape(vms.At(time.Now().Add(time.Hour)).String())
		require.Eventually(t, func() bool {
			_, body := c.api(root, "GET", "/api/v3.0/"+q, "")
			return strings.Count(body, `"resourceId"`) == n
		}, time.Minute, 20*time.Millisecond, typ)
	}
	b := clientOf(t, c.p.base, c.bridges["b"])
	reg := registration("b")
	reg.Cameras = append(reg.Cameras, vms.RegisteredCamera{ID: "cam-a", Name: "Gate"})
	require.Eventually(t, func() bool { return b.Register(t.Context(), reg) == nil }, time.Minute, 20*time.Millisecond,
		"the camera moves")
	page, err := clientOf(t, c.p.base, c.bearer("asu@b.org")).Events(t.Context(), ofCamera("cam-a"), "")
	require.NoError(t, err)
	require.Empty(t, page.Results, "what it saw before is not b's to see")
}
