package main

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// list asks for a list and gives back the ids, page after page.
func (c *cloud) list(token, path string) (ids []string) {
	c.t.Helper()
	for next := ""; ; {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		code, body := c.api(token, "GET", "/api/v3.0/"+path+sep+"pageSize=2&pageToken="+next, "")
		require.Equal(c.t, 200, code, body)
		var page vms.PageOf[struct{ ID string }]
		require.NoError(c.t, json.Unmarshal([]byte(body), &page))
		for _, one := range page.Results {
			ids = append(ids, one.ID)
		}
		if next = page.NextPageToken; next == "" {
			require.Equal(c.t, len(ids), page.TotalSize, path)
			return ids
		}
		path, _, _ = strings.Cut(path, "?") // the token remembers the rest
	}
}

// A camera picker chooses and orders cameras, and gets of them what it includes; what a person says
// of a camera is shown everywhere, and outlives the bridge's next registration and a restart.
func TestCamerasAreChosenAndDescribed(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	bridge := clientOf(t, c.p.base, c.bridges["a"])
	reg := registration("a")
	reg.Cameras = []vms.RegisteredCamera{{ID: "cam-a", Name: "Gate of a", ConnectionStatus: "online"},
		{ID: "yard", Name: "Yard", ConnectionStatus: "deviceOffline"},
		{ID: "cellar", Name: "Cellar door", ConnectionStatus: "off"},
		{ID: "roof", Name: "éclair Roof", ConnectionStatus: "online"}}
	require.NoError(t, bridge.Register(t.Context(), reg))
	token := c.bearer("asu@a.org")
	code, body := c.api(token, "PATCH", "/api/v3.0/cameras/yard", `{"name":"Car park","notes":"behind the Shed","tags":["Outside","cars","cars"]}`)
	require.Equal(t, 204, code, body)
	code, body = c.api(token, "PATCH", "/api/v3.0/cameras/roof", `{"tags":["cars"]}`)
	require.Equal(t, 204, code, body)
	for query, want := range map[string]string{"": `{"name":"cars"},{"name":"Outside"}`, "sort=-name": `{"name":"Outside"},` +
		`{"name":"cars"}`, "name__contains=SIDE": `{"name":"Outside"}`} {
		code, body := c.api(token, "GET", "/api/v3.0/tags?"+query, "")
		require.Equal(t, 200, code, body)
		require.Contains(t, body, `"results":[`+want+`]`, query)
	}
	require.Empty(t, c.list(c.bearer("asu@b.org"), "tags"), "of cameras that one sees")
	for query, want := range map[string]string{
		"":                                      "cam-a cellar roof yard",
		"id__in=yard,cam-a,nobody":              "cam-a yard",
		"id__in=nobody":                         "",
		"id__notIn=yard,roof":                   "cam-a cellar",
		"bridgeId__in=bridge-a":                 "cam-a cellar roof yard",
		"bridgeId__in=bridge-b":                 "",
		"name=car%20PARK":                       "yard",
		"name=Yard":                             "",
		"name__in=roof,cellar%20door":           "cellar",
		"name__contains=AR":                     "cellar yard",
		"q=shed%20car":                          "yard",
		"q=gate":                                "cam-a",
		"status__in=deviceOffline":              "yard",
		"status__in=off,online":                 "cam-a cellar roof",
		"status__in=asleep":                     "",
		"status__ne=off,online":                 "yard",
		"tags__any=outside,dogs":                "yard",
		"tags__contains=outside,cars":           "yard",
		"tags__contains=outside,dogs":           "",
		"sort=-name":                            "roof cam-a cellar yard",
		"sort=%2Bname":                          "yard cellar cam-a roof",
		"sort=+name&status__in=off,online":      "cellar cam-a roof",
		"shareDetails.shared=true":              "",
		"locationId__in=here":                   "",
		"layoutId=one&name__contains=a":         "",
		"multiCameraId__in=m":                   "",
		"packages__contains=p":                  "",
		"multiCameraId__ne=m&id__in=yard":       "yard",
		"deviceInfo.directToCloud=true":         "",
		"deviceInfo.directToCloud=false&q=shed": "yard",
		"shareDetails.firstResponder=true":      "",
		"shareDetails.accountId=nobodys":        "",
		"q=gate&qRelevance__gte=0.5":            "cam-a",
		"shareDetails.accountId=" + c.accounts["a"] + "&q=gate": "cam-a",
		"name__contains=a&status__in=online":                    "cam-a roof",
		"id__in=cam-a,yard&status__in=online":                   "cam-a",
		"id__contains=A&name__contains=car%20":                  "yard",
	} {
		require.Equal(t, want, strings.Join(c.list(token, "cameras?"+query), " "), query)
	}
	for query, words := range map[string]string{"zebra=1": "Unexpected argument: zebra (known here: bridgeId__in, " +
		"deviceInfo.directToCloud,", "sort=size": "sort", "shareDetails.shared=maybe": "true or false",
		"q=x&qRelevance__gte=much":       "must be a number",
		"deviceInfo.directToCloud=maybe": "true or false"} {
		code, body := c.api(token, "GET", "/api/v3.0/cameras?"+query, "")
		require.Equal(t, 400, code, query)
		require.Contains(t, body, words)
	}
	// Everybody hears of the name, also after the bridge has said its own again, and the service
	// was restarted.
	require.NoError(t, bridge.Register(t.Context(), reg))
	c.p.kill()
	c.p = startProcess(t, c.data, "--listen", "127.0.0.1:0")
	_, body = c.api(token, "GET",
		"/api/v3.0/cameras/yard?include=notes,tags,status,deviceInfo,effectivePermissions,shareDetails,capabilities,visibleByBridges,zebra", "")
	require.JSONEq(t, `{"id":"yard","accountId":"`+c.accounts["a"]+`","name":"Car park","bridgeId":"bridge-a","createTimestamp":`+textOf(t, body, "createTimestamp")+`,
		"status":{"connectionStatus":"deviceOffline"},"notes":"behind the Shed","tags":["Outside","cars"],
		"deviceInfo":{"icon":"securityCamera","directToCloud":false,"make":null,"model":null,"guid":"yard"},
		"effectivePermissions":{"read":true,"viewPreviewVideo":true,"viewLiveVideo":true,"viewHistoricVideo":true,"downloadVideo":true,"editNoBillingSettings":true,"editBillingSettings":false,"delete":false},
		"shareDetails":{"shared":false,"firstResponder":false,"accountId":"`+c.accounts["a"]+`"},
		"capabilities":{"ptz":{"capable":false},"audio":{"recordingEnabled":false,"speaker":false},"imageTuning":{"continuousZoom":false},"io":{"capable":false},"varifocal":false},
		"visibleByBridges":["bridge-a"]}`, body)
	_, body = c.api(token, "GET", "/api/v3.0/cameras/yard", "")
	require.NotContains(t, body, "notes")
	code, body = c.api(token, "GET", "/api/v3.0/cameras/cellar/settings", "")
	require.Equal(t, 200, code)
	require.JSONEq(t, `{"data":{"operatingSettings":{"on":false}}}`, body)
	c.sessions["asu@a.org"] = signIn(t, c.p.base, "asu@a.org", bedPassword)
	_, devices, _ := c.as("asu@a.org", "GET", "/g/device?id=yard", nil)
	require.Equal(t, "Car park", devices["name"])
	// An event tells of it.
	now := url.QueryEscape(vms.At(time.Now().Add(time.Hour)).String())
	require.Eventually(t, func() bool {
		code, body := c.api(token, "GET",
			"/api/v3.0/events?actor=camera:yard&include=data.vms.resourceDetails.v1&type__in=vms.deviceUpdateEvent.v1&startTimestamp__gte=2026-01-01T00:00:00Z&endTimestamp__lte="+now, "")
		return code == 200 && strings.Contains(body, `"resourceName":"Car park"`)
	}, time.Minute, 20*time.Millisecond)
	code, _ = c.api(token, "PATCH", "/api/v3.0/cameras/yard", `{"name":null}`)
	require.Equal(t, 204, code)
	_, body = c.api(token, "GET", "/api/v3.0/cameras/yard?include=notes", "")
	require.Contains(t, body, `"name":"Yard"`)
	require.Contains(t, body, "behind the Shed", "what is not said stays")
}

