package fuzz

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	methods = []string{"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "CONNECT", "X"}
	paths   = []string{"/api/v3.0/events", "/api/v3.0/events/x", "/api/v3.0/events:listFieldValues",
		"/api/v3.0/events:listRecentByType",
		"/api/v3.0/eventTypes", "/api/v3.0/media/recordedImage.jpeg",
		"/api/v3.0/media/recordedImage.jpeg:listFieldValues",
		"/api/v3.0/clientSettings", "/api/v3.0/cameras", "/api/v3.0/cameras/gate", "/api/v3.0/users/self",
		"/api/v3.0/bridges:register",
		"/api/v3.0/events:report", "/api/v3.0/eventSubscriptions", "/api/v3.0/eventSubscriptions/x/filters",
		"/api/v3.0/bridges:tunnel", "/api/v3.0/bridges:leave", "/api/v3.0/bridges", "/api/v3.0/bridges/bridge-1",
		"/api/v3.0/cameras/gate/settings", "/api/v3.0/eventMetrics", "/api/v3.0/media",
		"/api/v3.0/media/liveImage.jpeg", "/api/v3.0/media/session", "/api/v3.0/feeds", "/api/v3.0/tags",
		"/api/v3.0/languages", "/api/v3.0/users",
		"/api/v3.0/users/self/trustedClients", "/api/v3.0/accounts", "/api/v3.0/layouts", "/snapshot/gate.jpg",
		"/web/status", "/web/changes", "/web/begin", "/web/cameras", "/web/arm", "/web/schedule", "/web/support",
		"/web/cameras/gate/motion", "/web/cameras/gate/motion:try", "/.well-known/openid-configuration",
		"/g/aaa/authenticate", "/g/aaa/two_factor_authenticate", "/g/aaa/authorize",
		"/g/aaa/two_factor_authenticate/update",
		"/g/aaa/two_factor_authenticate/verify", "/g/aaa/create_account", "/g/aaa/validate_account",
		"/g/aaa/forgot_password",
		"/g/aaa/check_pw_reset_token", "/g/aaa/reset_password", "/g/aaa/resend_registration_email",
		"/g/aaa/resend_user_verification_email",
		"/g/aaa/change_password", "/g/aaa/switch_account", "/g/sso", "/g/aaa/isauth", "/g/account", "/g/account/list",
		"/g/account/statistics/users", "/g/user", "/g/user/list", "/g/device", "/g/device/list", "/g/audit/list",
		"/oauth2/authorize", "/oauth2/token", "/oauth2/revoke", "/healthz", "/readyz", "/metrics", "/", "/x",
		"/api/v3.0/../../healthz", "//"}
	names = []string{"actor", "type__in", "startTimestamp__gte", "endTimestamp__lte", "startTimestamp__lte", "sort",
		"pageSize", "pageToken",
		"include", "deviceId", "type", "timestamp__lt", "timestamp__gte", "id", "name", "username", "password", "email",
		"token", "code", "realm",
		"account_id", "tfa_key", "A", "grant_type", "client_id", "client_secret", "redirect_uri", "scope", "state",
		"response_type", "code_challenge",
		"startTimestamp", "endTimestamp", "actorId", "actorType", "accountId", "actorAccountId", "creatorId",
		"dataSchemas", "data", "span",
		"cameras", "events", "filters", "deliveryConfig", "camera_access", "permissions", "first_name", "is_active",
		"bridgeId", "imageToken"}
	known = []string{"gate", "bridge-1", "camera:gate", "preview", "main", "vms.motionDetectionEvent.v1",
		"2026-11-01T00:00:00.000+00:00",
		"2030-11-01T00:00:00.000+00:00", "admin@localhost", "password", "fuzz@example.org", "authorization_code",
		"refresh_token", "cookie", "vms.all", "+startTimestamp",
		secret, "1", "100", "true", "data.vms.creatorDetails.v1", "vms.creatorDetails.v1"}
	headers = []string{"X-Api-Key", "Origin", "Cookie", "Content-Type", "Accept-Encoding", "Range", "If-None-Match",
		"Last-Event-ID", "Host",
		"X-Forwarded-For", "Transfer-Encoding", "Content-Length", "Expect", "Upgrade", "Connection", "Accept-Language",
		"Sec-WebSocket-Key"}
)

