package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

const askToken = "token-0123456789abcdef"

// fakeSite is the interface as a bridge serves it, over a real journal, with one still of each
// camera.
type fakeSite struct {
	journal *journal.Journal
	url     string
	flags   []string // --url and --token-file
}

var stillAt = time.Date(2026, 1, 1, 12, 0, 0, 250e6, time.UTC)

func (s *fakeSite) CameraIDs(string, string) []string { return []string{"gate", "yard"} }

func (s *fakeSite) CameraOf(_, id string) (vms.Camera, bool) {
	name, ok := map[string]string{"gate": "Gate", "yard": "Yard"}[id]
	return vms.Camera{ID: id, Name: name}, ok
}

func (s *fakeSite) HasActor(_ context.Context, _ string, a vms.Actor) (bool, error) {
	return a.ID == "gate" || a.ID == "yard", nil
}

func (s *fakeSite) Image(_ context.Context, q server.ImageQuery) (server.Image, error) {
	if q.Op != vms.OpBefore || !q.Time.After(stillAt) {
		return server.Image{}, vms.NotFound("images", "nothing was recorded before that time", q.Camera)
	}
	b := stillOf(q.Camera, q.Kind)
	return server.Image{Time: stillAt, Length: int64(len(b)), Body: io.NopCloser(bytes.NewReader(b))}, nil
}

// stillOf is a JPEG whose size tells which one it is.
func stillOf(camera, kind string) []byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, len(camera), len(kind))), nil) // into memory
	return b.Bytes()
}

func newFakeSite(t *testing.T) *fakeSite {
	t.Helper()
	s := &fakeSite{}
	var err error
	s.journal, err = journal.Open(filepath.Join(t.TempDir(), "j.db"), journal.Options{})
	require.NoError(t, err)
	tokens := identity.NewFixed()
	require.NoError(t, tokens.Add(askToken, identity.Principal{Name: "lan", AccountID: "acc"}))
	h, err := server.New(server.Options{Events: server.Own{OwnStore: s.journal}, Cameras: s, Images: s, Auth: tokens,
		NotFound: journal.ErrNotFound})
	require.NoError(t, err)
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.Close(); require.NoError(t, s.journal.Close()) })
	s.url = srv.URL
	s.flags = []string{"--url", srv.URL, "--token-file", write(t, "token", askToken+"\n")}
	return s
}

func (s *fakeSite) do(t *testing.T, args ...string) result {
	t.Helper()
	return do(t, append(args, s.flags...)...)
}

func TestEvents(t *testing.T) {
	s := newFakeSite(t)
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for i := range 450 { // more than two pages
		require.NoError(t, s.journal.Put(motionEvent("gate", start.Add(time.Duration(i)*time.Minute)), false))
	}
	ongoing := motionEvent("yard", start.Add(30*time.Second))
	ongoing.EndTimestamp = nil
	require.NoError(t, s.journal.Put(ongoing, false))
	status := motionEvent("yard", start.Add(-time.Minute))
	status.Type = vms.TypeDeviceStatus
	status.SetData(vms.DeviceCloudStatusUpdate(vms.CreatorHealth, vms.StatusOnline))
	status.ID = status.NaturalID()
	require.NoError(t, s.journal.Put(status, false))

	r := s.do(t, "events", "--since", "2026-01-01T11:00:00Z", "--until", "2026-01-01T12:00:59Z")
	require.Equal(t, result{`START                              LENGTH  CAMERA            EVENT
2026-01-01T11:59:00.000+00:00       3.0 s  yard              status online
2026-01-01T12:00:00.000+00:00       3.0 s  gate              motion
2026-01-01T12:00:30.000+00:00     ongoing  yard              motion
`, "", 0}, r)

	r = s.do(t, "events", "--since", "2026-01-01", "--camera", "gate")
	require.Equal(t, 451, strings.Count(r.out, "\n"), "a head and all pages")
	r = s.do(t, "events", "--since", "2026-01-01", "--type", "status", "--json")
	require.Equal(t, 1, strings.Count(r.out, "\n"))
	var ev vms.Event
	require.NoError(t, json.Unmarshal([]byte(r.out), &ev))
	require.Equal(t, status.ID, ev.ID)
	require.Len(t, ev.Data, 1)
	r = s.do(t, "events", "--since", "2026-01-01", "--until", "2026-01-01T12:00:00Z", "--type", vms.TypeMotion)
	require.Contains(t, r.out, "gate")
	require.NotContains(t, r.out, "status")
	require.Empty(t, s.do(t, "events").out, "the last hour")

	r = s.do(t, "events", "--camera", "attic")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, `no camera "attic": there are gate, yard`)
}

// lines collects what a command that runs on prints.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *lines) count(word string) int {
	return strings.Count(l.String(), word)
}

