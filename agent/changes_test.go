package agent

import (
	"bufio"
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// The page's stream tells of the cameras and of each event that is stored, to whoever may look.
func TestThePageHearsOfChanges(t *testing.T) {
	s := &editable{site: &site{t: t, log: &lockedBuffer{}, client: http.DefaultClient}}
	s.write("bridge: {id: bridge-1, account: acc-1, data: \"" + filepath.Join(t.TempDir(), "data") +
		"\"}\nclock: {wait: 0s}\n" +
		"api: {listen: \"127.0.0.1:0\", tokens: [{name: looks, token: looks-0123456789abcdef}, " +
		"{name: blind, token: blind-0123456789abcdef, scopes: [report]}]}\ncameras: [{id: cam-1, url: " +
		"\"rtsp://127.0.0.1:1/x\"}]\n")
	var err error
	s.cfg, err = s.load()
	require.NoError(t, err)
	a, stop := s.run(func(a *Agent) { a.opts.Load = s.load })
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	open := func(token string) *http.Response {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/web/changes?watch=cam-1", nil)
		require.NoError(t, err)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token+"-0123456789abcdef")
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		return res
	}
	for token, code := range map[string]int{"": 401, "wrong": 401, "blind": 403} {
		res := open(token)
		require.NoError(t, res.Body.Close())
		require.Equal(t, code, res.StatusCode, token)
	}
	res := open("looks")
	defer res.Body.Close()
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	lines := bufio.NewScanner(res.Body)
	wait := func(name, word string) {
		for lines.Scan() {
			if lines.Text() == "event: "+name && lines.Scan() && strings.Contains(lines.Text(), word) {
				return
			}
		}
		require.Fail(t, "the stream ended", "%v, before %s with %s", lines.Err(), name, word)
	}
	wait("cameras", `"id":"cam-1"`)
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(time.Now()), Span: true, AccountID: "acc-1",
		ActorID:        "cam-1",
		ActorAccountID: "acc-1", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
	ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "x", Vendor: "v"}))
	ev.ID = ev.NaturalID()
	a.archive.Events.Put(ev)
	wait("event", vms.TypeMotion)

	// A camera that comes with a reload is told with its place.
	s.write(strings.Replace(s.text, "cameras: [", "cameras: [{id: cam-0, url: \"rtsp://127.0.0.1:1/y\"}, ", 1))
	require.Equal(t, []string{"cam-0"}, s.reload().Cameras.Added)
	wait("cameras", `"id":"cam-0"`)
	wait("order", `["cam-0","cam-1"]`)
}
