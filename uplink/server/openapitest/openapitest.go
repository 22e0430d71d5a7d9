// Package openapitest holds answers of a server against the OpenAPI document that it serves of
// itself. It is for tests only.
//
//	doc := openapitest.Document(t, "http://127.0.0.1:8470")
//	doc.Conforms(t, "GET", address, res, body)
package openapitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// Doc is a document. Safe for concurrent use.
type Doc struct{ *openapi3.T }

// Document is the one that the server at a base address serves, checked.
func Document(t testing.TB, base string) *Doc {
	t.Helper()
	d, err := Fetch(t.Context(), base)
	require.NoError(t, err)
	return d
}

// Fetch is Document for a server that may be away.
func Fetch(ctx context.Context, base string) (*Doc, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/v3.0/openapi.json", nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %d", res.StatusCode)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, err
	}
	return &Doc{doc}, doc.Validate(ctx)
}

// named is a name in a path, quoted for an expression.
var named = regexp.MustCompile(`\\\{\w+\\\}`)

const listed = "application/json"

// Path is the path of the document that an address is of, "" for none. A literal one comes before
// one with a name in it.
func (d *Doc) Path(path string) string {
	for _, pattern := range slices.Backward(d.Paths.InMatchingOrder()) {
		one := named.ReplaceAllString(regexp.QuoteMeta(pattern), "[^/]+")
		if regexp.MustCompile("^"+one+"$").MatchString(path) && (pattern == path || d.Paths.Value(path) == nil) {
			return pattern
		}
	}
	return ""
}

// Conforms fails the test if an answer is not as the document has it. What the document does not
// have is not looked at.
func (d *Doc) Conforms(t testing.TB, method, address string, res *http.Response, body []byte) {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	pattern := d.Path(u.EscapedPath())
	if pattern == "" || d.Paths.Value(pattern).GetOperation(method) == nil || method == http.MethodHead {
		return
	}
	answers := d.Paths.Value(pattern).GetOperation(method).Responses
	answer := answers.Status(res.StatusCode)
	if answer == nil {
		require.GreaterOrEqual(t, res.StatusCode, 400, "%s %s answers a code that the document does not have", method,
			pattern)
		answer = answers.Default()
	}
	media := answer.Value.Content.Get(listed)
	if media == nil || !strings.HasPrefix(res.Header.Get("Content-Type"), listed) {
		return
	}
	var value any
	require.NoError(t, json.NewDecoder(bytes.NewReader(body)).Decode(&value), "%s", body)
	require.NoError(t, media.Schema.Value.VisitJSON(value), "%s %s: %s", method, address, body)
}
