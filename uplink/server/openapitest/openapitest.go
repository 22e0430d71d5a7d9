// Package openapitest holds answers of a server against the OpenAPI document that it serves of
// itself. It is for tests only.
//
//	doc := openapitest.Document(t, "http://127.0.0.1:8470")
//	doc.Conforms(t, "GET", address, res, body)
//
// All tests of a package at once, whatever they ask:
//
//	func TestMain(m *testing.M) { os.Exit(openapitest.Run(m)) }
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
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// Doc is a document. Safe for concurrent use.
type Doc struct {
	*openapi3.T
	paths []onePath // in the order in which they are tried
}

// onePath is a path of the document, and what addresses of it look like.
type onePath struct {
	pattern string
	looks   *regexp.Regexp
}

// read holds the documents that have been read, by their text: most servers of a package's tests
// serve the same.
var read sync.Map

// Document is the one that the server at a base address serves, checked.
func Document(t testing.TB, base string) *Doc {
	t.Helper()
	d, err := fetch(t.Context(), http.DefaultTransport, base)
	require.NoError(t, err)
	return d
}

// fetch is Document for a server that may be away.
func fetch(ctx context.Context, way http.RoundTripper, base string) (*Doc, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+pathDocument, nil)
	if err != nil {
		return nil, err
	}
	res, err := way.RoundTrip(r)
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
	if d, ok := read.Load(string(raw)); ok {
		return d.(*Doc), nil
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(ctx); err != nil {
		return nil, err
	}
	d := &Doc{T: doc}
	for _, pattern := range slices.Backward(doc.Paths.InMatchingOrder()) {
		one := named.ReplaceAllString(regexp.QuoteMeta(pattern), "[^/]+")
		d.paths = append(d.paths, onePath{pattern, regexp.MustCompile("^" + one + "$")})
	}
	read.Store(string(raw), d)
	return d, nil
}

// named is a name in a path, quoted for an expression.
var named = regexp.MustCompile(`\\\{\w+\\\}`)

const (
	pathDocument = "/api/v3.0/openapi.json"
	listed       = "application/json"
)

// Path is the path of the document that an address is of, "" for none. A literal one comes before
// one with a name in it.
func (d *Doc) Path(path string) string {
	for _, p := range d.paths {
		if p.looks.MatchString(path) && (p.pattern == path || d.Paths.Value(path) == nil) {
			return p.pattern
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
	require.NoError(t, d.check(method, u, res.StatusCode, res.Header, body))
}

// check says what is wrong with an answer: its code, its body, or that it is good although the
// document does not know an argument of the request.
func (d *Doc) check(method string, u *url.URL, code int, header http.Header, body []byte) error {
	pattern := d.Path(u.EscapedPath())
	if pattern == "" || d.Paths.Value(pattern).GetOperation(method) == nil || method == http.MethodHead {
		return nil
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%s %s answers %d: %s", method, u, code, fmt.Sprintf(format, args...))
	}
	operation := d.Paths.Value(pattern).GetOperation(method)
	answer := operation.Responses.Status(code)
	if answer == nil && code < 400 && code != http.StatusNotModified && code != http.StatusPartialContent {
		return wrong("a code that the document does not have")
	}
	if code < 300 && !u.Query().Has("pageToken") { // which says all by itself
		for name := range u.Query() {
			if operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
				return wrong("the document does not have the argument %s", name)
			}
		}
	}
	if answer == nil {
		answer = operation.Responses.Default()
	}
	media := answer.Value.Content.Get(listed)
	if media == nil || !strings.HasPrefix(header.Get("Content-Type"), listed) {
		return nil
	}
	var value any
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&value); err != nil {
		return wrong("%v: %s", err, body)
	}
	if err := media.Schema.Value.VisitJSON(value); err != nil {
		return wrong("%v: %s", err, body)
	}
	return nil
}
