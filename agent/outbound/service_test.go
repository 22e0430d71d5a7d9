package outbound

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/clock"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/vms"
)

func TestABridgeThatTheServiceDoesNotKnowSaysSo(t *testing.T) {
	var status atomic.Int64
	status.Store(http.StatusUnauthorized)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(int(status.Load()))
		_, _ = w.Write([]byte(`{"code":401,"message":"no"}`))
	}))
	defer service.Close()
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	lines := &counting{}
	l, err := newService(configs.Service{URL: service.URL, Token: configs.NewSecret("0123456789abcdef")},
		Options{Journal: j,
			Clock: clock.New(clock.Options{Machine: clock.System(), Log: slog.New(lines)}),
			Profile: func() vms.Registration {
				return vms.Registration{ID: "b"}
			}, Version: "1", Log: slog.New(lines)}, prometheus.NewRegistry())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	require.Eventually(t, func() bool { return l.Problem() == refusesToken }, time.Minute, time.Millisecond)
	status.Store(http.StatusServiceUnavailable)
	require.Eventually(t, func() bool {
		return l.Problem() != refusesToken && l.Problem() != ""
	}, time.Minute, time.Millisecond)
	status.Store(http.StatusOK)
	require.Eventually(t, func() bool { return l.Problem() == "" }, time.Minute, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Less(t, lines.n.Load(), int64(6), "a line for each new reason")
}

// A service, or a proxy before it, asks for a day's pause. It is asked again sooner, but not soon,
// and people are told when: they may have mended it long before.
func TestAServiceThatAsksForALongPause(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != vms.PathEvents {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Retry-After", "86400")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer service.Close()
	_, ev, l := waiting(t, service.URL)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	var until time.Time
	var err error
	require.Eventually(t, func() bool {
		_, at, ok := strings.Cut(l.Problem(), "the service asks not to be asked before ")
		if ok {
			at, _, ok = strings.Cut(at, "; events wait")
			until, err = time.Parse(time.RFC3339, at)
		}
		return ok && err == nil
	}, time.Minute, time.Millisecond)
	require.WithinDuration(t, ev.StartTimestamp.Add(15*time.Minute), until, 2*time.Minute)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
}

// A box that was made from a copy of another one's disk: status says so, and the service's book,
// which has the other's mark, is not taken for one that lost events.
func TestAnotherBridgeIsThisOne(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != vms.PathRegister {
			w.WriteHeader(http.StatusCreated)
			return
		}
		_ = json.NewEncoder(w).Encode(vms.Registered{Twins: true, Book: &vms.Book{Service: "s", Low: 1}})
	}))
	defer service.Close()
	j, _, l := waiting(t, service.URL)
	require.NoError(t, l.book.load())
	was := l.book.known
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	require.Eventually(t, func() bool {
		s, err := j.OutboxStats()
		return err == nil && s.Waiting == 0 && strings.Contains(l.Problem(), "has this one's id and token")
	}, time.Minute, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Equal(t, was, l.book.known)
}

// A service of another make has no registration, and says so in its own way. Events go to it all
// the same.
func TestAServiceWithoutRegistrationGetsEvents(t *testing.T) {
	for name, c := range map[string]struct {
		code       int
		kind, body string
	}{
		"the interface's words": {404, "application/json",
			`{"code":404,"status":"notFound","message":"The API endpoint was not found","details":[{"type":"errorInfo","reason":"endpointNotFound","domain":"apiv3"}]}`},
		"a framework's page":          {404, "text/html", "<pre>Cannot POST /api/v3.0/bridges:register</pre>"},
		"a framework's text":          {404, "text/plain", "404 page not found\n"},
		"nothing":                     {404, "", ""},
		"a method that is not there":  {405, "text/plain", "Method Not Allowed"},
		"not implemented":             {501, "text/html", "<html>Unsupported method</html>"},
		"a gateway":                   {403, "application/json", `{"message":"Missing Authentication Token"}`},
		"whatever it does not expect": {400, "application/json", `{"error":"unknown operation"}`},
		"a page for every path":       {200, "text/html", "<html>app</html>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got atomic.Int64
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == vms.PathEvents {
					got.Add(1)
					if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte("stranger")) {
						w.WriteHeader(http.StatusNotFound)
						_, _ = io.WriteString(w, `{"message":"no such camera"}`)
						return
					}
					w.WriteHeader(http.StatusNoContent)
					return
				}
				w.Header().Set("Content-Type", c.kind)
				w.WriteHeader(c.code)
				_, _ = w.Write([]byte(c.body))
			}))
			defer service.Close()
			j, ev, l := waiting(t, service.URL)
			parked := 0
			if c.code/100 == 4 || c.code/100 == 5 { // whom it does not know it never will, and says so for good
				parked, ev.ActorID = 1, "stranger"
				ev.ID = ev.NaturalID()
				require.NoError(t, j.Put(ev, true))
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- l.Run(ctx) }()
			require.Eventually(t, func() bool {
				s, err := j.OutboxStats()
				return err == nil && s.Waiting == 0 && s.Parked == parked && got.Load() == int64(1+parked)
			}, time.Minute, time.Millisecond, l.Problem())
			cancel()
			require.ErrorIs(t, <-done, context.Canceled)
		})
	}
}

