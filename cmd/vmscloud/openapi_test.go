package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/identity/oauth"
)

// openAPI is the document that a service serves, checked.
func openAPI(t *testing.T, base string) *openapi3.T {
	t.Helper()
	res, err := http.Get(base + "/api/v3.0/openapi.json")
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode, "%s", raw)
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	require.NoError(t, err)
	require.NoError(t, doc.Validate(t.Context()))
	return doc
}

// pathOf is the path of the document that an address is of, "" for none. A literal one comes before one with a name in it.
func pathOf(doc *openapi3.T, path string) string {
	for _, pattern := range slices.Backward(doc.Paths.InMatchingOrder()) {
		one := regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(pattern), "[^/]+")
		if regexp.MustCompile("^"+one+"$").MatchString(path) && (pattern == path || doc.Paths.Value(path) == nil) {
			return pattern
		}
	}
	return ""
}

// conforms checks the answer of a request against the document.
func conforms(t *testing.T, doc *openapi3.T, method string, address string, res *http.Response, body []byte) {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	pattern := pathOf(doc, u.EscapedPath())
	if pattern == "" || doc.Paths.Value(pattern).GetOperation(method) == nil || method == http.MethodHead {
		return
	}
	answers := doc.Paths.Value(pattern).GetOperation(method).Responses
	answer := answers.Status(res.StatusCode)
	if answer == nil {
		require.GreaterOrEqual(t, res.StatusCode, 400, "%s %s answers a code that the document does not have", method, pattern)
		answer = answers.Default()
	}
	media := answer.Value.Content.Get("application/json")
	if media == nil || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
		return
	}
	var value any
	require.NoError(t, json.NewDecoder(bytes.NewReader(body)).Decode(&value), "%s", body)
	require.NoError(t, media.Schema.Value.VisitJSON(value), "%s %s: %s", method, address, body)
}

// The document names every path of the interface that is served, and of each the arguments that its handler takes: no
// more, no less. Whoever looks needs no token.
func TestTheDocumentIsWhatIsServed(t *testing.T) {
	t.Parallel()
	c := newCloud(t)
	doc := openAPI(t, c.p.base)
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
	ids := map[string]string{"/cameras/": "cam-a", "/bridges/": "bridge-a", "/users/": "self", "/accounts/": "self", "/eventSubscriptions/": sub,
		"/events/": url.PathEscape(motion("", "cam-a", 0).ID)}
	asked := 0
	for pattern, item := range doc.Paths.Map() {
		path := strings.ReplaceAll(pattern, "{filter}", filters[0].ID)
		for part, id := range ids {
			path = strings.ReplaceAll(path, part+"{id}", part+id)
		}
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
