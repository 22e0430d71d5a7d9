package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/server/feed"
	"vmsbridge/uplink/vms"
)

func ask(t *testing.T, method, address, token string, body any) (int, *http.Response) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(raw))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return res.StatusCode, res
}

// outlast returns once the server has cut off a request that began now and did not go on: whatever
// else began before has lasted longer than a request may.
func outlast(t *testing.T, address string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\n")
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, conn)
}

func wish(kind string, filters ...filter) map[string]any {
	return map[string]any{"deliveryConfig": map[string]string{"type": kind}, "filters": filters}
}

func TestServerSentEvents(t *testing.T) {
	auth := &fickle{Authenticator: bedTokens(t)}
	f := feed.New()
	s, err := New(Options{Events: bedEvents{}, Cameras: bedCameras{}, Auth: auth, Feed: f,
		NotFound: journal.ErrNotFound})
	require.NoError(t, err)
	s.recheck = 5 * time.Millisecond
	serve := func(limit time.Duration) *httptest.Server {
		served := httptest.NewUnstartedServer(nil)
		served.Config = NewHTTP(s, nil)
		served.Config.ReadHeaderTimeout, served.Config.ReadTimeout, served.Config.WriteTimeout = limit, limit, limit
		served.Start()
		return served
	}
	// hasty is soon outlasted, and cuts off a slow machine's requests
	served, hasty := serve(time.Minute), serve(300*time.Millisecond)
	defer served.Close()
	defer hasty.Close()
	defer f.Close()
	path := served.URL + pathSubscriptions
	gate := filter{Actors: []string{"camera:cam-1"}, Types: []eventKind{{vms.TypeMotion}}}
	for _, c := range []struct {
		token string
		body  any
		want  int
	}{
		{"nobody", wish(deliverySSE, gate), 401},
		{tokenReporter, wish(deliverySSE, gate), 403},
		{tokenUser, wish("webhook.v1", gate), 400},
		{tokenUser, wish(deliverySSE), 201}, // filters are added later
		{tokenUser, wish(deliverySSE, filter{Actors: []string{"cam-1"}}), 400},
		{tokenUser, []int{1}, 400},
		{tokenOther, wish(deliverySSE, gate), 404},
		{tokenRestricted, wish(deliverySSE, filter{Actors: []string{"camera:cam-2"}}), 404},
	} {
		code, res := ask(t, "POST", path, c.token, c.body)
		require.Equal(t, c.want, code, "%+v", c)
		if code == 201 {
			var made subscription
			require.NoError(t, json.NewDecoder(res.Body).Decode(&made))
			require.Equal(t, config{"temporary", 900}, made.Config)
			require.Equal(t, []filter{}, made.Filters)
			code, _ = ask(t, "DELETE", path+"/"+made.ID, c.token, nil)
			require.Equal(t, 204, code)
		}
	}
	for kind, words := range map[string]string{"": "Missing required arguments: deliveryConfig.type",
		"kafka": "must be serverSentEvents.v1", deliveryWebhook: "webhook.v1 is not offered here"} {
		code, res := ask(t, "POST", path, tokenUser, wish(kind, gate))
		require.Equal(t, 400, code)
		var e vms.Error
		require.NoError(t, json.NewDecoder(res.Body).Decode(&e))
		require.Contains(t, e.Message, words)
	}
	code, res := ask(t, "POST", path, tokenUser, map[string]any{"deliveryConfig": delivery{Type: deliverySSE},
		"filters": []any{map[string]any{"types": []any{vms.TypeMotion, eventKind{vms.TypeTamper}}}}})
	require.Equal(t, 201, code, "types as ids alone")
	var plain subscription
	require.NoError(t, json.NewDecoder(res.Body).Decode(&plain))
	require.Equal(t, []eventKind{{vms.TypeMotion}, {vms.TypeTamper}}, plain.Filters[0].Types)
	code, _ = ask(t, "DELETE", path+"/"+plain.ID, tokenUser, nil)
	require.Equal(t, 204, code)
	code, res = ask(t, "POST", path, tokenRestricted,
		wish(deliverySSE, gate, filter{Types: []eventKind{{vms.TypeTamper}}}))
	require.Equal(t, 201, code)
	var sub subscription
	require.NoError(t, json.NewDecoder(res.Body).Decode(&sub))
	require.Equal(t, 900, sub.Delivery.Life)
	require.True(t, strings.HasPrefix(sub.Delivery.URL, served.URL+"/"), sub.Delivery.URL)
	code, _ = ask(t, "GET", path+"/"+sub.ID, tokenRestricted, nil)
	require.Equal(t, 200, code)
	for _, method := range []string{"GET", "DELETE"} {
		code, _ = ask(t, method, path+"/"+sub.ID, tokenUser, nil)
		require.Equal(t, 404, code, "another token's")
	}
	code, _ = ask(t, "GET", sub.Delivery.URL, tokenUser, nil)
	require.Equal(t, 404, code)

	event := func(camera, kind string, n int) vms.Event {
		at := vms.At(time.Date(2026, 11, 21, 7, 0, n, 0, time.UTC))
		ev := vms.Event{Type: kind, StartTimestamp: at, Span: true, AccountID: "acc-1", ActorID: camera,
			ActorAccountID: "acc-1", ActorType: vms.ActorCamera, CreatorID: "x"}
		ev.ID = ev.NaturalID()
		return ev
	}
	var lines *bufio.Scanner
	next := func() string {
		require.True(t, lines.Scan(), "the stream has ended: %v", lines.Err())
		return lines.Text()
	}
	lasts := func() bool { // hasty may cut off the request itself, so it gets more than one
		r, err := http.NewRequestWithContext(t.Context(), "GET",
			strings.Replace(sub.Delivery.URL, served.URL, hasty.URL, 1), nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+tokenRestricted)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return false
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		require.Equal(t, 200, res.StatusCode)
		require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
		lines = bufio.NewScanner(res.Body)
		for _, want := range []string{"^: follows$", "^retry: 2000$", "^id: .+-0$", "^$"} {
			if !lines.Scan() {
				return false
			}
			require.Regexp(t, want, lines.Text())
		}
		outlast(t, hasty.Listener.Addr().String())
		f.Publish(event("cam-1", vms.TypeMotion, 0))
		for range 4 { // the event
			if !lines.Scan() {
				return false
			}
		}
		return true
	}
	for end := time.Now().Add(time.Minute); !lasts(); {
		require.True(t, time.Now().Before(end), "no stream lasts longer than a request may")
	}
	require.Empty(t, lines.Text())
	f.Publish(event("cam-1", vms.TypeDeviceStatus, 1)) // not asked for
	f.Publish(event("cam-2", vms.TypeMotion, 2))       // not asked for
	f.Publish(event("cam-2", vms.TypeTamper, 3))       // asked for, but not to be seen
	foreign := event("cam-1", vms.TypeTamper, 4)
	foreign.ActorAccountID = "acc-2"
	f.Publish(foreign)
	for n := 5; n < 8; n++ {
		want := event("cam-1", vms.TypeMotion, n)
		f.Publish(want)
		require.Regexp(t, "^id: .+", next())
		require.Equal(t, "event: "+vms.TypeMotion, next())
		var got vms.Event
		require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(next(), "data: ")), &got))
		require.Equal(t, want.ID, got.ID)
		require.Nil(t, got.EndTimestamp)
		require.Empty(t, next())
	}
	auth.revoked.Store(true)
	saysWhy := func(code int, words string) {
		t.Helper()
		require.Equal(t, "event: error", next())
		var e vms.Error
		require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(next(), "data: ")), &e))
		require.Equal(t, code, e.Code)
		require.Contains(t, e.Message, words)
		require.Empty(t, next())
		require.False(t, lines.Scan(), lines.Text())
	}
	saysWhy(401, "no longer good")
	auth.revoked.Store(false)
	_, res = ask(t, "GET", sub.Delivery.URL, tokenRestricted, nil)
	lines = bufio.NewScanner(res.Body)
	require.NotEmpty(t, next())
	code, _ = ask(t, "DELETE", path+"/"+sub.ID, tokenRestricted, nil)
	require.Equal(t, 204, code)
	f.Publish(event("cam-1", vms.TypeMotion, 8))
	next() // the pause before it is opened again
	next() // where it begins
	require.Empty(t, next())
	saysWhy(404, sub.ID)
	code, _ = ask(t, "GET", sub.Delivery.URL, tokenRestricted, nil)
	require.Equal(t, 404, code)
	for n := range maxSubscriptions + 1 {
		code, _ = ask(t, "POST", path, tokenUser, wish(deliverySSE, gate))
		require.Equal(t, map[bool]int{true: 201, false: 429}[n < maxSubscriptions], code, fmt.Sprint(n))
	}
}

