package client

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/uplink/vms"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "s3cret-token"

var start = time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)

func event() vms.Event {
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(start), Span: true, AccountID: "acc-1",
		ActorID:        "cam-1",
		ActorAccountID: "acc-1", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
	ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "b", Vendor: "v"}))
	ev.ID = ev.NaturalID()
	return ev
}

func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Token == nil {
		o.Token = Token(secret)
	}
	c, err := New(o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// answering is a service that always answers the same.
func answering(t *testing.T, code int, header, body string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for h := range strings.SplitSeq(header, "\n") {
			if name, value, ok := strings.Cut(h, ": "); ok {
				w.Header().Set(name, value)
			}
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

func stored(edit func(*vms.Event)) string {
	ev := event()
	if edit != nil {
		edit(&ev)
	}
	raw, err := json.Marshal(ev)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestReportVerdicts(t *testing.T) {
	const json, html = "Content-Type: application/json", "Content-Type: text/html; charset=utf-8"
	const page = "<html><body>Welcome to the hotel. <a href=/login>Log in</a></body></html>"
	refusal := func(code int, reason string) string {
		return fmt.Sprintf(`{"code":%d,"status":"x","message":"because","details":[{"type":"errorInfo","reason":%q,"domain":"apiv3"}]}`, code, reason)
	}
	for name, c := range map[string]struct {
		code         int
		header, body string
		want         string // accepted, refused, unauthorized, forbidden, transient, own
		retry        time.Duration
		words        string
	}{
		"201 with the event": {201, json, stored(nil), "accepted", 0, ""},
		"200 with the event": {200, json, stored(nil), "accepted", 0, ""},
		"an id of another form": {201, json, stored(func(e *vms.Event) { e.ID = "3f2b7a" }), "accepted", 0,
			""},
		"the public spelling": {201, json, strings.ReplaceAll(stored(nil), `"vms.`, `"een.`), "accepted", 0, ""},
		"another offset":      {201, json, strings.ReplaceAll(stored(nil), `"2026-11-21T07:00:00.000+00:00"`, `"2026-11-21T08:00:00+01:00"`), "accepted", 0, ""},
		"no content type":     {201, "", stored(nil), "accepted", 0, ""},
		"another event": {201, json, stored(func(e *vms.Event) { e.ActorID = "cam-2" }), "own", 0,
			"another event"},
		"another start": {201, json,
			stored(func(e *vms.Event) { e.StartTimestamp = vms.At(start.Add(1e6)) }), "own", 0, "another event"},
		"captive portal":              {200, html, page, "transient", 0, "portal"},
		"captive portal, 201":         {201, html, page, "transient", 0, "not the service's"},
		"nothing, 204":                {204, "", "", "accepted", 0, ""},
		"nothing, 202":                {202, "", "", "accepted", 0, ""},
		"nothing, 201":                {201, json, " \n", "accepted", 0, ""},
		"nothing, 200":                {200, json, "", "transient", 0, "not the service's"},
		"a word, 201":                 {201, "Content-Type: text/plain", "Created", "accepted", 0, ""},
		"a word, 200":                 {200, "Content-Type: text/plain", "OK", "transient", 0, "not the service's"},
		"a page that says it is text": {201, "Content-Type: text/plain", page, "transient", 0, "not the service's"},
		"broken JSON that says so":    {201, "Content-Type: text/plain", `{"id":`, "transient", 0, "not the service's"},
		"other JSON":                  {200, json, `{"status":"ok"}`, "accepted", 0, ""},
		"a byte order mark":           {201, json, "\xef\xbb\xbf" + stored(nil), "accepted", 0, ""},
		"400 behind a byte order mark": {400, json, "\xef\xbb\xbf" + refusal(400, vms.ReasonValue), "refused", 0,
			"because"},
		"a list":                          {201, json, `[{"id":"7"}]`, "accepted", 0, ""},
		"an id alone":                     {200, json, ` { "id" : 17 } `, "accepted", 0, ""},
		"another kind of type":            {202, json, `{"type":"accepted"}`, "accepted", 0, ""},
		"fields of other kinds":           {201, json, `{"startTimestamp":1763708400000,"span":"true","type":"vms.motionDetectionEvent.v1","actorId":null,"data":[{}],"dataSchemas":null}`, "accepted", 0, ""},
		"some fields, another actor":      {201, json, `{"actorId":"cam-2"}`, "own", 0, "another event"},
		"200 with an error":               {200, json, `{"error":{"message":"sign in first"}}`, "own", 0, "sign in first"},
		"200 with no success":             {200, json, `{"success":false,"message":"full"}`, "own", 0, "full"},
		"200 with a code":                 {200, json, `{"code":503,"message":"busy"}`, "own", 0, "busy"},
		"201 without an error":            {201, json, `{"error":null,"errors":[],"success":true,"code":0}`, "accepted", 0, ""},
		"half an answer":                  {201, json, stored(nil)[:100], "transient", 0, "not the service's"},
		"400":                             {400, json, refusal(400, vms.ReasonValue), "refused", 0, "because"},
		"400 without details":             {400, json, `{"error":"bad"}`, "refused", 0, "bad"},
		"400, details of another form":    {400, json, `{"message":"because","code":"E1","details":{"field":"span"}}`, "refused", 0, "because"},
		"400, words in a list":            {400, json, `{"errors":[{"field":"span","message":"wrong"}]}`, "refused", 0, "wrong"},
		"400, an error that is an object": {400, json, `{"error":{"code":400,"status":"INVALID","message":"because"}}`, "refused", 0, "because"},
		"422 of another make":             {422, json, `{"detail":[{"loc":["body","span"],"msg":"field required"}]}`, "refused", 0, "field required"},
		"409 as a problem (RFC 9457)":     {409, "Content-Type: application/problem+json", `{"type":"about:blank","title":"Conflict","status":409}`, "refused", 0, "Conflict"},
		"407 of a proxy":                  {407, html, page, "transient", 0, "the proxy wants a user"},
		"400 of a proxy":                  {400, html, page, "transient", 0, "400 with text/html"},
		"400 of a TLS port": {400, "Content-Type: text/plain",
			"Client sent an HTTP request to an HTTPS server.\n", "transient", 0, "service.url"},
		"401":                {401, json, refusal(401, "unauthenticated"), "unauthorized", 0, "because"},
		"401 of whomever":    {401, html, page, "unauthorized", 0, "token"},
		"403":                {403, json, refusal(403, "invalidPermission"), "forbidden", 0, "because"},
		"403 of a firewall":  {403, html, page, "transient", 0, ""},
		"404 unknown camera": {404, json, refusal(404, vms.ReasonResource), "refused", 0, "because"},
		"404 of a proxy":     {404, html, page, "transient", 0, ""},
		"405":                {405, json, refusal(405, vms.ReasonMethod), "refused", 0, ""},
		"409":                {409, json, refusal(409, vms.ReasonExists), "refused", 0, ""},
		"413 of a proxy":     {413, html, page, "refused", 0, "too large"},
		"415":                {415, json, refusal(415, "contentNotSupported"), "refused", 0, ""},
		"422":                {422, json, refusal(422, ""), "refused", 0, ""},
		"408":                {408, json, refusal(408, ""), "own", 0, ""},
		"429": {429, json + "\nRetry-After: 7", refusal(429, "tooManyRequests"), "own",
			7 * time.Second, ""},
		"429 for a week": {429, json + "\nRetry-After: 604800", refusal(429, ""), "own",
			15 * time.Minute, ""},
		"429, a number beyond all": {429, json + "\nRetry-After: 9223372036854775807", refusal(429, ""), "own",
			15 * time.Minute, ""},
		"429 with nonsense": {429, json + "\nRetry-After: soon", refusal(429, ""), "own", 0, ""},
		"500":               {500, json, refusal(500, "unexpectedError"), "own", 0, "because"},
		"502 of a proxy":    {502, html, page, "transient", 0, ""},
		"503 until a date in the past": {503, json + "\nRetry-After: Wed, 21 Oct 2015 07:28:00 GMT",
			refusal(503, ""), "own", 0, ""},
		"503 of a proxy that says when": {503, html + "\nRetry-After: 30", page, "transient", 30 * time.Second, ""},
		"redirect": {302, "Location: https://evil.example/steal?x=y", "", "transient", 0,
			"https://evil.example"},
		"redirect that keeps the method": {307, "Location: //evil.example/", "", "transient", 0, "redirect"},
		"redirect to nowhere":            {308, "", "", "transient", 0, "redirect"},
		"control characters in words":    {400, json, `{"code":400,"message":"a\u001b[31mb\nc"}`, "refused", 0, "a [31mb c"},
	} {
		t.Run(name, func(t *testing.T) {
			var logged bytes.Buffer
			s := answering(t, c.code, c.header, c.body)
			cl := newClient(t, Options{BaseURL: s.URL, Log: slog.New(slog.NewTextHandler(&logged, nil))})
			err := cl.Report(t.Context(), event())
			var refused *vms.RefusedError
			var unauthorized *vms.UnauthorizedError
			var forbidden *vms.ForbiddenError
			var transient *vms.TransientError
			got := "accepted"
			switch {
			case errors.As(err, &refused):
				got = "refused"
				require.Equal(t, c.code, refused.Code)
			case errors.As(err, &unauthorized):
				got = "unauthorized"
			case errors.As(err, &forbidden):
				got = "forbidden"
			case errors.As(err, &transient):
				got = "transient"
				if transient.Own {
					got = "own"
				}
				require.Equal(t, c.retry, transient.RetryAfter)
			case err != nil:
				got = "unknown"
			}
			require.Equal(t, c.want, got, "%v", err)
			if err != nil {
				require.Contains(t, err.Error(), c.words)
				require.NotContains(t, err.Error(), secret)
				require.NotContains(t, err.Error(), "hotel", "a foreign page has no place in our messages")
				require.Less(t, len(err.Error()), 1000)
			}
			require.NotContains(t, logged.String(), secret)
		})
	}
}

func TestRequestIsAsDocumented(t *testing.T) {
	var got *http.Request
	var body map[string]json.RawMessage
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		w.WriteHeader(201)
		_, _ = io.WriteString(w, stored(nil))
	}))
	defer s.Close()
	c := newClient(t, Options{BaseURL: s.URL + "/prefix/", Token: Token(" " + secret + "\n"), UserAgent: "vmsbridge/1"})
	require.NoError(t, c.Report(t.Context(), event()))
	require.Equal(t, "/prefix/api/v3.0/events", got.URL.Path)
	require.Equal(t, "Bearer "+secret, got.Header.Get("Authorization"))
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	require.Equal(t, "vmsbridge/1", got.Header.Get("User-Agent"))
	require.Len(t, body, 11, "the eleven properties and no id")
	require.NotContains(t, body, "id")
	require.Equal(t, "null", string(body["endTimestamp"]))
}

// No redirect carries the token away, whatever the host.
func TestRedirectsAreNotFollowed(t *testing.T) {
	var asked atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, stored(nil))
	}))
	defer thief.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		s := answering(t, code, "Location: "+thief.URL, "")
		own := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return nil }} // not even then
		for _, o := range []Options{{BaseURL: s.URL}, {BaseURL: s.URL, HTTP: own}} {
			c := newClient(t, o)
			require.Error(t, c.Report(t.Context(), event()))
			_, err := c.Events(t.Context(), vms.Query{}, "")
			require.ErrorContains(t, err, "redirect")
		}
		own.CloseIdleConnections()
	}
	require.Zero(t, asked.Load())
}