// fitting are the arguments that addresses know, by what the addresses have in them. Others get
// any.
var fitting = []struct{ part, arguments string }{
	{"/events", "actor type__in startTimestamp startTimestamp__gte startTimestamp__lte endTimestamp__gte " +
		"endTimestamp__lte include sort pageSize pageToken"},
	{"/media/", "deviceId type mediaType timestamp timestamp__lt timestamp__lte timestamp__gt timestamp__gte " +
		"startTimestamp__gte endTimestamp__lte pageSize pageToken include"},
	{"/cameras", "include pageSize pageToken id"},
	{"/g/aaa/", "username password realm email token code two_factor_authentication_code id account_id new_password " +
		"current_password"},
	{"/g/user", "id A email first_name last_name permissions camera_access is_active"},
	{"/oauth2/", "grant_type client_id client_secret redirect_uri scope state response_type code code_challenge " +
		"code_challenge_method refresh_token username password token"},
}

// times are those that a server may not expect.
var times = []string{"2026-01-01T00:00:00.000+00:00", "2026-01-01T00:00:00.000 00:00", "2026-01-01T00:00:00Z",
	"0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999+23:59", "1969-12-31T00:00:00 00:00",
	"2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "2026-01-01", "now", "0", "-1", "",
	"2026-01-01T00:00:00.000+99:99", "10000-01-01T00:00:00Z", "2026-01-01T00:00:00." + strings.Repeat("9", 300) +
		"Z"}

// busy are the addresses that have most to read, and are asked most.
var busy = []string{"/api/v3.0/events", "/api/v3.0/events:listFieldValues", "/api/v3.0/media/recordedImage.jpeg",
	"/api/v3.0/media/recordedImage.jpeg:listFieldValues", "/api/v3.0/cameras",
	"/g/aaa/authenticate", "/g/user", "/oauth2/token"}

// argument is the name and the value of an argument of an address.
func argument(in *tape, path string) (name, value string) {
	name = in.one(names)
	for _, f := range fitting {
		if strings.Contains(path, f.part) && !in.sometimes(4) {
			name = in.one(strings.Fields(f.arguments))
			break
		}
	}
	if value = in.value(known); in.below(3) == 0 {
		value = in.one(wild)
	}
	if strings.HasSuffix(name, "Token") && in.below(2) == 0 {
		value = string(in.some(4))
	}
	switch {
	case strings.Contains(strings.ToLower(name), "timestamp") && !in.sometimes(4):
		value = in.one(times)
	case strings.HasSuffix(name, "password") && in.below(2) == 0:
		value = secret
	}
	return name, value
}

// FuzzHTTP asks both servers anything, as a stranger, as a user and as a bridge.
func FuzzHTTP(f *testing.F) {
	dir := needs(f)
	c := startCloud(f, dir)
	b := startBridge(f, dir, "account-1", "cameras: []")
	for i := range 16 {
		f.Add([]byte{byte(i)})
	}
	f.Add([]byte{0, 3, 255, 'G', 'E', 'T', ' ', '/', ' ', 'H'})
	var all trials
	f.Fuzz(func(t *testing.T, input []byte) {
		all.try(t, input, func(t *trial, in *tape) {
			for range 8 {
				p, tokens := c.process, []string{"", c.user, c.bridge, "wrong"}
				if in.below(2) == 1 {
					p, tokens = b.process, []string{"", lanToken, lanToken, "wrong"}
				}
				request(t, p, makeRequest(in, tokens))
				p.quiet(t)
			}
			c.sound(t)
			b.sound(t)
			answers(t, c.process)
			answers(t, b.process)
		})
	})
}

// asked is the text of a request.
type asked struct {
	method string
	text   []byte
	whole  bool // it says rightly how long it is, so that it gets an answer
}

