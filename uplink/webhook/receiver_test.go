package webhook

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/storage/journal"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	patience = 45 * time.Second
	secret   = "0123456789abcdef-of-the-hook"
)

// receiver is someone's server. It checks every request as the documentation says, and answers as
// answer says; nil: 204.
type receiver struct {
	*httptest.Server
	t testing.TB

	mu     sync.Mutex
	answer func(w http.ResponseWriter, r *http.Request, ev vms.Event) bool // true: it has the event
	got    []vms.Event
	keys   map[string]int
	seen   map[string]bool // signatures
	calls  int
}

func receive(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, ev vms.Event) bool) *receiver {
	r := &receiver{t: t, answer: answer, keys: map[string]int{}, seen: map[string]bool{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	var ev vms.Event
	signature := q.Header.Get(HeaderSignature)
	switch {
	case err != nil, q.Method != http.MethodPost, json.Unmarshal(body, &ev) != nil,
		q.Header.Get("Content-Type") != "application/json":
		r.t.Errorf("a request that is none: %s %v %q", q.Method, err, body)
	case Verify(secret, signature, body, time.Now(), time.Minute) != nil:
		r.t.Errorf("a bad signature: %s", signature)
	}
	r.seen[signature] = true
	key := q.Header.Get(HeaderKey)
	if r.answer != nil && !r.answer(w, q, ev) {
		return
	}
	if r.keys[key]++; r.keys[key] == 1 {
		r.got = append(r.got, ev)
	}
	if r.answer == nil {
		w.WriteHeader(http.StatusNoContent)
	}
}

func (r *receiver) set(answer func(w http.ResponseWriter, r *http.Request, ev vms.Event) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// ids are the events that it has, without what came twice; … marks those that go on.
func (r *receiver) ids(actor string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []string{}
	for _, ev := range r.got {
		if actor != "" && ev.ActorID != actor {
			continue
		}
		if ev.Ongoing() {
			list = append(list, ev.ID+"…")
		} else {
			list = append(list, ev.ID)
		}
	}
	return list
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

// with answers with a code.
func with(code int) func(w http.ResponseWriter, r *http.Request, ev vms.Event) bool {
	return func(w http.ResponseWriter, _ *http.Request, _ vms.Event) bool {
		w.WriteHeader(code)
		return code/100 == 2
	}
}

// site is a journal with hooks.
type site struct {
	t       testing.TB
	path    string
	journal *journal.Journal
	cursors []*journal.Cursor
}

func newSite(t testing.TB, hooks ...string) *site {
	s := &site{t: t, path: filepath.Join(t.TempDir(), "journal.db")}
	s.open(hooks...)
	t.Cleanup(func() { _ = s.journal.Close() })
	return s
}

func (s *site) open(hooks ...string) {
	var err error
	s.journal, err = journal.Open(s.path, journal.Options{})
	require.NoError(s.t, err)
	s.cursors, err = s.journal.Cursors(hooks...)
	require.NoError(s.t, err)
}

// run starts a hook on a cursor; stop ends it.
func (s *site) run(i int, url string, change func(*Options)) (h *Hook, stop func()) {
	s.t.Helper()
	o := Options{ID: s.cursors[i].Name(), URL: url, Secret: func() (string, error) { return secret, nil }, Bridge: "b1",
		Feed:       s.cursors[i],
		FirstPause: 10 * time.Millisecond, MaxPause: 50 * time.Millisecond, StuckAfter: 200 * time.Millisecond,
		Timeout: 2 * time.Second}
	if change != nil {
		change(&o)
	}
	h, err := New(o)
	require.NoError(s.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	once := sync.OnceFunc(func() { cancel(); require.NoError(s.t, <-done) })
	s.t.Cleanup(once)
	return h, once
}

// put puts an event of a second at that place in time; of zero length it goes on.
func (s *site) put(actor, kind string, at int, length time.Duration) string {
	s.t.Helper()
	ev := vms.Event{Type: kind, StartTimestamp: vms.At(began.Add(time.Duration(at) * time.Second)), Span: true,
		AccountID: "acc", ActorID: actor,
		ActorAccountID: "acc", ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
	if length > 0 {
		ev.EndTimestamp = vms.Ptr(ev.StartTimestamp.Add(length))
	}
	ev.SetData(vms.CreatorDetails(vms.CreatorMotion, vms.CreatorInfo{ID: vms.CreatorMotion}))
	ev.ID = ev.NaturalID()
	require.NoError(s.t, s.journal.Put(ev, false))
	return ev.ID
}

var (
	began               = time.Now()
	_     delivery.Feed = (*journal.Cursor)(nil)
)

func eventually(t testing.TB, f func() bool, what ...any) {
	t.Helper()
	require.Eventually(t, f, patience, 5*time.Millisecond, what...)
}
