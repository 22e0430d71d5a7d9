package fuzz

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	methods = []string{"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "CONNECT", "X"}
	paths   = []string{"/api/v3.0/events", "/api/v3.0/events/x", "/api/v3.0/events:listFieldValues", "/api/v3.0/events:listRecentByType",
		"/api/v3.0/eventTypes", "/api/v3.0/media/recordedImage.jpeg", "/api/v3.0/media/recordedImage.jpeg:listFieldValues",
		"/api/v3.0/clientSettings", "/api/v3.0/cameras", "/api/v3.0/cameras/gate", "/api/v3.0/users/self", "/api/v3.0/bridges:register",
		"/api/v3.0/events:report", "/api/v3.0/eventSubscriptions", "/api/v3.0/eventSubscriptions/x/filters", "/api/v3.0/bridges:tunnel", "/api/v3.0/bridges:leave",
		"/g/aaa/authenticate", "/g/aaa/two_factor_authenticate", "/g/aaa/authorize", "/g/aaa/two_factor_authenticate/update",
		"/g/aaa/two_factor_authenticate/verify", "/g/aaa/create_account", "/g/aaa/validate_account", "/g/aaa/forgot_password",
		"/g/aaa/check_pw_reset_token", "/g/aaa/reset_password", "/g/aaa/resend_registration_email", "/g/aaa/resend_user_verification_email",
		"/g/aaa/change_password", "/g/aaa/switch_account", "/g/sso", "/g/aaa/isauth", "/g/account", "/g/account/list",
		"/g/account/statistics/users", "/g/user", "/g/user/list", "/g/device", "/g/device/list", "/g/audit/list",
		"/oauth2/authorize", "/oauth2/token", "/oauth2/revoke", "/healthz", "/readyz", "/metrics", "/", "/x", "/api/v3.0/../../healthz", "//"}
	names = []string{"actor", "type__in", "startTimestamp__gte", "endTimestamp__lte", "startTimestamp__lte", "sort", "pageSize", "pageToken",
		"include", "deviceId", "type", "timestamp__lt", "timestamp__gte", "id", "name", "username", "password", "email", "token", "code", "realm",
		"account_id", "tfa_key", "A", "grant_type", "client_id", "client_secret", "redirect_uri", "scope", "state", "response_type", "code_challenge",
		"startTimestamp", "endTimestamp", "actorId", "actorType", "accountId", "actorAccountId", "creatorId", "dataSchemas", "data", "span",
		"cameras", "events", "filters", "deliveryConfig", "camera_access", "permissions", "first_name", "is_active", "bridgeId", "imageToken"}
	known = []string{"gate", "bridge-1", "camera:gate", "preview", "main", "vms.motionDetectionEvent.v1", "2026-11-01T00:00:00.000+00:00",
		"2030-11-01T00:00:00.000+00:00", "admin@localhost", "password", "authorization_code", "refresh_token", "cookie", "vms.all", "+startTimestamp",
		"1", "100", "true", "data.vms.creatorDetails.v1", "vms.creatorDetails.v1"}
	headers = []string{"X-Api-Key", "Origin", "Cookie", "Content-Type", "Accept-Encoding", "Range", "If-None-Match", "Last-Event-ID", "Host",
		"X-Forwarded-For", "Transfer-Encoding", "Content-Length", "Expect", "Upgrade", "Connection", "Accept-Language", "Sec-WebSocket-Key"}
)

// FuzzHTTP asks both servers anything, as a stranger, as a user and as a bridge.
func FuzzHTTP(f *testing.F) {
	dir := needs(f)
	c := startCloud(f, dir)
	b := startBridge(f, dir, c.account, "cameras: []")
	for i := range paths {
		f.Add([]byte{byte(i % 2), byte(i), 0, byte(i % len(methods)), 1, 2, 3, 4, byte(i), 5, 1, 7, 2, 1, 2, 3})
	}
	f.Add([]byte{0, 3, 255, 'G', 'E', 'T', ' ', '/', ' ', 'H'})
	n := 0
	var all trials
	f.Fuzz(func(t *testing.T, input []byte) {
		input = bytes.Clone(input) // the fuzzer changes it when this returns
		all.try(t, input, func(t *trial) {
			in := &tape{input}
			base, tokens := c.base, []string{"", c.user, c.bridge, "wrong"}
			if in.below(2) == 1 {
				base, tokens = b.base, []string{"", lanToken, lanToken, "wrong"}
			}
			request(t, strings.TrimPrefix(base, "http://"), makeRequest(in, tokens))
			if n++; n%50 == 0 || !fuzzing() {
				c.sound(t)
				b.sound(t)
				answers(t, c.base)
				answers(t, b.base)
			}
		})
	})
}

// makeRequest is a whole request, which ends its connection.
func makeRequest(in *tape, tokens []string) []byte {
	path := in.one(paths)
	if in.sometimes(16) {
		return in.rest // not even a request
	}
	method := in.one(methods)
	query, object := url.Values{}, map[string]any{}
	for range in.below(6) {
		query.Add(in.one(names), in.value(known))
	}
	for range in.below(8) {
		object[in.one(names)] = anything(in, 3)
	}
	var text strings.Builder
	text.WriteString(method + " " + path)
	if len(query) > 0 {
		text.WriteString("?" + query.Encode())
	}
	text.WriteString(" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n")
	if token := in.one(tokens); token != "" {
		text.WriteString("Authorization: Bearer " + token + "\r\n")
	}
	for range in.below(3) {
		text.WriteString(in.one(headers) + ": " + in.value(known) + "\r\n")
	}
	var body string
	switch in.below(4) {
	case 0:
		raw, _ := json.Marshal(object) // of strings, numbers and lists: it never fails
		body = string(raw)
	case 1:
		form := url.Values{}
		for k := range object {
			form.Set(k, in.value(known))
		}
		body = form.Encode()
		text.WriteString("Content-Type: application/x-www-form-urlencoded\r\n")
	case 2:
		body = string(in.some(200))
	}
	if body != "" {
		text.WriteString("Content-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	return []byte(text.String() + "\r\n" + body)
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

// request sends bytes and requires that whatever is answered is no fault of the server's. One that waits for more is left.
func request(t testing.TB, address string, raw []byte) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(300*time.Millisecond)))
	go func() { _, _ = conn.Write(raw) }() // it may be refused before it is read
	method := "GET"
	if word, _, ok := strings.Cut(string(raw), " "); ok {
		method = word
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	_ = res.Body.Close()
	if res.StatusCode >= 500 && res.StatusCode != http.StatusServiceUnavailable && res.StatusCode != http.StatusNotImplemented &&
		res.StatusCode != http.StatusHTTPVersionNotSupported {
		t.Fatalf("%d for %.2000q: %s", res.StatusCode, raw, body)
	}
}