// waiting is a journal with one event for the service at url, and who reports it once it runs.
func waiting(t *testing.T, url string) (*journal.Journal, vms.Event, *Service) {
	t.Helper()
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	now := vms.At(time.Now())
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: now, EndTimestamp: &now, Span: true, AccountID: "a",
		ActorID: "c", ActorAccountID: "a", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
	ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "b", Vendor: "v"}))
	ev.ID = ev.NaturalID()
	require.NoError(t, j.Put(ev, true))
	log := slog.New(slog.DiscardHandler)
	watch := clock.New(clock.Options{Machine: clock.System(), Log: log}) // it believes the machine at once
	require.NoError(t, watch.Open(j, noStills{j}))
	l, err := newService(configs.Service{URL: url, Token: configs.NewSecret("0123456789abcdef")},
		Options{Journal: j, Clock: watch, Profile: func() vms.Registration { return vms.Registration{ID: "b"} },
			Version: "1", Log: log}, prometheus.NewRegistry())
	require.NoError(t, err)
	return j, ev, l
}

// noStills is clock.Stores with a journal alone.
type noStills struct{ *journal.Journal }

func (s noStills) SettleEvents(era uint32, shift time.Duration, _ *clock.Note) (int, bool, error) {
	return s.Settle(era, shift, nil)
}
func (noStills) SettleStills(uint32, time.Duration) error { return nil }

// counting is a slog.Handler that counts.
type counting struct {
	slog.Handler
	n atomic.Int64
}

func (c *counting) Enabled(context.Context, slog.Level) bool  { return true }
func (c *counting) Handle(context.Context, slog.Record) error { c.n.Add(1); return nil }
func (c *counting) WithAttrs([]slog.Attr) slog.Handler        { return c }
func (c *counting) WithGroup(string) slog.Handler             { return c }

// What the service does not do of a registration is said once: cameras that it does not take, and,
// to a bridge without a tunnel, that it does not ask at its address, and what to do.
func TestAnAddressThatTheServiceDoesNotAskAt(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"b","name":"","cameras":[],"addressUnasked":"it is not in the plan"}`)
	}))
	defer service.Close()
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	var log bytes.Buffer
	quiet := slog.New(slog.NewTextHandler(&log, nil))
	for _, tunnel := range []bool{false, true} {
		log.Reset()
		l, err := newService(configs.Service{URL: service.URL, Token: configs.NewSecret("0123456789abcdef")},
			Options{Journal: j,
				Clock: clock.New(clock.Options{Machine: clock.System(), Log: quiet}),
				Profile: func() vms.Registration {
					return vms.Registration{ID: "b", Address: "http://10.0.0.1"}
				}, Version: "1", Log: quiet}, prometheus.NewRegistry())
		require.NoError(t, err)
		if tunnel {
			require.NoError(t, l.keepTunnel(service.URL, "b", http.NotFoundHandler()))
		}
		for range 3 {
			require.NoError(t, l.register(t.Context()))
		}
		_, problem := l.Tunnel()
		if tunnel {
			require.Empty(t, problem)
			require.NotContains(t, log.String(), "plan")
			continue
		}
		require.Contains(t, problem, "it is not in the plan")
		require.Contains(t, problem, "service.tunnel: true")
		require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("it is not in the plan")), log.String())
	}
}
