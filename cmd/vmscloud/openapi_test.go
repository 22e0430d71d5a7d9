package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/oauth"
	"vmsbridge/uplink/server/openapitest"
)

// The document names every path of the interface that is served, and of each the arguments that its
// handler takes: no more, no less. Whoever looks needs no token.
func TestTheDocumentIsWhatIsServed(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	doc := openapitest.Document(t, c.p.base)
	token := c.bearer("asu@a.org")
	for _, route := range routesOf(t) {
		if route != strings.TrimPrefix(oauth.PathReseller, "/api/v3.0/") {
			require.NotNil(t, doc.Paths.Value("/api/v3.0/"+route), "%s is not in the document", route)
		}
	}
	_, made := c.api(token, "POST", "/api/v3.0/eventSubscriptions", `{"deliveryConfig":{"type":"serverSentEvents.v1"},"filters":[{"actors":["camera:cam-a"]}]}`)
	sub := strings.Trim(textOf(t, made, "id"), `"`)
	var filters []struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(textOf(t, made, "filters")), &filters))
	ids := map[string]string{"/cameras/": "cam-a", "/bridges/": "bridge-a", "/users/": "self", "/accounts/": "self",
		"/eventSubscriptions/": sub, "/devices/": "cam-a",
		"/events/": url.PathEscape(motion("", "cam-a", 0).ID)}
	asked := 0
	for pattern, item := range doc.Paths.Map() {
		path := strings.ReplaceAll(pattern, "{filter}", filters[0].ID)
		for part, id := range ids {
			path = strings.ReplaceAll(path, part+"{id}", part+id)
		}
		path = strings.ReplaceAll(path, "{id}", "none") // of what nobody has
		require.NotContains(t, path, "{")
		for method, op := range item.Operations() {
			var want []string
			for _, p := range op.Parameters {
				if p.Value.In == openapi3.ParameterInQuery {
					want = append(want, p.Value.Name)
				}
			}
			code, body := c.api(token, method, path+"?zebra=1", "")
			if code == http.StatusForbidden {
				continue // this user's rights are looked at first
			}
			require.Equal(t, 400, code, "%s %s: %s", method, path, body)
			known := "no argument is known here"
			if len(want) > 0 {
				slices.Sort(want)
				known = "known here: " + strings.Join(want, ", ") + ")"
			}
			require.Contains(t, body, known, "%s %s", method, path)
			asked++
		}
	}
	require.Greater(t, asked, 25)
}

// Every argument that the document names is taken by its endpoint: asked with a good value, each
// list answers 200, also those of which nobody here has any. Images have tests of their own.
func TestEveryArgumentIsTaken(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	token := c.bearer("asu@a.org")
	const from, to = "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"
	needed := map[string]url.Values{
		"events": {"actor": {"camera:cam-a"}, "startTimestamp__gte": {from},
			"startTimestamp__lte": {to}},
		"events:listRecentByType": {"actor": {"camera:cam-a"}, "type__in": {"vms.motionDetectionEvent.v1"}},
		"events:listFieldValues":  {"actor": {"camera:cam-a"}},
		"eventMetrics": {"actor": {"camera:cam-a"}, "eventType": {"vms.motionDetectionEvent.v1"},
			"timestamp__gte": {from}, "timestamp__lte": {"2026-01-03T00:00:00Z"}},
		"media/recordedImage.jpeg:listFieldValues": {"deviceId": {"cam-a"}, "include": {"overlayId"}},
	}
	made := func(path, body string) string {
		t.Helper()
		code, text := c.api(token, "POST", "/api/v3.0/"+path, body)
		require.Equal(t, 201, code, text)
		var of struct {
			ID string `json:"id"`
		}
		require.NoError(t, json.Unmarshal([]byte(text), &of))
		return of.ID
	}
	subscription := `{"deliveryConfig": {"type": "serverSentEvents.v1"}, "filters": [{}, {}]}`
	made("eventSubscriptions", subscription)
	good := map[string]string{"actor__in": "camera:cam-a", "deviceId": "cam-a", "deviceId__in": "cam-a",
		"aggregateByMinutes": "30", "pageSize": "7", "qRelevance__gte": "0.5", "coalesce": "true", "type": "main",
		"deviceInfo.directToCloud": "true", "shareDetails.firstResponder": "true", "shareDetails.shared": "true",
		"permissions.administrator": "true", "sort": "+name", "language": "ja"}
	ids := map[string]string{"cameras/{id}": "cameras/cam-a", "bridges/{id}": "bridges/bridge-a",
		"users/{id}": "users/self", "accounts/{id}": "accounts/self",
		"devices/{id}":            "devices/bridge-a",
		"eventSubscriptions/{id}": "eventSubscriptions/" + made("eventSubscriptions", subscription),
		"events/{id}":             "events/" + url.PathEscape(motion("", "cam-a", 0).ID)}
	asked, followed := 0, 0
	for pattern, item := range openapitest.Document(t, c.p.base).Paths.Map() {
		name := strings.TrimPrefix(pattern, "/api/v3.0/")
		path := name
		for part, id := range ids {
			path = strings.Replace(path, part, id, 1)
		}
		if item.Get == nil || strings.Contains(path, "{") || path == "bridges:tunnel" ||
			strings.HasSuffix(path, "/stream") || strings.HasPrefix(path, "media") && needed[name] == nil {
			continue
		}
		for _, p := range item.Get.Parameters {
			arg := p.Value.Name
			if p.Value.In != openapi3.ParameterInQuery {
				continue
			}
			q := maps.Clone(needed[name])
			if q == nil {
				q = url.Values{}
			}
			if arg == "pageToken" {
				q.Set("pageSize", "1")
				_, body := c.api(token, "GET", "/api/v3.0/"+path+"?"+q.Encode(), "")
				var page struct{ NextPageToken string }
				require.NoError(t, json.Unmarshal([]byte(body), &page), "%s: %s", path, body)
				if page.NextPageToken == "" {
					continue // there is nobody or one of them
				}
				followed++
				q, good[arg] = url.Values{}, page.NextPageToken
			}
			value, ok := good[arg]
			switch {
			case name == "events" && arg == "sort":
				value = "+startTimestamp"
			case name == "users" && arg == "sort":
				value = "-email"
			case strings.Contains(arg, "imestamp__l"):
				value = to
			case strings.Contains(arg, "imestamp"):
				value = from
			case !ok:
				value = "x"
			}
			if arg == "actor__in" {
				q.Del("actor")
			}
			if !q.Has(arg) {
				q.Set(arg, value)
			}
			code, body := c.api(token, "GET", "/api/v3.0/"+path+"?"+q.Encode(), "")
			require.Equal(t, 200, code, "%s?%s: %s", path, q.Encode(), body)
			asked++
		}
	}
	require.Greater(t, asked, 150)
	require.Greater(t, followed, 3)
}
