package agent

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/archive"
	"vmsbridge/uplink/vms"
)

// What the tokens of the configuration may do: every token, every owner of an event, every
// operation. The bridge's own events stay what they are, and stand beside those that others
// reported of the same moment.
func TestWhoMayDoWhatAtTheBridge(t *testing.T) {
	s := &editable{site: &site{t: t, log: &lockedBuffer{}, client: http.DefaultClient}}
	s.write("bridge: {id: bridge-1, account: acc-1, data: \"" + filepath.Join(t.TempDir(), "data") +
		"\"}\nclock: {wait: 0s}\napi: {listen: \"127.0.0.1:0\", tokens: [" +
		"{name: looks, token: looks-0123456789abcdef}, {name: reads, token: reads-0123456789abcdef, scopes: [read]}, " +
		"{name: one, token: one-0123456789abcdef, scopes: [read, report]}, {name: two, token: two-0123456789abcdef, " +
		"scopes: [report, read]}, " +
		"{name: blind, token: blind-0123456789abcdef, scopes: [report]}]}\ncameras: [{id: cam-1, url: " +
		"\"rtsp://127.0.0.1:1/x\"}]\n")
	var err error
	s.cfg, err = s.load()
	require.NoError(t, err)
	a, stop := s.run(func(*Agent) {})
	defer stop()
	ask := func(token, method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.base+"/api/v3.0/"+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+token+"-0123456789abcdef")
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(raw)
	}
	t0 := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	event := func(n int, length time.Duration) vms.Event {
		ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(t0.Add(time.Duration(n) * time.Second)),
			Span: true, AccountID: "acc-1", ActorID: "cam-1",
			ActorAccountID: "acc-1", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
		if length > 0 {
			ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(length))
		}
		ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "x", Vendor: "v"}))
		ev.ID = ev.NaturalID()
		return ev
	}
	text := func(ev vms.Event) string {
		raw, err := json.Marshal(ev)
		require.NoError(t, err)
		return string(raw)
	}
	const self = "the bridge"
	looks := map[string]bool{"looks": true, "reads": true, "one": true, "two": true}
	reports := map[string]bool{"one": true, "two": true, "blind": true}
	n := 0
	list := "events?actor=camera:cam-1&startTimestamp__gte=2020-01-01T00:00:00Z&startTimestamp__lte=2099-01-01T00:00:00Z"
	for _, caller := range []string{"looks", "reads", "one", "two", "blind"} {
		for path, seen := range map[string]int{list: 200, "cameras/cam-1": 200,
			"media/recordedImage.jpeg?deviceId=cam-1&type=preview&timestamp__lt=2021-01-01T00:00:00Z": 404} {
			if !looks[caller] {
				seen = 403
			}
			code, body := ask(caller, "GET", path, "")
			require.Equal(t, seen, code, "%s looks: %s: %s", caller, path, body)
		}
		for _, owner := range []string{self, "one", "two", "blind"} {
			n++
			begun := event(n, 0)
			if owner == self {
				a.archive.Events.Put(begun)
				s.eventually("the bridge's event is stored",
					func() bool { _, err := a.archive.Journal.Get(begun.ID); return err == nil })
			} else {
				code, body := ask(owner, "POST", "events", text(begun))
				require.Equal(t, 201, code, body)
			}
			before, err := a.archive.Journal.Get(begun.ID)
			require.NoError(t, err)
			for _, length := range []time.Duration{0, time.Second, 2 * time.Second} {
				code, body := ask(caller, "POST", "events", text(event(n, length)))
				switch {
				case !reports[caller]:
					require.Equal(t, 403, code)
					require.Contains(t, body, "scopes: [read, report]", "it says what to write")
				case caller == owner:
					require.Equal(t, 201, code, body)
					continue
				default:
					require.Equal(t, 409, code, "%s over %s: %s", caller, owner, body)
				}
				after, err := a.archive.Journal.Get(begun.ID)
				require.NoError(t, err)
				require.Equal(t, before, after, "%s over %s: nothing changes", caller, owner)
			}
			want := 200
			if !looks[caller] {
				want = 403
			}
			code, body := ask(caller, "GET", "events/"+url.PathEscape(begun.ID), "")
			require.Equal(t, want, code, body)
			require.NotContains(t, body, "token:")
		}
		status := event(n+5000, time.Second)
		status.Type, status.CreatorID = vms.TypeDeviceStatus, vms.CreatorHealth
		status.SetData(vms.DeviceCloudStatusUpdate(vms.CreatorHealth, vms.StatusDeviceOffline))
		code, body := ask(caller, "POST", "events", text(status))
		require.Equal(t, 403, code, body)
	}

	// Another program was first: the bridge's own event is kept beside that one's, goes on and
	// ends.
	theirs := event(9000, 0)
	code, body := ask("one", "POST", "events", text(theirs))
	require.Equal(t, 201, code, body)
	mine := a.archive.Events
	mine.Put(theirs)
	mine.Touch(theirs.ID, theirs.StartTimestamp.Add(time.Minute))
	beside := theirs.SuffixedID(vms.OwnerSelf)
	touched := map[string]time.Time{}
	s.eventually("the bridge's own goes on", func() bool {
		open, err := a.archive.Journal.Unfinished()
		require.NoError(t, err)
		for _, o := range open {
			touched[o.Event.ID] = o.Last
		}
		return touched[beside].After(theirs.StartTimestamp.Time)
	})
	require.Equal(t, theirs.StartTimestamp.Time, touched[theirs.ID])
	require.Equal(t, theirs.StartTimestamp.Add(time.Minute), touched[beside])
	mine.Put(event(9000, time.Second))
	s.eventually("the bridge's own ends", func() bool {
		got, err := a.archive.Journal.Get(beside)
		return err == nil && !got.Ongoing()
	})
	got, err := a.archive.Journal.Get(theirs.ID)
	require.NoError(t, err)
	require.True(t, got.Ongoing(), "that is theirs to end")
	got, err = a.archive.Journal.Get(beside)
	require.NoError(t, err)
	require.False(t, got.Ongoing())
	require.True(t, archive.Ours(got))
	require.False(t, archive.Ours(vms.Event{Owner: "token:one", CreatorID: vms.CreatorMotion}))
}