// textOf is a field of an object, as JSON.
func textOf(t *testing.T, body, field string) string {
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &all), body)
	return string(all[field])
}

// Who may change a camera, and with what.
func TestWhoChangesACamera(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	code, out, _ := c.as("asu@a.org", "PUT", "/g/user",
		map[string]any{"first_name": "R", "last_name": "U", "email": "ru@a.org"})
	require.Equal(t, 200, code, "%v", out)
	c.begin("ru@a.org")
	user := out["id"]
	try := func(token, camera, body string, want int, words ...string) {
		t.Helper()
		code, got := c.api(token, "PATCH", "/api/v3.0/cameras/"+camera, body)
		require.Equal(t, want, code, got)
		for _, w := range words {
			require.Contains(t, got, w)
		}
	}
	set := func(more map[string]any) {
		t.Helper()
		more["id"] = user
		code, out, _ := c.as("asu@a.org", "POST", "/g/user", more)
		require.Equal(t, 200, code, "%v", out)
	}
	ru := c.bearer("ru@a.org")
	try(ru, "cam-a", `{"name":"x"}`, 404)
	set(map[string]any{"camera_access": [][]string{{"M", "cam-a", "R"}}})
	try(ru, "cam-a", `{"name":"x"}`, 403, "camera_access")
	set(map[string]any{"is_edit_cameras": 1})
	try(ru, "cam-a", `{"notes":"x"}`, 204)
	// As the vendor's program that renames many cameras has it.
	try(ru, "cam-a", `{"id":"cam-a","name":"x"}`, 204)
	try(ru, "cam-a", `{"id":"cam-b","name":"x"}`, 400, "must be that of the address, cam-a")
	try(ru, "cam-a", `{"id":7,"name":"x"}`, 400, "id")
	try(ru, "cam-a", `{"id":"cam-a"}`, 400, "name, notes or tags")
	set(map[string]any{"is_edit_cameras": 0})
	try(ru, "cam-a", `{"notes":"y"}`, 403)
	set(map[string]any{"camera_access": [][]string{{"M", "cam-a", "RW"}}})
	try(ru, "cam-a", `{"notes":"y"}`, 204)
	try(ru, "cam-b", `{"notes":"y"}`, 404)
	try(must(t, "token", "create", "--kind", "user", "--data", c.data, "--account", c.accounts["a"], "--quiet"), "cam-a", `{"name":"x"}`, 403, "vms.all")
	try(c.bridges["a"], "cam-a", `{"name":"x"}`, 403)
	admin := c.bearer("asu@a.org")
	for body, words := range map[string]string{`{}`: "Missing required arguments: name, notes or tags", `{"name":" "}`: "must not be empty", `{"name":7}`: "name",
		`{"tags":["a,b"]}`: "without a comma", `{"bridgeId":"x"}`: "Unexpected argument: bridgeId", `x`: "Invalid JSON", `{"notes":"` + strings.Repeat("x", 5001) + `"}`: "at most 5000"} {
		try(admin, "cam-a", body, 400, words)
	}
}

