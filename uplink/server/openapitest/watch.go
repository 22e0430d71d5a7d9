package openapitest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// Run runs the tests of a package, and holds every answer of the interface that comes by
// http.DefaultTransport meanwhile against the document of the server that gave it, and every answer
// that programs give which are built with the tag heldanswers, whoever asks them. The result is
// that of m.Run, or 1 if an answer was wrong; then it is printed, with the test that asked, or the
// program that answered. With -v it prints of each endpoint and argument of the document which
// tests it was answered well to.
func Run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "answers-")
	if err != nil {
		fmt.Println("make a folder for what is wrong with answers:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "wrong")
	os.Setenv(toldTo, path)
	defer os.Unsetenv(toldTo)
	w := &watch{way: http.DefaultTransport, documents: map[string]*Doc{}, asked: map[string]map[string]bool{}}
	http.DefaultTransport = w
	code := m.Run()
	http.DefaultTransport = w.way
	byPrograms, _ := os.ReadFile(path) // none: nothing is wrong
	for line := range strings.Lines(string(byPrograms)) {
		w.wrong = append(w.wrong, strings.TrimSpace(line))
	}
	for _, text := range w.wrong {
		fmt.Println("not as the OpenAPI document has it:", text)
		code = max(code, 1)
	}
	if testing.Verbose() {
		answers, _ := os.ReadFile(path + ".held")
		fmt.Printf("answers held against the OpenAPI document: %d, and %d in the programs\n", w.held, len(answers))
		w.table(os.Stdout)
	}
	return code
}

// table prints a row for each endpoint of the documents, and each argument of it: the tests that
// got a good answer with it.
func (w *watch) table(to io.Writer) {
	for _, doc := range w.documents {
		for pattern, item := range doc.Paths.Map() {
			for method, operation := range item.Operations() {
				w.row(method + " " + pattern)
				for _, p := range operation.Parameters {
					if p.Value.In == openapi3.ParameterInQuery {
						w.row(method + " " + pattern + " " + p.Value.Name)
					}
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.asked)) {
		_, _ = fmt.Fprintf(to, "| %s | %s |\n", strings.ReplaceAll(name, " ", " | "),
			strings.Join(slices.Sorted(maps.Keys(w.asked[name])), ", "))
	}
}

// row is the tests of a row, which is made if it is not there. mu is held, or nothing runs.
func (w *watch) row(name string) map[string]bool {
	if w.asked[name] == nil {
		w.asked[name] = map[string]bool{}
	}
	return w.asked[name]
}

// note notes which test got to which arguments the answer that the document names.
func (w *watch) note(doc *Doc, method string, u *url.URL, code int) {
	pattern := doc.Path(u.EscapedPath())
	if pattern == "" {
		return
	}
	if o := doc.Paths.Value(pattern).GetOperation(method); o != nil && o.Responses.Status(code) != nil {
		test := asker()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.row(method + " " + pattern)[test] = true
		for name := range u.Query() {
			w.row(method + " " + pattern + " " + name)[test] = true
		}
	}
}

// watch is a transport that looks at the answers. Safe for concurrent use.
type watch struct {
	way http.RoundTripper

	mu        sync.Mutex      // guards what follows
	documents map[string]*Doc // by base address
	wrong     []string
	held      int
	asked     map[string]map[string]bool // by endpoint and argument: the tests
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport.
func (w *watch) CloseIdleConnections() { (&http.Client{Transport: w.way}).CloseIdleConnections() }

// RoundTrip is for http.RoundTripper. An answer of the interface in JSON is read whole; the one who
// asked gets it as it came, packed or not.
func (w *watch) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := w.way.RoundTrip(r)
	if err != nil || !strings.HasPrefix(r.URL.Path, "/api/v3.0/") || r.URL.Path == pathDocument {
		return res, err
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), listed) {
		w.told(w.check(r.Method, r.URL, res, nil))
		return res, nil
	}
	body, err := io.ReadAll(res.Body)
	if err = errors.Join(err, res.Body.Close()); err != nil {
		res.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err}))
		return res, nil
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	if r.Method != http.MethodHead {
		body, err = unpacked(res.Header, body)
	}
	if err == nil {
		err = w.check(r.Method, r.URL, res, body)
	}
	w.told(err)
	return res, nil
}

// unpacked is a body without its Content-Encoding.
func unpacked(header http.Header, body []byte) ([]byte, error) {
	switch coding := header.Get("Content-Encoding"); coding {
	case "":
		return body, nil
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("unpack an answer: %w", err)
		}
		return io.ReadAll(r)
	default:
		return nil, fmt.Errorf("the answer has the Content-Encoding %q", coding)
	}
}

// told notes what is wrong with an answer, nil for nothing.
func (w *watch) told(err error) {
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wrong = append(w.wrong, asker()+": "+err.Error())
	}
}

// broken is the rest of a body that broke off.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// check holds an answer against the document of its server. Another server may have come to the
// same address since the document was read.
func (w *watch) check(method string, u *url.URL, res *http.Response, body []byte) error {
	base := u.Scheme + "://" + u.Host
	w.mu.Lock()
	doc := w.documents[base]
	w.held++
	w.mu.Unlock()
	if doc != nil && doc.check(method, u, res.StatusCode, res.Header, body) == nil {
		w.note(doc, method, u, res.StatusCode)
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	doc, err := fetch(ctx, w.way, base)
	if err != nil {
		return nil // it has gone meanwhile, which some tests are about
	}
	w.mu.Lock()
	w.documents[base] = doc
	w.mu.Unlock()
	err = doc.check(method, u, res.StatusCode, res.Header, body)
	if err == nil {
		w.note(doc, method, u, res.StatusCode)
	}
	return err
}

// asker is the test that sent the request, by the stack: the transport is called on its goroutine.
func asker() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		name := f.Function[strings.LastIndex(f.Function, "/")+1:]
		if _, test, ok := strings.Cut(name, ".Test"); ok {
			return "Test" + strings.SplitN(test, ".", 2)[0]
		}
		if !more {
			return os.Args[0]
		}
	}
}
