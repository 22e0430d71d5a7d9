package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func request(method, target, contentType, body string, cookies ...string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for _, c := range cookies {
		r.Header.Add("Cookie", c)
	}
	return r
}

func read(t *testing.T, r *http.Request) *Params {
	t.Helper()
	s, err := Read(httptest.NewRecorder(), r)
	require.NoError(t, err)
	return s
}

func multipartBody(t *testing.T, fields ...string) (contentType, body string) {
	t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		require.NoError(t, m.WriteField(fields[i], fields[i+1]))
	}
	require.NoError(t, m.Close())
	return m.FormDataContentType(), b.String()
}

func TestOneMeaningInEveryEncoding(t *testing.T) {
	multi, multiBody := multipartBody(t, "email", "a+b@x.org", "is_a", "1", "n", "5", "list", "x", "list", "y",
		"deep", `[["M","c","RW"]]`, "obj", `{"k":[1]}`)
	form := `email=a%2Bb%40x.org&is_a=1&n=5&list=x&list=y&deep=%5B%5B%22M%22%2C%22c%22%2C%22RW%22%5D%5D&obj=%7B%22k%22%3A%5B1%5D%7D`
	object := `{"email":"a+b@x.org","is_a":1,"n":5,"list":["x","y"],"deep":[["M","c","RW"]],"obj":{"k":[1]}}`
	for name, r := range map[string]*http.Request{
		"json":             request("POST", "/", "application/json; charset=utf-8", object),
		"form":             request("POST", "/", "application/x-www-form-urlencoded", form),
		"multipart":        request("POST", "/", multi, multiBody),
		"nothing, json":    request("POST", "/", "", "\r\n "+object),
		"nothing, form":    request("POST", "/", "", form),
		"form, json":       request("POST", "/", "application/x-www-form-urlencoded", object),
		"text, json":       request("PUT", "/", "text/plain", object),
		"unreadable, json": request("PUT", "/", ";;;", object),
		"query":            request("GET", "/?"+form, "", ""),
	} {
		t.Run(name, func(t *testing.T) {
			s := read(t, r)
			email, err := s.Text("email")
			require.NoError(t, err)
			require.Equal(t, "a+b@x.org", email)
			for field, want := range map[string]struct {
				kind Kind
				json string
			}{"is_a": {Flag, "1"}, "n": {Int, "5"}, "list": {Texts, `["x","y"]`}, "deep": {Lists, `[["M","c","RW"]]`},
				"obj": {Object, `{"k":[1]}`}} {
				raw, err := s.JSON(field, want.kind)
				require.NoError(t, err, field)
				require.JSONEq(t, want.json, string(raw), field)
			}
			require.Equal(t, []string{"deep", "email", "is_a", "list", "n", "obj"}, s.Names())
			require.NoError(t, s.Expect(s.Names()...))
			require.NoError(t, s.Need("email", "n"))
		})
	}
}