// Bridges are listed as cameras are, with the same rights, and count only what the caller sees.
func TestBridgesAreListed(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	token := c.bearer("asu@a.org")
	require.Equal(t, []string{"bridge-a"},
		c.list(token, "bridges?name__contains=bridge&status__in=bridgeOffline,online"))
	require.Empty(t, c.list(token, "bridges?status__in=error"))
	require.Equal(t, []string{"bridge-a"}, c.list(c.bridges["a"], "bridges"))
	_, body := c.api(token, "GET",
		"/api/v3.0/bridges/bridge-a?include=status,deviceInfo,resourceCounts,resourceStatusCounts,networkInfo", "")
	var b vms.Bridge
	require.NoError(t, json.Unmarshal([]byte(body), &b))
	require.Equal(t, "Bridge a", b.Name)
	require.Equal(t, 1, b.ResourceCounts.Cameras, body)
	require.Len(t, b.ResourceStatusCounts.Cameras, 7)
	require.Equal(t, "bridge-a", b.DeviceInfo.SerialNumber)
	code, out, _ := c.as("asu@a.org", "PUT", "/g/user",
		map[string]any{"first_name": "R", "last_name": "U", "email": "ru@a.org",
			"camera_access": [][]string{{"M", "bridge-a", "R"}}})
	require.Equal(t, 200, code, "%v", out)
	c.begin("ru@a.org")
	ru := c.bearer("ru@a.org")
	require.Equal(t, []string{"bridge-a"}, c.list(ru, "bridges"))
	_, body = c.api(ru, "GET", "/api/v3.0/bridges/bridge-a?include=resourceCounts", "")
	require.Contains(t, body, `"cameras":0`, "the camera is not this user's to see")
	code, _, _ = c.as("asu@a.org", "POST", "/g/user",
		map[string]any{"id": out["id"], "camera_access": [][]string{{"D", "bridge-a"}}})
	require.Equal(t, 200, code)
	require.Empty(t, c.list(ru, "bridges"))
	code, _ = c.api(ru, "GET", "/api/v3.0/bridges/bridge-a", "")
	require.Equal(t, 404, code)
}
