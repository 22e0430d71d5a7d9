package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// Tokens of the test bed.
const (
	tokenUser       = "token-user"       // all of acc-1
	tokenRestricted = "token-restricted" // camera cam-1 of acc-1
	tokenReader     = "token-reader"     // acc-1, may not report
	tokenReporter   = "token-reporter"   // acc-1, may only report
	tokenBridge     = "token-bridge"     // a bridge of acc-1
	tokenOther      = "token-other"      // acc-2
)

// bed is a server over a real journal, with cameras and images that a test decides.
type bed struct {
	t          *testing.T
	url        string
	journal    *journal.Journal
	server     *Server
	images     func(ImageQuery) (Image, error)
	asked      []ImageQuery
	bridges    *bridgeLog
	storeFn    func(vms.Event) error // instead of the journal's Put
	unreadable error                 // of the events, if any
}

func newBed(t *testing.T) *bed {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "events.db"), journal.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	b := &bed{t: t, journal: j, bridges: &bridgeLog{}}
	b.server, err = New(Options{
		Events: bedEvents{b, j}, Cameras: bedCameras{}, Images: bedImages{b}, Auth: bedTokens(t), Bridges: b.bridges,
		NotFound: journal.ErrNotFound, BaseURL: "https://vms.example", TokenKey: []byte("key"),
		Registerer: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	s := httptest.NewServer(b.server)
	t.Cleanup(s.Close)
	b.url = s.URL
	return b
}

func bedTokens(t testing.TB) *identity.Fixed {
	f := identity.NewFixed()
	for token, p := range map[string]identity.Principal{
		tokenUser: {Name: "user", AccountID: "acc-1",
			User: vms.User{ID: "u1", FirstName: "Anna", TimeZone: &vms.TimeZone{TimeZone: "Europe/Berlin"}}},
		tokenRestricted: {Name: "restricted", AccountID: "acc-1", Cameras: []string{"cam-1"},
			Scopes: []string{identity.ScopeAll}},
		tokenReader:   {Name: "reader", AccountID: "acc-1", Scopes: []string{identity.ScopeRead}},
		tokenReporter: {Name: "reporter", AccountID: "acc-1", Scopes: []string{identity.ScopeReport}},
		tokenBridge:   {Name: "bridge", AccountID: "acc-1", Kind: identity.KindBridge},
		tokenOther:    {Name: "other", AccountID: "acc-2"},
	} {
		require.NoError(t, f.Add(token, p))
	}
	return f
}

// bedEvents lets a test break the store.
type bedEvents struct {
	b *bed
	*journal.Journal
}

func (e bedEvents) Put(ev vms.Event, report bool) error {
	if e.b.storeFn != nil {
		return e.b.storeFn(ev)
	}
	return e.Journal.Put(ev, report)
}

func (e bedEvents) Get(_, id string) (vms.Event, error) {
	if e.b.unreadable != nil {
		return vms.Event{}, e.b.unreadable
	}
	return e.Journal.Get(id)
}

// PutAll stores many as vmscloud's does; with a storeFn it stores none, so that each is put alone.
func (e bedEvents) PutAll(events []vms.Event, report bool) error {
	if e.b.storeFn != nil {
		return errors.New("secret detail")
	}
	return e.Journal.PutAll(events, report)
}

// bedCameras gives acc-1 the cameras cam-1 to cam-5 and a bridge, and acc-2 one camera.
type bedCameras struct{}

func (bedCameras) CameraIDs(account, _ string) []string {
	if account == "acc-2" {
		return []string{"cam-9"}
	}
	return []string{"cam-1", "cam-2", "cam-3", "cam-4", "cam-5"}
}

func (c bedCameras) CameraOf(account, id string) (vms.Camera, bool) {
	switch {
	case !slices.Contains(c.CameraIDs(account, ""), id):
		return vms.Camera{}, false
	case account == "acc-2":
		return vms.Camera{ID: id, AccountID: account, Name: "Foreign"}, true
	}
	return vms.Camera{ID: id, AccountID: account, Name: "Camera " + strings.TrimPrefix(id, "cam-"),
		BridgeID:        "bridge-1",
		CreateTimestamp: vms.At(t0), Status: &vms.ConnectionStatus{ConnectionStatus: vms.StatusOnline}}, true
}

func (c bedCameras) HasActor(_ context.Context, account string, a vms.Actor) (bool, error) {
	if a.ID == "broken" {
		return false, errors.New("secret detail of the store")
	}
	if a.Type == vms.ActorBridge {
		return account == "acc-1" && a.ID == "bridge-1", nil
	}
	return a.Type == vms.ActorCamera && slices.Contains(c.CameraIDs(account, ""), a.ID), nil
}

type bedImages struct{ b *bed }

func (i bedImages) Image(_ context.Context, q ImageQuery) (Image, error) {
	i.b.asked = append(i.b.asked, q)
	return i.b.images(q)
}

type bridgeLog struct {
	mu   sync.Mutex
	got  []vms.Registration
	left []string
	err  error
}

func (l *bridgeLog) Leave(_ context.Context, _ identity.Principal, bridge string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.left = append(l.left, bridge)
	}
	return l.err
}