// After a 401 the token is read again, and used at once if it has changed.
func TestTokenIsReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	good := "old"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+good {
			w.WriteHeader(401)
			return
		}
		w.WriteHeader(201)
		_, _ = io.WriteString(w, stored(nil))
	}))
	defer s.Close()
	reads := 0
	read := TokenFile(file)
	c := newClient(t, Options{BaseURL: s.URL, Token: func() (string, error) { reads++; return read() }})

	var unauthorized *vms.UnauthorizedError
	require.ErrorAs(t, c.Report(t.Context(), event()), &unauthorized, "no file yet")
	require.NoError(t, os.WriteFile(file, []byte("old\n"), 0o600))
	require.NoError(t, c.Report(t.Context(), event()))
	require.NoError(t, c.Report(t.Context(), event()))
	require.Equal(t, 2, reads, "it is not read for every request")

	good = "new"
	require.ErrorAs(t, c.Report(t.Context(), event()), &unauthorized, "the file still holds the old one")
	require.NoError(t, os.WriteFile(file, []byte("new\n"), 0o600))
	require.NoError(t, c.Report(t.Context(), event()), "the same request goes through")

	for _, bad := range []string{"", "  \n", "two words", "a\nb", "tab\t.", "ünicode"} {
		require.NoError(t, os.WriteFile(file, []byte(bad), 0o600))
		good = "newer"
		err := c.Report(t.Context(), event())
		require.ErrorAs(t, err, &unauthorized, "%q", bad)
		if len(bad) > 3 {
			require.NotContains(t, err.Error(), strings.TrimSpace(bad), "what is in the file stays unsaid")
		}
		require.NoError(t, os.WriteFile(file, []byte("newer"), 0o600))
		require.NoError(t, c.Report(t.Context(), event()))
		good = "new"
		require.NoError(t, os.WriteFile(file, []byte("new"), 0o600))
		require.NoError(t, c.Report(t.Context(), event()))
	}
}