// A subscription's filters can be looked at and changed, and a stream that is open goes by what
// they are then.
func TestFilters(t *testing.T) {
	f := feed.New()
	s, err := New(Options{Events: bedEvents{}, Cameras: bedCameras{}, Auth: bedTokens(t), Feed: f,
		NotFound: journal.ErrNotFound})
	require.NoError(t, err)
	served := httptest.NewServer(s)
	defer served.Close()
	defer f.Close()
	path := served.URL + pathSubscriptions
	read := func(res *http.Response, v any) { t.Helper(); require.NoError(t, json.NewDecoder(res.Body).Decode(v)) }
	code, res := ask(t, "POST", path, tokenRestricted,
		wish(deliverySSE, filter{Actors: []string{"camera:cam-1"}, Types: []eventKind{{vms.TypeTamper}}}))
	require.Equal(t, 201, code)
	var sub subscription
	read(res, &sub)
	require.Len(t, sub.Filters, 1)
	first := sub.Filters[0].ID
	require.NotEmpty(t, first)
	filters := path + "/" + sub.ID + "/filters"

	for _, c := range []struct {
		method, address, token string
		body                   any
		want                   int
	}{
		{"POST", filters, tokenUser, filter{}, 404}, // another's subscription
		{"POST", filters, tokenRestricted, []int{1}, 400},
		{"POST", filters, tokenRestricted, filter{Actors: []string{"cam-1"}}, 400},
		{"POST", filters, tokenRestricted, filter{Actors: []string{"camera:cam-2"}}, 404}, // not to be seen
		{"POST", filters, tokenRestricted, filter{Types: []eventKind{{}}}, 400},
		{"POST", filters, tokenRestricted, filter{Types: make([]eventKind, maxFilterItems)}, 400},
		{"GET", filters, tokenUser, nil, 404},
		{"GET", filters + "/none", tokenRestricted, nil, 404},
		{"GET", filters + "/" + first, tokenUser, nil, 404},
		{"DELETE", filters + "/none", tokenRestricted, nil, 404},
		{"PUT", filters, tokenRestricted, nil, 405},
	} {
		code, _ := ask(t, c.method, c.address, c.token, c.body)
		require.Equal(t, c.want, code, "%+v", c)
	}
	var page struct{ Results []filter }
	_, res = ask(t, "GET", filters, tokenRestricted, nil)
	read(res, &page)
	require.Equal(t, sub.Filters, page.Results)

	_, stream := ask(t, "GET", sub.Delivery.URL, tokenRestricted, nil)
	lines := bufio.NewScanner(stream.Body)
	next := func() string {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var ev vms.Event
				require.NoError(t, json.Unmarshal([]byte(data), &ev))
				return ev.ID
			}
		}
		return "the end"
	}
	event := func(kind string, n int) vms.Event {
		at := vms.At(time.Date(2026, 11, 21, 7, 0, n, 0, time.UTC))
		ev := vms.Event{Type: kind, StartTimestamp: at, Span: true, AccountID: "acc-1", ActorID: "cam-1",
			ActorAccountID: "acc-1", ActorType: vms.ActorCamera}
		ev.ID = ev.NaturalID()
		return ev
	}
	publish := func(kind string, n int) string { ev := event(kind, n); f.Publish(ev); return ev.ID }
	require.True(t, lines.Scan()) // it follows
	publish(vms.TypeMotion, 1)
	want := publish(vms.TypeTamper, 2)
	require.Equal(t, want, next())

	code, res = ask(t, "POST", filters, tokenRestricted, filter{Types: []eventKind{{"een.motionDetectionEvent.v1"}}})
	require.Equal(t, 201, code)
	var added filter
	read(res, &added)
	require.Equal(t, []eventKind{{vms.TypeMotion}}, added.Types)
	code, _ = ask(t, "GET", served.URL+res.Header.Get("Location"), tokenRestricted, nil)
	require.Equal(t, 200, code)
	want = publish(vms.TypeMotion, 3)
	require.Equal(t, want, next())

	code, _ = ask(t, "DELETE", filters+"/"+first, tokenRestricted, nil)
	require.Equal(t, 204, code)
	publish(vms.TypeTamper, 4)
	want = publish(vms.TypeMotion, 5)
	require.Equal(t, want, next())

	var all struct{ Results []subscription }
	_, res = ask(t, "GET", path, tokenRestricted, nil)
	read(res, &all)
	require.Len(t, all.Results, 1)
	require.Equal(t, []filter{added}, all.Results[0].Filters)
	_, res = ask(t, "GET", path, tokenUser, nil)
	read(res, &all)
	require.Empty(t, all.Results, "those of another token")
	code, _ = ask(t, "DELETE", path+"/"+sub.ID, tokenRestricted, nil)
	require.Equal(t, 204, code)
	publish(vms.TypeMotion, 6)
	for lines.Scan() && lines.Text() != "event: error" {
		require.NotContains(t, lines.Text(), "data:")
	}
	require.True(t, lines.Scan(), "the stream says why it ends")
	require.Contains(t, lines.Text(), `"code":404`)
	require.Equal(t, "the end", next())
}
