package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/server"
	"vmsbridge/uplink/vms"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is the real server over a journal of its own, behind a front that a test may break. It notes
// the order in which events became known.
type site struct {
	events *journal.Journal
	url    string
	listen string
	http   *http.Server
	front  func(http.Handler) http.Handler

	mu    sync.Mutex // guards order
	order []string
}

func (s *site) CameraIDs(string, string) []string                         { return nil }
func (s *site) CameraOf(string, string) (cam vms.Camera, ok bool)         { return cam, false }
func (s *site) HasActor(context.Context, string, vms.Actor) (bool, error) { return true, nil }
func (s *site) Get(_, id string) (vms.Event, error)                       { return s.events.Get(id) }
func (s *site) List(q vms.Query, c *vms.Cursor) (vms.Page, error)         { return s.events.List(q, c) }
func (s *site) Put(ev vms.Event, _ bool) error {
	if err := s.events.Put(ev, false); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.order, ev.ID) {
		s.order = append(s.order, ev.ID)
	}
	return nil
}

func newSite(t testing.TB, front func(http.Handler) http.Handler) *site {
	t.Helper()
	s := &site{events: openJournal(t, filepath.Join(t.TempDir(), "service.db")), listen: "127.0.0.1:0", front: front}
	s.start(t)
	t.Cleanup(s.stop)
	return s
}

func (s *site) start(t testing.TB) {
	t.Helper()
	tokens := identity.NewFixed()
	require.NoError(t, tokens.Add("good", identity.Principal{Name: "b", Kind: identity.KindBridge, AccountID: "acc-1"}))
	api, err := server.New(server.Options{Events: s, Cameras: s, Auth: tokens, NotFound: journal.ErrNotFound})
	require.NoError(t, err)
	var h http.Handler = api
	if s.front != nil {
		h = s.front(api)
	}
	l, err := net.Listen("tcp", s.listen)
	require.NoError(t, err)
	s.listen, s.url = l.Addr().String(), "http://"+l.Addr().String()
	s.http = server.NewHTTP(h, nil)
	s.http.ErrorLog = log.New(io.Discard, "", 0)
	started := s.http
	go func() { _ = started.Serve(l) }()
}

func (s *site) stop() { _ = s.http.Close() }

func openJournal(t testing.TB, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(path, journal.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

var t0 = time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)

func motion(actor string, n int) vms.Event {
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(t0.Add(time.Duration(n) * time.Second)), Span: true,
		AccountID: "acc-1",
		ActorID:   actor, ActorAccountID: "acc-1", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
	ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "b", Vendor: "v"}),
		vms.ObjectDetection("", "camera-"+actor+":1", ev.StartTimestamp.Time, [4]float64{0.1, 0.2, 0.3, 0.4}))
	ev.ID = ev.NaturalID()
	return ev
}

func ended(ev vms.Event) vms.Event {
	ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(4 * time.Second))
	return ev
}

// quick are pauses for a test's patience. However slow the machine is, nothing that waits counts as
// a backlog that is overtaken, so that the order is strict.
var quick = delivery.Options{FirstPause: time.Millisecond, MaxPause: 20 * time.Millisecond,
	AuthPause: 20 * time.Millisecond,
	Drain:     time.Second, Overtake: time.Hour}

// report runs a reporter until stop is called.
func report(t testing.TB, j *journal.Journal, base string, o delivery.Options) (r *delivery.Engine, stop func()) {
	t.Helper()
	c, err := client.New(client.Options{BaseURL: base, Token: client.Token("good"), Timeout: 250 * time.Millisecond})
	require.NoError(t, err)
	r = engine(j, c, nil, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = r.Run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done; c.Close() })
	t.Cleanup(stop)
	return r, stop
}

func drained(t testing.TB, j *journal.Journal, within time.Duration) {
	t.Helper()
	require.Eventually(t, func() bool {
		s, err := j.OutboxStats()
		return err == nil && s.Waiting == 0
	}, within, 5*time.Millisecond)
}

// holds checks that the service has just these events, each once, ended, in order for each actor.
func (s *site) holds(t testing.TB, actors, each int) {
	t.Helper()
	page, err := s.events.List(vms.Query{PageSize: 10000}, nil)
	require.NoError(t, err)
	require.Equal(t, actors*each, page.Total)
	for _, ev := range page.Events {
		require.False(t, ev.Ongoing(), "%s has not got its end", ev.ID)
		require.Len(t, ev.Data, 2)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.order, actors*each)
	for a := range actors {
		prefix := fmt.Sprintf("cam%d-", a)
		own := slices.DeleteFunc(slices.Clone(s.order), func(id string) bool { return id[:len(prefix)] != prefix })
		require.True(t, slices.IsSorted(own), "events of %s became known out of order", prefix)
	}
}

// faults breaks requests before or after the server has handled them.
var faults = map[string]func(w http.ResponseWriter, r *http.Request, next http.Handler){
	"reset before": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { hangUp(w) },
	"reset after stored": func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		hangUp(w)
	},
	"half an answer": func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		w.Header().Set("Content-Length", fmt.Sprint(rec.Body.Len()))
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
		panic(http.ErrAbortHandler)
	},
	"500": code(500, "", "boom"), "502": code(502, "text/html", "<html>Bad Gateway"), "503": code(503, "", ""),
	"429": code(429, "application/json", `{"code":429,"message":"slow down"}`), "404 of a proxy": code(404, "text/html", "<html>nginx"),
	"portal":  code(200, "text/html", "<html>Log in"),
	"garbage": code(201, "application/json", "{\x00\xff"),
	"another event": func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		w.WriteHeader(rec.Code)
		_, _ = w.Write(bytes.ReplaceAll(rec.Body.Bytes(), []byte(`"actorId":"cam`), []byte(`"actorId":"pam`)))
	},
	"too slow": func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
	},
}