// wire is a server below HTTP: handle has the raw connection after the request was read.
func wire(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 64<<10)
			_, _ = conn.Read(buf)
			handle(conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return "http://" + l.Addr().String()
}

func TestBrokenConnections(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := "http://" + closed.Addr().String()
	require.NoError(t, closed.Close())
	plain := answering(t, 200, "", "x")
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	dns := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn,
		error) {
		return nil, &net.DNSError{Err: "no such host", Name: "vms.example", IsNotFound: true}
	}}}
	block := make(chan struct{})
	cases := map[string]struct {
		o     Options
		words string
	}{
		"refused":      {Options{BaseURL: nobody}, "connection refused"},
		"no such host": {Options{BaseURL: "http://vms.example", HTTP: dns}, "DNS server"},
		"reset": {Options{BaseURL: wire(t, func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) })},
			"call the service"},
		"closed": {Options{BaseURL: wire(t, func(net.Conn) {})}, "call the service"},
		"garbage": {Options{BaseURL: wire(t,
			func(c net.Conn) { _, _ = c.Write([]byte("SSH-2.0-OpenSSH_9.2\r\n")) })}, "call the service"},
		"body cut short": {Options{BaseURL: wire(t,
			func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 201 Created\r\nContent-Length: 900\r\n\r\n{\"a\":")) })},
			"call the service"},
		"silence": {Options{BaseURL: wire(t, func(net.Conn) { <-block }), Timeout: 50 * time.Millisecond},
			"no answer in time"},
		"slow body": {Options{BaseURL: wire(t, func(c net.Conn) {
			_, _ = c.Write([]byte("HTTP/1.1 201 Created\r\nContent-Length: 900\r\n\r\n{"))
			<-block
		}), Timeout: 50 * time.Millisecond}, "no answer in time"},
		"endless header": {Options{BaseURL: wire(t, func(c net.Conn) {
			for i := 0; i < 3000 && c != nil; i++ {
				if _, err := c.Write([]byte("HTTP/1.1 201 Created\r\nX: " + strings.Repeat("a", 1000))); err != nil {
					return
				}
			}
		})}, "call the service"},
		"https asked, plain": {Options{BaseURL: strings.Replace(plain.URL, "http:", "https:", 1)}, "plain http"},
		"unknown authority":  {Options{BaseURL: secure.URL}, "service.ca_file"},
		"plain asked, https": {Options{BaseURL: strings.Replace(secure.URL, "https:", "http:", 1)}, "the service"},
	}
	t.Cleanup(func() { close(block) })
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cl := newClient(t, c.o)
			err := cl.Report(t.Context(), event())
			var transient *vms.TransientError
			require.ErrorAs(t, err, &transient)
			require.False(t, transient.Own)
			require.ErrorContains(t, err, c.words)
			require.NotContains(t, err.Error(), secret)
		})
	}
	dns.CloseIdleConnections()
}