// acc-1's bridge token has the cameras cam-1 to cam-5 and bridge-1.
func (l *bridgeLog) IsBridge(p identity.Principal) bool { return p.Kind == identity.KindBridge }

func (l *bridgeLog) BridgeOf(p identity.Principal) string {
	if p.TokenID == "bridge" {
		return "bridge-1"
	}
	return ""
}

func (l *bridgeLog) Keeper(account string, a vms.Actor) (bridge, holder string) {
	if has, err := (bedCameras{}).HasActor(context.Background(), account, a); err != nil || !has || account != "acc-1" {
		return "", ""
	}
	return "bridge-1", "token:bridge"
}

func (l *bridgeLog) Register(_ context.Context, _ identity.Principal, r vms.Registration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.got = append(l.got, r)
	return l.err
}

var t0 = time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)

// motion is an event of cam n seconds after t0; length 0 means that it goes on.
func motion(cam string, n int, length time.Duration) vms.Event {
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(t0.Add(time.Duration(n) * time.Second)), Span: true,
		AccountID: "acc-1", ActorID: cam, ActorAccountID: "acc-1", ActorType: vms.ActorCamera,
		CreatorID: vms.CreatorMotion}
	if length > 0 {
		ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(length))
	}
	ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "b", Vendor: "v"}),
		vms.ObjectDetection("", vms.ObjectID("camera", cam, "1"), ev.StartTimestamp.Time,
			[4]float64{0.1, 0.2, 0.3, 0.4}))
	ev.ID = ev.NaturalID()
	return ev
}

func (b *bed) put(events ...vms.Event) {
	b.t.Helper()
	for _, ev := range events {
		ev.ID = ev.NaturalID()
		require.NoError(b.t, b.journal.Put(ev, false))
	}
}

// reply is an answer with its body read.
type reply struct {
	t      *testing.T
	code   int
	header http.Header
	body   []byte
}

func (b *bed) do(method, path, token, body string, header ...string) reply {
	b.t.Helper()
	req, err := http.NewRequest(method, b.url+path, strings.NewReader(body))
	require.NoError(b.t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header[header[i]] = strings.Split(header[i+1], "\n") // a line each
	}
	res, err := http.DefaultTransport.RoundTrip(req) // redirects are answers too
	require.NoError(b.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	return reply{b.t, res.StatusCode, res.Header, raw}
}

func (b *bed) get(path string) reply { b.t.Helper(); return b.do("GET", path, tokenUser, "") }

// into decodes an answer of the wanted code.
func (r reply) into(code int, v any) {
	r.t.Helper()
	require.Equal(r.t, code, r.code, "%s", r.body)
	require.Equal(r.t, "application/json", r.header.Get("Content-Type"))
	require.NoError(r.t, json.Unmarshal(r.body, v), "%s", r.body)
}

// page decodes a list of events; all four keys must be there and of their types.
func (r reply) page() vms.EventPage {
	r.t.Helper()
	var keys map[string]json.RawMessage
	r.into(200, &keys)
	require.Len(r.t, keys, 4)
	require.True(r.t, bytes.HasPrefix(keys["results"], []byte("[")), "%s", r.body)
	require.True(r.t, bytes.HasPrefix(keys["nextPageToken"], []byte(`"`)), "%s", r.body)
	require.True(r.t, bytes.HasPrefix(keys["prevPageToken"], []byte(`"`)), "%s", r.body)
	var p vms.EventPage
	r.into(200, &p)
	return p
}

// refused checks the error body: all four keys, the code, the reason, and words that the message
// must hold.
func (r reply) refused(code int, reason string, words ...string) {
	r.t.Helper()
	var keys map[string]json.RawMessage
	r.into(code, &keys)
	for _, k := range []string{"code", "status", "message", "details"} {
		require.Contains(r.t, keys, k)
	}
	var e vms.Error
	r.into(code, &e)
	require.Equal(r.t, code, e.Code)
	require.NotEmpty(r.t, e.Status)
	require.Equal(r.t, reason, e.Reason(), "%s", r.body)
	require.Equal(r.t, "apiv3", e.Details[0].Domain)
	require.NotEmpty(r.t, e.Details[0].Metadata["path"])
	for _, w := range words {
		require.Contains(r.t, e.Message, w)
	}
}

func ids(events []vms.Event) []string {
	out := make([]string, len(events))
	for i, ev := range events {
		out[i] = ev.ID
	}
	return out
}

func idsOf(events ...vms.Event) []string { return ids(events) }
