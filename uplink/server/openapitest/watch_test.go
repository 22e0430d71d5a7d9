package openapitest

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const document = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/api/v3.0/cameras":{"get":{
	"parameters":[{"name":"q","in":"query","schema":{"type":"string"}}],"responses":{
	"200":{"description":"OK","content":{"application/json":{"schema":{"type":"object","required":["results"]}}}},
	"default":{"description":"wrong","content":{"application/json":{"schema":{"type":"object","required":["code"]}}}}}}}}}`

// Every answer that is not as the document has it is told, with the test that asked; whoever asked
// gets it as it came.
func TestAnswersAreHeldAgainstTheDocument(t *testing.T) {
	code, answer := 200, ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == pathDocument {
			_, _ = io.WriteString(w, document)
			return
		}
		if r.Header.Get("Accept-Encoding") != "gzip" { // as whoever names none, or "identity"
			w.WriteHeader(code)
			_, _ = io.WriteString(w, answer)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(code)
		packed := gzip.NewWriter(w)
		_, _ = io.WriteString(packed, answer)
		_ = packed.Close()
	}))
	defer s.Close()
	w := &watch{way: http.DefaultTransport, documents: map[string]*Doc{}, asked: map[string]map[string]bool{}}
	for _, c := range []struct {
		path   string
		code   int
		answer string
		wrong  string
	}{
		{"cameras?q=x", 200, `{"results":[]}`, ""},
		{"cameras", 404, `{"code":404}`, ""},
		{"another", 200, `[]`, ""},
		{"cameras", 200, `{}`, `property "results" is missing`},
		{"cameras", 200, `{"results":`, "unexpected EOF"},
		{"cameras", 500, `{"message":"x"}`, `property "code" is missing`},
		{"cameras", 201, `{"results":[]}`, "a code that the document does not have"},
		{"cameras?zebra=1", 200, `{"results":[]}`, "the document does not have the argument zebra"},
	} {
		for _, coding := range []string{"identity", "gzip"} {
			code, answer, w.wrong = c.code, c.answer, nil
			r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/api/v3.0/"+c.path, nil)
			require.NoError(t, err)
			r.Header.Set("Accept-Encoding", coding)
			res, err := (&http.Client{Transport: w}).Do(r)
			require.NoError(t, err)
			var body io.Reader = res.Body
			if coding == "gzip" {
				body, err = gzip.NewReader(res.Body)
				require.NoError(t, err, "it comes as it was sent")
			}
			raw, err := io.ReadAll(body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, c.answer, string(raw))
			told := strings.Join(w.wrong, "\n")
			if c.wrong == "" {
				require.Empty(t, told)
				continue
			}
			require.Contains(t, told, c.wrong, coding)
			require.Contains(t, told, t.Name()+": GET ")
		}
	}
	var table strings.Builder
	w.table(&table)
	require.Equal(t, "| GET | /api/v3.0/cameras | "+t.Name()+" |\n| GET | /api/v3.0/cameras | q | "+t.Name()+" |\n",
		table.String())
}
