package client_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/vms"
)

// taker is a service that notes how requests came, and answers as it is told.
type taker struct {
	mu     sync.Mutex
	seen   []string // path and coding
	answer func(w http.ResponseWriter, path, coding string, body []byte)
}

func (s *taker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	coding := r.Header.Get("Content-Encoding")
	from := io.Reader(r.Body)
	if coding == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		from = z
	}
	body, _ := io.ReadAll(from)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, strings.TrimSpace(strings.TrimPrefix(r.URL.Path, "/api/v3.0/")+" "+coding))
	s.answer(w, r.URL.Path, coding, body)
}

func (s *taker) took() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.seen
	s.seen = nil
	return out
}

func events(n int) []vms.Event {
	list := make([]vms.Event, n)
	for i := range list {
		start := time.Date(2026, 11, 1, 0, 0, i, 0, time.UTC)
		ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(start),
			EndTimestamp: vms.Ptr(start.Add(time.Second)), Span: true, AccountID: "a",
			ActorID: "cam", ActorAccountID: "a", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
		ev.SetData(vms.CreatorDetails("", vms.CreatorInfo{ID: "b", Vendor: strings.Repeat("v", 800)}))
		list[i] = ev
	}
	return list
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// usual answers as vmscloud does.
func usual(w http.ResponseWriter, path, _ string, body []byte) {
	w.Header().Set("Accept-Encoding", "gzip")
	switch path {
	case vms.PathRegister:
		write(w, 200, vms.Registered{ReportAtOnce: 4})
	case vms.PathEvents:
		var ev vms.Event
		_ = json.Unmarshal(body, &ev)
		write(w, 201, ev)
	case vms.PathReportMany:
		var many vms.ReportMany
		_ = json.Unmarshal(body, &many)
		var out vms.ReportedMany
		for _, raw := range many.Events {
			var ev vms.Event
			_ = json.Unmarshal(raw, &ev)
			out.Results = append(out.Results, vms.Reported{ID: ev.NaturalID()})
		}
		write(w, 200, out)
	}
}

func newTaker(t *testing.T) (*taker, *client.Client) {
	t.Helper()
	s := &taker{answer: usual}
	front := httptest.NewServer(s)
	t.Cleanup(front.Close)
	c, err := client.New(client.Options{BaseURL: front.URL, Token: client.Token("t")})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return s, c
}

func TestReportManyOnlyWhereItIsOffered(t *testing.T) {
	s, c := newTaker(t)
	require.Equal(t, 1, c.AtOnce())
	verdicts, err := c.ReportMany(t.Context(), events(3))
	require.NoError(t, err)
	require.Equal(t, []error{nil}, verdicts)
	require.Equal(t, []string{"events"}, s.took(), "as any other service takes it")

	require.NoError(t, c.Register(t.Context(), vms.Registration{ID: "b"}))
	require.Equal(t, 4, c.AtOnce())
	s.took()
	verdicts, err = c.ReportMany(t.Context(), events(3))
	require.NoError(t, err)
	require.Equal(t, []error{nil, nil, nil}, verdicts)
	require.Equal(t, []string{"events:report gzip"}, s.took())

	// The service is replaced by one that does not have it.
	s.mu.Lock()
	s.answer = func(w http.ResponseWriter, path, coding string, body []byte) {
		if path == vms.PathReportMany {
			write(w, 404, vms.NewError(404, vms.ReasonEndpoint, "no"))
			return
		}
		usual(w, path, coding, body)
	}
	s.mu.Unlock()
	verdicts, err = c.ReportMany(t.Context(), events(3))
	require.NoError(t, err)
	require.Equal(t, []error{nil}, verdicts)
	require.Equal(t, 1, c.AtOnce())
}

func TestReportManyVerdicts(t *testing.T) {
	list := events(4)
	id := func(i int) vms.Reported { return vms.Reported{ID: list[i].NaturalID()} }
	bad := func(code int, reason string) vms.Reported {
		return vms.Reported{Error: vms.NewError(code, reason, "no")}
	}
	for name, test := range map[string]struct {
		results  any
		verdicts string // of each: + taken, - refused
		err      any
	}{
		"one refused":   {[]vms.Reported{id(0), bad(400, vms.ReasonValue), id(2), id(3)}, "+-++", nil},
		"cut short":     {[]vms.Reported{id(0), id(1)}, "++", nil},
		"unknown actor": {[]vms.Reported{id(0), bad(404, vms.ReasonResource)}, "+", new(*vms.RefusedError)},
		"not permitted": {[]vms.Reported{bad(403, vms.ReasonPermission)}, "", new(*vms.ForbiddenError)},
		"not stored": {[]vms.Reported{id(0), id(1), bad(503, vms.ReasonServiceUnavailable)}, "++",
			new(*vms.TransientError)},
		"another event":         {[]vms.Reported{id(0), id(2)}, "+", new(*vms.TransientError)},
		"an error that is none": {[]vms.Reported{bad(200, "")}, "", new(*vms.TransientError)},
		"nothing":               {[]vms.Reported{}, "", new(*vms.TransientError)},
		"too many":              {[]vms.Reported{id(0), id(1), id(2), id(3), id(3)}, "", new(*vms.TransientError)},
		"something else":        {"<html>", "", new(*vms.TransientError)},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := newTaker(t)
			require.NoError(t, c.Register(t.Context(), vms.Registration{ID: "b"}))
			s.mu.Lock()
			s.answer = func(w http.ResponseWriter, _, _ string, _ []byte) {
				write(w, 200, map[string]any{"results": test.results})
			}
			s.mu.Unlock()
			verdicts, err := c.ReportMany(t.Context(), list)
			got := ""
			for _, v := range verdicts {
				if v == nil {
					got += "+"
				} else {
					require.ErrorAs(t, v, new(*vms.RefusedError))
					got += "-"
				}
			}
			require.Equal(t, test.verdicts, got)
			if test.err == nil {
				require.NoError(t, err)
			} else {
				require.ErrorAs(t, err, test.err)
			}
		})
	}
}

