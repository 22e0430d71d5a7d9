package openapitest

import (
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
		w.WriteHeader(code)
		_, _ = io.WriteString(w, answer)
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
		code, answer, w.wrong = c.code, c.answer, nil
		res, err := (&http.Client{Transport: w}).Get(s.URL + "/api/v3.0/" + c.path)
		require.NoError(t, err)
		raw, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, c.answer, string(raw))
		told := strings.Join(w.wrong, "\n")
		if c.wrong == "" {
			require.Empty(t, told)
			continue
		}
		require.Contains(t, told, c.wrong)
		require.Contains(t, told, t.Name()+": GET ")
	}
	var table strings.Builder
	w.table(&table)
	require.Equal(t, "| GET | /api/v3.0/cameras | "+t.Name()+" |\n| GET | /api/v3.0/cameras | q | "+t.Name()+" |\n",
		table.String())
}