func code(status int, contentType, body string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func hangUp(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

// flaky breaks every request for which broken says so.
func flaky(fault string, broken func() bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if broken() {
				faults[fault](w, r, next)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Under each fault, hitting a third of the requests, every event arrives once, in order, and none
// is parked.
func TestEachFault(t *testing.T) {
	for fault := range faults {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			const actors, each = 3, 8
			s := newSite(t, flaky(fault, func() bool { return rand.IntN(3) == 0 }))
			j := openJournal(t, filepath.Join(t.TempDir(), "bridge.db"))
			_, stop := report(t, j, s.url, quick)
			for n := range each {
				for a := range actors {
					ev := motion(fmt.Sprintf("cam%d", a), n)
					require.NoError(t, j.Put(ev, true)) // ongoing
					require.NoError(t, j.Put(ended(ev), true))
				}
			}
			drained(t, j, 2*time.Minute)
			stop()
			s.holds(t, actors, each)
			stats, err := j.OutboxStats()
			require.NoError(t, err)
			require.Zero(t, stats.Parked)
		})
	}
}

// The service is stopped and started under load, and the bridge's reporter too, with its journal
// closed and opened again: requests under way are cut off at both ends, go on at the service and go
// again, and no two events of an actor become known in another order.
func TestStopsAndStarts(t *testing.T) {
	const actors, each = 4, 60
	s := newSite(t, nil)
	path := filepath.Join(t.TempDir(), "bridge.db")
	j := openJournal(t, path)
	_, stop := report(t, j, s.url, quick)
	for n := range each {
		for a := range actors {
			require.NoError(t, j.Put(ended(motion(fmt.Sprintf("cam%d", a), n)), true))
		}
		switch n {
		case 10, 40:
			s.stop()
		case 20, 50:
			s.start(t)
		case 15, 30, 45:
			stop()
			require.NoError(t, j.Close())
			j = openJournal(t, path)
			_, stop = report(t, j, s.url, quick)
		}
	}
	drained(t, j, 2*time.Minute)
	stop()
	s.holds(t, actors, each)
}

// What the service refuses is parked with its words; what is behind it arrives.
func TestRefusedByTheRealServer(t *testing.T) {
	s := newSite(t, nil)
	j := openJournal(t, filepath.Join(t.TempDir(), "bridge.db"))
	r, _ := report(t, j, s.url, quick)
	bad := ended(motion("cam0", 1))
	bad.DataSchemas = append(bad.DataSchemas, vms.SchemaDeviceStatus)
	for _, ev := range []vms.Event{ended(motion("cam0", 0)), bad, ended(motion("cam0", 2))} {
		require.NoError(t, j.Put(ev, true))
	}
	drained(t, j, 2*time.Minute)
	s.holds(t, 1, 2)
	parked, err := j.Parked()
	require.NoError(t, err)
	require.Len(t, parked, 1)
	require.Equal(t, bad.ID, parked[0].Event.ID)
	require.Contains(t, parked[0].Reason, "cannot be attached")
	require.EqualValues(t, 1, r.Status().Refused)
	require.Eventually(t, func() bool { return r.Status().State == delivery.Idle }, time.Minute, time.Millisecond)
}

func TestWrongTokenParksNothing(t *testing.T) {
	s := newSite(t, nil)
	j := openJournal(t, filepath.Join(t.TempDir(), "bridge.db"))
	token := "wrong"
	var mu sync.Mutex
	c, err := client.New(client.Options{BaseURL: s.url, Token: func() (string, error) {
		mu.Lock()
		defer mu.Unlock()
		return token, nil
	}})
	require.NoError(t, err)
	defer c.Close()
	r := engine(j, c, nil, quick)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	require.NoError(t, j.Put(ended(motion("cam0", 0)), true))
	require.Eventually(t, func() bool { return r.Status().State == delivery.Unauthorized && r.Status().Failures > 3 },
		time.Minute, time.Millisecond)
	stats, err := j.OutboxStats()
	require.NoError(t, err)
	require.Equal(t, 1, stats.Waiting)
	mu.Lock()
	token = "good" // someone mends the file
	mu.Unlock()
	drained(t, j, 2*time.Minute)
	cancel()
	require.True(t, errors.Is(<-done, context.Canceled))
	s.holds(t, 1, 1)
}

// go test ./uplink/delivery -run '^$' -bench Drain
//
// Both journals are real and on the same disk, so each event costs two commits, shared with those
// of other actors.
func BenchmarkDrain(b *testing.B) {
	for _, actors := range []int{1, 8, 16, 64} {
		b.Run(fmt.Sprintf("actors=%d", actors), func(b *testing.B) {
			backlog := min(4000, 500*actors)
			var total, took float64
			for b.Loop() {
				b.StopTimer()
				s := newSite(b, nil)
				j := openJournal(b, filepath.Join(b.TempDir(), "bridge.db"))
				var wg sync.WaitGroup
				for a := range actors {
					wg.Go(func() {
						for n := range backlog / actors {
							if err := j.Put(ended(motion(fmt.Sprintf("cam%d", a), n)), true); err != nil {
								b.Error(err)
							}
						}
					})
				}
				wg.Wait()
				b.StartTimer()
				began := time.Now()
				_, stop := report(b, j, s.url, delivery.Options{})
				drained(b, j, time.Minute)
				took += time.Since(began).Seconds()
				total += float64(backlog / actors * actors)
				b.StopTimer()
				stop()
				s.stop()
				require.NoError(b, j.Close())
				require.NoError(b, s.events.Close())
				b.StartTimer()
			}
			b.ReportMetric(total/took, "events/s")
		})
	}
}