// makeRequest is a whole request, which ends its connection.
func makeRequest(in *tape, tokens []string) asked {
	path := in.one(paths)
	if in.below(2) == 0 {
		path = in.one(busy)
	}
	if in.sometimes(16) {
		return asked{method: "GET", text: in.some(200)} // not even a request
	}
	method := in.one(methods[:4])
	switch in.below(4) {
	case 0:
		method = in.one(methods)
	case 1, 2:
		if !strings.HasPrefix(path, "/g/aaa/") {
			method = "GET" // which most of what is here is asked with
		}
	}
	query, object := url.Values{}, map[string]any{}
	if in.sometimes(3) {
		object = rightEvent()
	}
	for range in.below(6) {
		query.Add(argument(in, path))
	}
	for range in.below(8) {
		name, value := argument(in, path)
		if object[name] = value; in.below(2) == 0 {
			object[name] = anything(in, 3)
		}
	}
	var text strings.Builder
	text.WriteString(method + " " + path)
	if len(query) > 0 {
		text.WriteString("?" + query.Encode())
	}
	text.WriteString(" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n")
	token := in.one(tokens)
	if !in.sometimes(4) {
		token = tokens[1]
	}
	if token != "" {
		text.WriteString("Authorization: Bearer " + token + "\r\n")
	}
	whole := method != "CONNECT"
	for range in.below(3) {
		name, value := in.one(headers), in.value(known)
		text.WriteString(name + ": " + value + "\r\n")
		switch {
		case strings.ContainsAny(value, "\r\n"), name == "Transfer-Encoding", name == "Content-Length",
			name == "Expect", name == "Upgrade":
			whole = false
		}
	}
	var body string
	switch in.below(4) {
	case 0:
		raw, _ := json.Marshal(object) // of strings, numbers and lists: it never fails
		body = string(raw)
	case 1:
		form := url.Values{}
		for _, k := range slices.Sorted(maps.Keys(object)) {
			if v, ok := object[k].(string); ok {
				form.Set(k, v)
			} else {
				form.Set(k, in.value(known))
			}
		}
		body = form.Encode()
		text.WriteString("Content-Type: application/x-www-form-urlencoded\r\n")
	case 2:
		body = string(in.some(200))
	}
	if body != "" {
		text.WriteString("Content-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	return asked{method, []byte(text.String() + "\r\n" + body), whole}
}

// rightEvent has nothing that a server must refuse.
func rightEvent() map[string]any {
	return map[string]any{"type": "vms.motionDetectionEvent.v1",
		"startTimestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000+00:00"),
		"endTimestamp":   nil, "span": true, "accountId": "account-1", "actorId": "bridge-1",
		"actorAccountId": "account-1", "actorType": "bridge",
		"creatorId": "test", "dataSchemas": []string{"vms.creatorDetails.v1"}, "data": []any{
			map[string]any{"type": "vms.creatorDetails.v1", "creatorId": "test", "id": "x", "name": "y",
				"vendor": "z"}}}
}

// anything is a value of JSON.
func anything(in *tape, depth int) any {
	switch in.below(6) {
	case 0:
		return float64(int(in.byte())-128) * 1e9
	case 1:
		return in.below(2) == 1
	case 2:
		if depth > 0 {
			list := []any{}
			for range in.below(4) {
				list = append(list, anything(in, depth-1))
			}
			return list
		}
	case 3:
		if depth > 0 {
			object := map[string]any{}
			for range in.below(4) {
				object[in.one(names)] = anything(in, depth-1)
			}
			return object
		}
	}
	return strings.ToValidUTF8(in.value(known), "?")
}

// request asks, and requires that whatever is answered is no fault of the server's. A whole request
// gets an answer.
func request(t *trial, p *process, q asked) {
	t.Helper()
	t.Did("%s is asked %.1500q", p.name(), q.text)
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(p.base, "http://"), answerPatience)
	if err != nil {
		t.Fatalf("%s takes NO CONNECTION: %v", p.name(), err)
	}
	exchange(t, p, conn, q)
}

// exchange is request over a connection, which it closes.
func exchange(t *trial, p *process, conn net.Conn, q asked) {
	t.Helper()
	defer conn.Close()
	patience := 300 * time.Millisecond
	if q.whole {
		patience = answerPatience
	}
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	go func() { _, _ = conn.Write(q.text) }() // it may be refused before it is read
	answer := bufio.NewReader(conn)
	var late net.Error
	if q.whole {
		// A program that answers others at once all the while is not merely slow.
		_ = conn.SetReadDeadline(time.Now().Add(hangPatience))
		if _, err := answer.Peek(1); errors.As(err, &late) && late.Timeout() && p.livesWell() {
			t.Fatalf("%s HANGS: no answer to %.2000q in %v; %s", p.name(), q.text, hangPatience, p.stands())
		}
		_ = conn.SetReadDeadline(time.Now().Add(patience))
	}
	res, err := http.ReadResponse(answer, &http.Request{Method: q.method})
	if errors.As(err, &late) && late.Timeout() && q.whole {
		t.Fatalf("%s HANGS: no answer to %.2000q; %s", p.name(), q.text, p.stands())
	}
	if err != nil {
		return
	}
	_ = conn.SetDeadline(time.Now().Add(300 * time.Millisecond)) // a stream of events does not end
	body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	_ = res.Body.Close()
	if res.StatusCode >= 500 && res.StatusCode != http.StatusServiceUnavailable &&
		res.StatusCode != http.StatusNotImplemented &&
		res.StatusCode != http.StatusHTTPVersionNotSupported {
		t.Fatalf("%s answers %d to %.2000q: %.2000s", p.name(), res.StatusCode, q.text, body)
	}
}
