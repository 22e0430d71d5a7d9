package client_test

import (
	"bytes"
	"context"
	"io"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

// site is what the real server needs behind it.
type site struct {
	registered []vms.Registration
	asked      server.ImageQuery
}

var (
	began = time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)
	jpeg  = []byte("\xff\xd8\xff picture")
)

func (*site) CameraIDs(string, string) []string { return []string{"cam-1"} }
func (*site) CameraOf(_, id string) (vms.Camera, bool) {
	return vms.Camera{ID: id, Name: "Gate", Status: &vms.ConnectionStatus{ConnectionStatus: vms.StatusOnline}},
		id == "cam-1"
}
func (*site) HasActor(_ context.Context, _ string, a vms.Actor) (bool, error) {
	return a.ID == "cam-1", nil
}
func (s *site) Image(_ context.Context, q server.ImageQuery) (server.Image, error) {
	s.asked = q
	if q.Kind == vms.ImageMain {
		return server.Image{}, vms.NotFound("images", "never recorded", q.Camera)
	}
	return server.Image{Time: began, Length: int64(len(jpeg)), Body: io.NopCloser(bytes.NewReader(jpeg))}, nil
}
func (s *site) IsBridge(p identity.Principal) bool               { return false }
func (s *site) BridgeOf(p identity.Principal) string             { return "" }
func (s *site) Keeper(string, vms.Actor) (bridge, holder string) { return "", "" }

func (s *site) Register(_ context.Context, _ identity.Principal, r vms.Registration) error {
	s.registered = append(s.registered, r)
	return nil
}

// connect is a client of the real server over loopback.
func connect(t *testing.T, s *site, withBridges bool) *client.Client {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "events.db"), journal.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	tokens := identity.NewFixed()
	require.NoError(t,
		tokens.Add("good", identity.Principal{Name: "bridge", Kind: identity.KindBridge, AccountID: "acc-1"}))
	o := server.Options{Events: server.Own{OwnStore: j}, Cameras: s, Images: s, Auth: tokens,
		NotFound: journal.ErrNotFound}
	if withBridges {
		o.Bridges = s
	}
	h, err := server.New(o)
	require.NoError(t, err)
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	c, err := client.New(client.Options{BaseURL: ts.URL, Token: client.Token("good")})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func motion(n int) vms.Event {
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(began.Add(time.Duration(n) * time.Second)), Span: true,
		AccountID: "acc-1",
		ActorID:   "cam-1", ActorAccountID: "acc-1", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
	ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "b", Vendor: "v"}))
	ev.ID = ev.NaturalID()
	return ev
}

func TestEventsOfTheRealServer(t *testing.T) {
	c := connect(t, &site{}, true)
	ctx := t.Context()
	var want []string
	for n := range 25 {
		require.NoError(t, c.Report(ctx, motion(n)))
		want = append(want, motion(n).ID)
	}
	ended := motion(3)
	ended.EndTimestamp = vms.Ptr(began.Add(9 * time.Second))
	require.NoError(t, c.Report(ctx, ended))

	q := vms.Query{Actors: []vms.Actor{{Type: vms.ActorCamera, ID: "cam-1"}},
		Types:    []string{vms.TypeMotion, vms.TypeTamper},
		PageSize: 10, Ascending: true, Include: []string{vms.SchemaCreatorDetails}}
	var got []string
	for ev, err := range c.AllEvents(ctx, q) {
		require.NoError(t, err)
		require.Len(t, ev.Data, 1)
		got = append(got, ev.ID)
	}
	require.Equal(t, want, got)

	page, err := c.Events(ctx, q, "")
	require.NoError(t, err)
	require.Len(t, page.Results, 10)
	require.Equal(t, 25, page.TotalSize)
	q.EndLTE = vms.Ptr(began.Add(time.Hour))
	page, err = c.Events(ctx, q, "")
	require.NoError(t, err)
	require.Len(t, page.Results, 1, "only one has ended")
	q.EndLTE, q.StartGTE, q.StartLTE, q.EndGTE = nil, vms.Ptr(began.Add(2*time.Second)),
		vms.Ptr(began.Add(4*time.Second)), vms.Ptr(began)
	page, err = c.Events(ctx, q, "")
	require.NoError(t, err)
	require.Len(t, page.Results, 1)

	one, err := c.Event(ctx, want[3], vms.SchemaCreatorDetails)
	require.NoError(t, err)
	require.Equal(t, ended.EndTimestamp, one.EndTimestamp)
	require.Len(t, one.Data, 1)
	one, err = c.Event(ctx, want[3])
	require.NoError(t, err)
	require.Empty(t, one.Data)

	var refused *vms.RefusedError
	_, err = c.Event(ctx, "none")
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 404, refused.Code)
	require.False(t, client.Unsupported(err))
	for _, err := range c.AllEvents(ctx, vms.Query{}) {
		require.ErrorAs(t, err, &refused)
		require.Equal(t, vms.ReasonMissing, refused.Reason)
	}
	stranger := motion(0)
	stranger.ActorID = "cam-2"
	require.ErrorAs(t, c.Report(ctx, stranger), &refused)
	require.True(t, refused.UnknownActor())
}

func TestImageOfTheRealServer(t *testing.T) {
	s := &site{}
	c := connect(t, s, true)
	got, at, err := c.Image(t.Context(), "cam-1", vms.ImagePreview, vms.OpBefore, began.Add(500*time.Millisecond))
	require.NoError(t, err)
	require.Equal(t, jpeg, got)
	require.Equal(t, began, at)
	require.Equal(t, began.Add(500*time.Millisecond), s.asked.Time)
	_, _, err = c.Image(t.Context(), "cam-1", vms.ImagePreview, vms.OpAfter, began.Add(123456789))
	require.NoError(t, err)
	require.Equal(t, began.Add(123456789), s.asked.Time, "a time finer than a millisecond is asked for exactly")
	_, _, err = c.Image(t.Context(), "cam-1", vms.ImageMain, vms.OpBefore, began)
	require.ErrorContains(t, err, "never recorded")
}

func TestOthersOfTheRealServer(t *testing.T) {
	s := &site{}
	c := connect(t, s, true)
	types, err := c.EventTypes(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, types.Results, len(vms.Types()))
	cameras, err := c.Cameras(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, vms.StatusOnline, cameras.Results[0].Status.ConnectionStatus)
	user, err := c.User(t.Context())
	require.NoError(t, err)
	require.Equal(t, "acc-1", user.AccountID)

	r := vms.Registration{ID: "bridge-1", Name: "Gate", Address: "http://10.0.0.2:8480", ImageToken: "t",
		Cameras: []vms.RegisteredCamera{{ID: "cam-1", Name: "A"}}}
	require.NoError(t, c.Register(t.Context(), r))
	require.True(t, slices.EqualFunc(s.registered, []vms.Registration{r}, func(a, b vms.Registration) bool {
		return a.ID == b.ID && a.ImageToken == b.ImageToken
	}))
	require.True(t, client.Unsupported(connect(t, s, false).Register(t.Context(), r)),
		"a service without registration says so")
	require.False(t, client.Unsupported(nil))
}