// --follow prints an event when it begins and when it ends, each once, until it is interrupted,
// which is no failure.
func TestEventsFollow(t *testing.T) {
	s := newFakeSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out, errs lines
	code := make(chan int, 1)
	go func() {
		code <- program(ctx, append([]string{"events", "--follow", "--since", "1h"}, s.flags...),
			streams{strings.NewReader(""), &out, &errs})
	}()
	ev := motionEvent("gate", time.Now())
	end := ev.EndTimestamp
	ev.EndTimestamp = nil
	require.NoError(t, s.journal.Put(ev, false))
	harness.Until(t, "the beginning", func() bool { return out.count("ongoing") == 1 })
	ev.EndTimestamp = end
	require.NoError(t, s.journal.Put(ev, false))
	harness.Until(t, "the end", func() bool { return out.count("3.0 s") == 1 })
	require.NoError(t, s.journal.Put(motionEvent("yard", time.Now()), false))
	harness.Until(t, "the next", func() bool { return out.count("yard") == 1 })
	cancel()
	require.Zero(t, <-code)
	require.Equal(t, 1, out.count("ongoing"))
	require.Equal(t, 2, out.count("3.0 s"))
	require.Equal(t, 2, out.count("gate"))
	require.Empty(t, errs.String())
}

func TestImage(t *testing.T) {
	s := newFakeSite(t)
	file := filepath.Join(t.TempDir(), "out.jpg")
	r := s.do(t, "image", "--camera", "gate", "--before", "2026-01-01T12:00:01Z", "-o", file)
	require.Zero(t, r.code, r.err)
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, stillOf("gate", vms.ImagePreview), content)
	require.Contains(t, r.err, "taken at 2026-01-01T12:00:00.250+00:00 (750ms before the time asked for)")
	r = s.do(t, "image", "--camera", "yard", "--type", "main", "-o", "-")
	require.Equal(t, string(stillOf("yard", vms.ImageMain)), r.out)

	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"too early": {[]string{"--camera", "gate", "--before", "2026-01-01T12:00:00Z"},
			"no such still: nothing was recorded before that time"},
		"unknown camera": {[]string{"--camera", "attic"}, `no camera "attic": there are gate, yard`},
	} {
		r := s.do(t, append([]string{"image", "-o", file + ".none"}, tc.args...)...)
		require.Equal(t, exitFailed, r.code, name)
		require.Contains(t, r.err, tc.want, name)
		require.NoFileExists(t, file+".none")
	}
	r = s.do(t, "image", "--camera", "gate", "-o", filepath.Join(t.TempDir(), "no", "folder.jpg"))
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "write the still")
}

func TestAskFailures(t *testing.T) {
	s := newFakeSite(t)
	bad := write(t, "bad", "wrong-token-0123456789")
	r := do(t, "events", "--url", s.url, "--token-file", bad)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "not let in")
	require.NotContains(t, r.err, "wrong-token")

	ports, err := freePorts(1)
	require.NoError(t, err)
	r = do(t, "events", "--url", "http://"+ports[0], "--token-file", bad)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "is the bridge running")
	require.Equal(t, 1, strings.Count(r.err, "\n"))

	// What listens there closes the connection, as a camera's RTSP server does.
	rude, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = rude.Close() })
	go func() {
		for conn, err := rude.Accept(); err == nil; conn, err = rude.Accept() {
			_ = conn.Close()
		}
	}()
	r = do(t, "events", "--url", "http://"+rude.Addr().String(), "--token-file", bad)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "is the address right?")
	require.Equal(t, 1, strings.Count(r.err, "\n"))

	r = do(t, "events", "--url", s.url, "--token-file", bad+".none")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "no such file")
	silent := write(t, "b.yaml", fmt.Sprintf("bridge: {data: %q}\n", t.TempDir()))
	r = do(t, "events", "--config", silent)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "no bridge runs on this data folder; start it")
}

// Without --url, the configuration says where the bridge is and gives the token.
func TestAskByConfiguration(t *testing.T) {
	s := newFakeSite(t)
	require.NoError(t, s.journal.Put(motionEvent("gate", time.Now()), false))
	file := write(t, "b.yaml", fmt.Sprintf("api: {listen: %q, tokens: [{name: lan, token: %s}]}\n",
		strings.TrimPrefix(s.url, "http://"), askToken))
	t.Setenv("VMSBRIDGE_CONFIG", file)
	r := do(t, "events")
	require.Zero(t, r.code, r.err)
	require.Contains(t, r.out, "gate")
	t.Setenv("VMSBRIDGE_CONFIG", "/no/such.yaml")
	t.Setenv("VMSBRIDGE_URL", s.url)
	t.Setenv("VMSBRIDGE_TOKEN_FILE", s.flags[3])
	require.Contains(t, do(t, "events").out, "gate")
}

func TestReachable(t *testing.T) {
	for in, want := range map[string]string{
		"0.0.0.0:8480": "127.0.0.1:8480", ":8480": "127.0.0.1:8480", "[::]:8480": "[::1]:8480",
		"192.168.1.2:80": "192.168.1.2:80", "localhost:1": "localhost:1",
	} {
		require.Equal(t, want, reachable(in), in)
	}
}