func TestChunkedBody(t *testing.T) {
	r := request("POST", "/", "application/json", "")
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"a":"1"}`)), -1
	require.True(t, read(t, r).Has("a"))
}

func TestSessionOrder(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	multi, multiBody := multipartBody(t, "A", "multi")
	for name, c := range map[string]struct {
		r      *http.Request
		want   string
		source Source
	}{
		"none": {request("GET", "/", "", ""), "", FromNowhere},
		"query first": {request("POST", "/?A=query", form, "A=form", "auth_key=cookie"), "query",
			FromQuery},
		"query before body": {request("POST", "/?A=query", "application/json", `{"A":"body"}`,
			"auth_key=cookie"), "query", FromQuery},
		"form before cookie":      {request("POST", "/", form, "A=form", "auth_key=cookie"), "form", FromForm},
		"multipart before cookie": {request("POST", "/", multi, multiBody, "auth_key=cookie"), "multi", FromForm},
		"body before cookie": {request("POST", "/", "application/json", `{"A":"body"}`, "auth_key=cookie"),
			"body", FromBody},
		"cookie":        {request("GET", "/", "", "", "auth_key=c000~cookie"), "c000~cookie", FromCookie},
		"second cookie": {request("GET", "/", "", "", "videobank_sessionid=old"), "old", FromCookie},
		"both cookies": {request("GET", "/", "", "", "videobank_sessionid=old; auth_key=new"), "new",
			FromCookie},
		"pasted Set-Cookie line": {request("GET", "/", "", "",
			"auth_key=\"bad,x; Path=/; videobank_sessionid=old; Path=/"), "old", FromCookie},
		"empty is not sent": {request("POST", "/?A=", form, "A=", "auth_key=cookie"), "cookie", FromCookie},
	} {
		t.Run(name, func(t *testing.T) {
			s := read(t, c.r)
			id, source := s.Session()
			require.Equal(t, c.want, id)
			require.Equal(t, c.source, source)
			require.False(t, s.Has("A"), "the session is no argument")
		})
	}
	require.Equal(t, "dev", read(t, request("GET", "/?A=x", "", "", "tfa_key=dev")).Device())
}

func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		r    *http.Request
		code int
	}{
		"half JSON":   {request("POST", "/", "application/json", `{"a":`), 400},
		"two objects": {request("POST", "/", "application/json", `{}{}`), 400},
		"array":       {request("POST", "/", "application/json", `[1]`), 400},
		"name twice":  {request("POST", "/", "application/json", `{"a":1,"a":2}`), 400},
		"bad form":    {request("POST", "/", "application/x-www-form-urlencoded", "a=%zz"), 400},
		"bad query":   {request("GET", "/?a=%zz", "", ""), 400},
		"no boundary": {request("POST", "/", "multipart/form-data", "x"), 400},
		"torn multipart": {request("POST", "/", "multipart/form-data; boundary=b",
			"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx"), 400},
		"too large": {request("POST", "/", "application/json", `{"a":"`+strings.Repeat("x", MaxBytes)+`"}`),
			413},
		"too many":           {request("GET", "/?a=1"+manyNames(), "", ""), 400},
		"session of objects": {request("POST", "/", "application/json", `{"A":{}}`), 400},
		"session twice":      {request("GET", "/?A=1&A=2", "", ""), 400},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(httptest.NewRecorder(), c.r)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.code, e.Code)
		})
	}
}

func manyNames() string {
	var b strings.Builder
	for i := range maxNames + 1 {
		b.WriteString("&n" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26) + "=1")
	}
	return b.String()
}

// A packed body is refused with what to do, whatever it is packed with: taken for a form, it would
// be said to lack the arguments that are in it.
func TestPackedBodies(t *testing.T) {
	const object = `{"a":"b"}`
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := io.WriteString(w, object)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	for coding, body := range map[string]string{"gzip": packed.String(), "br": "x=y", "identity, gzip": "x=y"} {
		r := request("POST", "/", "application/json", body)
		r.Header.Set("Content-Encoding", coding)
		_, err := Read(httptest.NewRecorder(), r)
		var refused *Error
		require.ErrorAs(t, err, &refused, coding)
		require.Equal(t, CodeArguments, refused.Code)
		require.Contains(t, refused.Message, "without Content-Encoding")
	}
	for _, coding := range []string{"", "identity", " Identity "} {
		r := request("POST", "/", "application/json", object)
		r.Header.Set("Content-Encoding", coding)
		require.True(t, read(t, r).Has("a"), "%q", coding)
	}
	r := request("GET", "/?a=b", "", "")
	r.Header.Set("Content-Encoding", "gzip")
	require.True(t, read(t, r).Has("a"), "nothing is packed where there is no body")
}

func TestConversions(t *testing.T) {
	js := func(s string) Value { return Value{raw: json.RawMessage(s)} }
	tx := func(s ...string) Value { return Value{texts: s} }
	for name, c := range map[string]struct {
		v    Value
		k    Kind
		want string // "" means refused
	}{
		"number as text": {js(`1234`), Text, `"1234"`}, "null text": {js(`null`), Text, `""`},
		"text of array": {js(`[]`), Text, ""}, "text twice": {tx("a", "b"), Text, ""},
		"true flag": {js(`true`), Flag, "1"}, "text flag": {js(`"0"`), Flag, "0"}, "flag of 2": {js(`2`), Flag, ""},
		"flag of text": {tx("yes"), Flag, ""}, "flag of Python": {tx("True"), Flag, "1"},
		"no of Python": {tx("False"), Bool, "false"}, "shouted": {tx("TRUE"), Flag, ""},
		"empty flag": {tx(""), Flag, "0"},
		"bool of 1":  {tx("1"), Bool, "true"}, "bool of object": {js(`{}`), Bool, ""},
		"flag of 1.0": {js(`1.0`), Flag, ""},
		"int of text": {js(`" 7 "`), Int, "7"}, "int of float": {js(`1.5`), Int, ""},
		"int too large": {js(`9999999999`), Int, ""}, "int of null": {js(`null`), Int, "0"},
		"int of bool":  {js(`true`), Int, ""},
		"texts of one": {tx("a"), Texts, `["a"]`}, "texts of JSON": {tx(`["a",2]`), Texts, `["a","2"]`},
		"texts of nothing": {tx(""), Texts, `[]`}, "texts of string": {js(`"a"`), Texts, `["a"]`},
		"texts of lists": {js(`[["a"]]`), Texts, ""}, "texts of object": {js(`{}`), Texts, ""},
		"texts of null":  {js(`null`), Texts, `[]`},
		"lists of texts": {js(`["a"]`), Lists, ""}, "lists of text": {tx("a"), Lists, ""},
		"lists twice": {tx("[]", "[]"), Lists, ""}, "lists of null": {tx(""), Lists, `[]`},
		"lists of lists of lists": {js(`[[["a"]]]`), Lists, ""},
		"object of array":         {js(`[]`), Object, ""}, "object of null": {js(`null`), Object, `{}`},
		"any": {js(`[1,{"a":null}]`), Any, `[1,{"a":null}]`}, "any of text": {tx(`nope`), Any, ""},
		"any of two": {tx(`1 2`), Any, ""}, "texts that begin like JSON": {tx(`[a]`), Texts, `["[a]"]`},
		"large number stays": {js(`{"n":12345678901234567890}`), Any, `{"n":12345678901234567890}`},
		"not UTF-8":          {tx("\xff"), Text, ""}, "unknown kind": {js(`1`), Kind(99), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.v.As(c.k)
			if c.want == "" {
				require.Error(t, err, "%s", got)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
}

func TestNeedAndExpect(t *testing.T) {
	s := read(t, request("GET", "/?a=&b=1", "", ""))
	require.ErrorContains(t, s.Need("a", "b", "c"), "a, c")
	require.NoError(t, s.Need("b"))
	require.ErrorContains(t, s.Expect("b"), `"a"`)
	_, err := read(t, request("GET", "/?a=1&a=2", "", "")).Text("a")
	require.ErrorContains(t, err, "a: is given more than once")
}

func TestKey(t *testing.T) {
	for name, c := range map[string][3]string{
		"documented": {"key1", "", "key1"}, "with colon": {"key1:", "", "key1"},
		"in Authorization": {"", "key1:", "key1"},
		"basic":            {"", "Basic eDp5", ""}, "bearer": {"", "Bearer x", ""}, "none": {"", "", ""},
		"both": {"key1", "key2", "key1"},
	} {
		r := request("GET", "/", "", "")
		r.Header.Set("Authentication", c[0])
		r.Header.Set("Authorization", c[1])
		require.Equal(t, c[2], APIKey(r), name)
	}
}

// Whatever comes, Read ends with a set or a 400, and every value converts or says why not.
func FuzzRead(f *testing.F) {
	f.Add("application/json", []byte(`{"a":[["x"]],"A":"s"}`), "b=1")
	f.Add("multipart/form-data; boundary=b", []byte(
		"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b--\r\n"), "")
	f.Add("application/x-www-form-urlencoded", []byte("a=1&a=2&c=%7B%7D"), "A=q")
	f.Add("", []byte(" {\"a\":null}"), "%")
	f.Fuzz(func(t *testing.T, contentType string, body []byte, query string) {
		r := httptest.NewRequest("POST", "/", bytes.NewReader(body))
		r.Header["Content-Type"], r.URL.RawQuery = []string{contentType}, query
		s, err := Read(httptest.NewRecorder(), r)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || (e.Code != 400 && e.Code != 413) {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, name := range s.Names() {
			for k := Text; k <= Any; k++ {
				if raw, err := s.JSON(name, k); err == nil && !json.Valid(raw) {
					t.Fatalf("%q as %d: %q", name, k, raw)
				}
			}
		}
	})
}

func TestDepthIsBounded(t *testing.T) {
	nest := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	for text, want := range map[string]bool{nest(maxDepth): false, nest(maxDepth + 1): true, nest(9999): true,
		`{"a":` + nest(maxDepth) + `}`: true, `["` + strings.Repeat("[", 200) + `"]`: false, `["\"` +
			strings.Repeat("[", 200) + `\\"]`: false,
		`["\\",` + nest(maxDepth) + `]`: true, strings.Repeat(`[],`, 10) + `0`: false} {
		require.Equal(t, want, deep([]byte(text)), "%.80s", text)
	}
	for _, v := range []Value{{raw: []byte(nest(9999))}, {texts: []string{nest(9999)}}} {
		for _, k := range []Kind{Any, Lists, Object, Texts} {
			_, err := v.As(k)
			require.ErrorContains(t, err, "nested")
		}
	}
}