func TestLargeAnswers(t *testing.T) {
	client := func(bytes int) *Client {
		s := answering(t, 201, "Content-Type: application/json", `{"x":"`+strings.Repeat("a", bytes)+`"}`)
		return newClient(t, Options{BaseURL: s.URL})
	}
	var transient *vms.TransientError
	_, listed := client(maxAnswerBytes).User(t.Context())
	for _, err := range []error{client(maxReplyBytes).Report(t.Context(), event()), listed} {
		require.ErrorAs(t, err, &transient)
		require.ErrorContains(t, err, "larger than")
	}
}

func TestCAFile(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(201)
		_, _ = io.WriteString(w, stored(nil))
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t,
		os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	require.NoError(t, newClient(t, Options{BaseURL: s.URL, CAFile: file}).Report(t.Context(), event()))

	_, err := New(Options{BaseURL: s.URL, Token: Token("x"), CAFile: file + "x"})
	require.Error(t, err)
	require.NoError(t, os.WriteFile(file, []byte("no PEM"), 0o600))
	_, err = New(Options{BaseURL: s.URL, Token: Token("x"), CAFile: file})
	require.ErrorContains(t, err, "no certificate")
}

func TestNewRefuses(t *testing.T) {
	for _, base := range []string{"", "vms.example", "ftp://vms.example", "http://", "http://user:pa55word@vms.example",
		"http://vms.example?x=1", "http://h/#x", "://"} {
		_, err := New(Options{BaseURL: base, Token: Token("x")})
		require.Error(t, err, base)
		require.NotContains(t, err.Error(), "pa55word")
	}
	_, err := New(Options{BaseURL: "http://h"})
	require.Error(t, err)
}

func TestCancel(t *testing.T) {
	block := make(chan struct{})
	base := wire(t, func(net.Conn) { <-block })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	err := newClient(t, Options{BaseURL: base}).Report(ctx, event())
	require.ErrorIs(t, err, context.Canceled)
	close(block)
}