// A service, or something before it, that promises gzip and does not understand it costs a second
// request, not an event.
func TestGzipFallsBack(t *testing.T) {
	for _, status := range []int{400, 415} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			s, c := newTaker(t)
			require.NoError(t, c.Register(t.Context(), vms.Registration{ID: "b"}))
			s.mu.Lock()
			s.answer = func(w http.ResponseWriter, path, coding string, body []byte) {
				if coding != "" {
					write(w, status, vms.NewError(status, vms.ReasonContent, "what is this?"))
					return
				}
				usual(w, path, coding, body)
			}
			s.mu.Unlock()
			s.took()
			for range 2 {
				verdicts, err := c.ReportMany(t.Context(), events(2))
				require.NoError(t, err)
				require.Equal(t, []error{nil, nil}, verdicts)
			}
			want := []string{"events:report gzip", "events:report", "events:report gzip", "events:report"}
			if status == 415 {
				want = []string{"events:report gzip", "events:report", "events:report"}
			}
			require.Equal(t, want, s.took())
		})
	}
}

// However many requests meet a token that is no longer good, it is read anew once.
func TestTokenIsReadAnewOnce(t *testing.T) {
	const requests = 8
	var mu sync.Mutex
	reads := 0
	var under sync.WaitGroup
	under.Add(requests)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer new" {
			under.Done()
			under.Wait() // until all of them are under way
			write(w, 401, vms.NewError(401, vms.ReasonUnauthenticated, "no"))
			return
		}
		echo(w, r)
	}))
	defer s.Close()
	c, err := client.New(client.Options{BaseURL: s.URL, Token: func() (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if reads++; reads == 1 {
			return "old", nil
		}
		return "new", nil
	}})
	require.NoError(t, err)
	defer c.Close()
	var wg sync.WaitGroup
	for range requests {
		wg.Go(func() {
			if _, err := c.User(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 2, reads)
}

// A link that carries a few kilobytes in the time that a request may take gets as many events at
// once as it can carry, and more again when it is better.
func TestBatchesOnASlowLink(t *testing.T) {
	const most, perEvent = 64, 10 * time.Millisecond
	var quick atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var many vms.ReportMany
		if r.URL.Path == vms.PathRegister {
			_, _ = io.WriteString(w, fmt.Sprintf(`{"reportAtOnce":%d}`, most))
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if r.URL.Path == vms.PathEvents {
			w.WriteHeader(http.StatusCreated)
			return
		}
		if json.Unmarshal(body, &many) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if !quick.Load() {
			select {
			case <-time.After(time.Duration(len(many.Events)) * perEvent):
			case <-r.Context().Done():
			}
		}
		var out vms.ReportedMany
		for _, raw := range many.Events {
			ev, problems := vms.ParseEvent(raw)
			if len(problems) > 0 {
				t.Error(problems)
			}
			out.Results = append(out.Results, vms.Reported{ID: ev.NaturalID()})
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	defer s.Close()
	c, err := client.New(client.Options{BaseURL: s.URL, Token: client.Token("t"), Timeout: 300 * time.Millisecond})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.Register(t.Context(), vms.Registration{}))
	require.Equal(t, most, c.AtOnce())
	list := events(most)
	_, err = c.ReportMany(t.Context(), list)
	require.Error(t, err, "all at once do not make it")
	require.Equal(t, most/4, c.AtOnce())
	// On a busy machine fewer may make it, but some do.
	require.Eventually(t, func() bool {
		verdicts, err := c.ReportMany(t.Context(), list[:c.AtOnce()])
		return err == nil && len(verdicts) > 0
	}, time.Minute, time.Millisecond)
	quick.Store(true)
	require.Eventually(t, func() bool {
		_, _ = c.ReportMany(t.Context(), list[:c.AtOnce()])
		return c.AtOnce() == most
	}, time.Minute, time.Millisecond)
}
