package main

import (
	"encoding/json"
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
