package outbound

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/supervisor"
	"vmsbridge/configs"
	"vmsbridge/storage/journal"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

const patience = 45 * time.Second

func eventually(t *testing.T, f func() bool, what ...any) {
	t.Helper()
	require.Eventually(t, f, patience, 10*time.Millisecond, what...)
}

// receiver is a hook that notes the actors of its events.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
}

func newReceiver(t *testing.T) *receiver {
	s := &receiver{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var ev vms.Event
		_ = json.NewDecoder(r.Body).Decode(&ev)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got = append(s.got, ev.ActorID)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *receiver) actors() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.got...)
}

func parse(t *testing.T, dir, text string) *configs.Config {
	t.Helper()
	cfg, err := configs.Parse(filepath.Join(dir, "x.yaml"), []byte(text))
	require.NoError(t, err)
	return cfg
}

func put(t *testing.T, j *journal.Journal, actor string) {
	t.Helper()
	at := time.Now()
	ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(at), EndTimestamp: vms.Ptr(at), AccountID: "a",
		ActorID: actor, ActorAccountID: "a",
		ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
	ev.ID = ev.NaturalID()
	require.NoError(t, j.Put(ev, false))
}

func open(t *testing.T, j *journal.Journal, cfg *configs.Config, reg prometheus.Registerer) *Outbound {
	o, err := Open(cfg, Options{Journal: j, Version: "1", Registerer: reg,
		backoff: supervisor.Backoff{Min: 10 * time.Millisecond}})
	require.NoError(t, err)
	return o
}

func run(t *testing.T, o *Outbound) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx) }()
	once := sync.OnceFunc(func() { cancel(); require.ErrorIs(t, <-done, context.Canceled) })
	t.Cleanup(once)
	return once
}

func apply(t *testing.T, o *Outbound, cfg *configs.Config) {
	t.Helper()
	apply, err := o.Prepare(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, apply(ctx))
}

// settle waits until the sinks have noted what they handed over. What is under way when a sink is
// stopped is handed over again.
func settle(t *testing.T, h *Outbound) {
	t.Helper()
	eventually(t, func() bool {
		return !slices.ContainsFunc(h.Status(), func(s delivery.SinkStatus) bool { return s.Waiting > 0 })
	})
}

func openJournal(t *testing.T) *journal.Journal {
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal.db"), journal.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

func hookYAML(id, url, secret string) string {
	return fmt.Sprintf("  - {id: %s, url: '%s', %s}\n", id, url, secret)
}

const key = "secret: 0123456789abcdef"

// A changed configuration: a sink that stays goes on where it was, one that comes begins with what
// comes, and one that goes is gone.
func TestApply(t *testing.T) {
	j, dir := openJournal(t), t.TempDir()
	one, two := newReceiver(t), newReceiver(t)
	reg := prometheus.NewRegistry()
	first := parse(t, dir, "webhooks:\n"+hookYAML("one", one.URL, key))
	h := open(t, j, first, reg)
	put(t, j, "a")
	run(t, h)
	eventually(t, func() bool { return len(one.actors()) == 1 })
	settle(t, h)
	apply(t, h, first) // nothing changed

	apply(t, h, parse(t, dir, "webhooks:\n"+hookYAML("two", two.URL, key)+hookYAML("one", one.URL, key)))
	eventually(t, func() bool { return len(h.Status()) == 2 })
	put(t, j, "b")
	eventually(t, func() bool { return len(one.actors()) == 2 && len(two.actors()) == 1 })
	eventually(t, func() bool { return h.Status()[1].Sent == 2 }, "it was not made anew")
	settle(t, h)
	apply(t, h, parse(t, dir, "webhooks:\n"+hookYAML("two", two.URL, key)))
	eventually(t, func() bool { return len(h.Status()) == 1 && h.Status()[0].Name == "two" })
	found, err := reg.Gather()
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, f := range found {
		require.Len(t, f.GetMetric(), 1)
		require.Equal(t, "webhook/two", f.GetMetric()[0].GetLabel()[0].GetValue())
	}
	put(t, j, "c")
	eventually(t, func() bool { return len(two.actors()) == 2 })
	require.Equal(t, []string{"a", "b"}, one.actors())
	require.Equal(t, []string{"b", "c"}, two.actors())
	apply(t, h, parse(t, dir, ""))
	eventually(t, func() bool { return len(h.Status()) == 0 })
}

// A secret in a file is read again when it changes.
func TestSecretFileIsRenewed(t *testing.T) {
	j, dir := openJournal(t), t.TempDir()
	signatures := make(chan string, 10)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		signatures <- r.Header.Get("Vmsbridge-Signature")
	}))
	defer s.Close()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s"), []byte("0123456789abcdef\n"), 0o600))
	h := open(t, j, parse(t, dir, "webhooks:\n"+hookYAML("one", s.URL, "secret_file: s")), nil)
	run(t, h)
	put(t, j, "a")
	require.NotEmpty(t, <-signatures)
	require.NoError(t, os.Remove(filepath.Join(dir, "s")))
	put(t, j, "b")
	eventually(t, func() bool { return h.Status()[0].Problem != "" })
	require.NotContains(t, fmt.Sprintf("%+v", h.Status()), "0123456789abcdef")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s"), []byte("another-secret-than-before\n"), 0o600))
	select {
	case got := <-signatures:
		require.NotEmpty(t, got)
	case <-time.After(patience):
		t.Fatal("nothing came after the secret was back")
	}
}

// broken is a sink that panics, and then ends.
type broken struct{ runs atomic.Int32 }

func (b *broken) Run(context.Context) error {
	if b.runs.Add(1) == 1 {
		panic("a bug")
	}
	return errors.New("ended")
}

// A sink that panics takes neither the process nor the others with it.
func TestASinkThatBreaks(t *testing.T) {
	j, s := openJournal(t), newReceiver(t)
	h := open(t, j, parse(t, t.TempDir(), "webhooks:\n"+hookYAML("one", s.URL, key)), nil)
	b := &broken{}
	tasks, _, err := h.tasks(parse(t, t.TempDir(), "webhooks:\n"+hookYAML("one", s.URL, key)))
	require.NoError(t, err)
	require.NoError(t, h.set.Set(append(tasks, h.task("broken", nil,
		func(prometheus.Registerer) (supervisor.Worker, error) { return b, nil }))))
	run(t, h)
	put(t, j, "a")
	eventually(t, func() bool { return b.runs.Load() >= 1 && len(s.actors()) == 1 })
	eventually(t, func() bool { return b.runs.Load() >= 2 })
}

// What cannot be made is refused with its reason, and what ran goes on; a bridge that starts with
// it does not run.
func TestSinksThatCannotBeMade(t *testing.T) {
	j, s, dir := openJournal(t), newReceiver(t), t.TempDir()
	h := open(t, j, parse(t, dir, "webhooks:\n"+hookYAML("one", s.URL, key)), nil)
	run(t, h)
	cfg := parse(t, dir, "webhooks:\n"+hookYAML("two", "https://127.0.0.1:1/", key))
	cfg.Webhooks[0].CAFile = filepath.Join(dir, "went-away.pem")
	_, err := h.Prepare(cfg)
	require.ErrorContains(t, err, "webhook/two")
	require.ErrorContains(t, err, "went-away.pem")
	put(t, j, "a")
	eventually(t, func() bool { return len(s.actors()) == 1 })
	_, err = Open(cfg, Options{Journal: j})
	require.ErrorContains(t, err, "went-away.pem")
}
