package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/vms"
)

// stop ends the service in order.
func (s *cloud) stop(t testing.TB) {
	t.Helper()
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		t.Fatal("vmscloud does not stop")
	}
}

// A real bridge reports; then the service goes back to a copy of earlier, and later loses its
// events altogether. Each time it has them all again soon, each once, and a service that starts
// with an empty book says so.
func TestAServiceThatLostItsEventsGetsThemAgain(t *testing.T) {
	s := startCloud(t)
	user := s.command(t, "token", "create", "--kind", "user", "--quiet")
	b := newSite(t, s, "  - {id: cam0, url: \"rtsp://127.0.0.1:1/none\"}")
	b.start(t)
	next := 0
	post := func(n int) {
		for range n {
			b.post(t, motion(0, next))
			next++
		}
	}
	events := func() (n int, doubled bool) {
		c, err := client.New(client.Options{BaseURL: s.url, Token: client.Token(user)})
		require.NoError(t, err)
		defer c.Close()
		seen := map[string]bool{}
		for ev, err := range c.AllEvents(t.Context(),
			vms.Query{Actors: []vms.Actor{{Type: vms.ActorCamera, ID: "cam0"}}, Types: []string{vms.TypeMotion},
				PageSize: 500}) {
			if err != nil {
				return -1, false // it is starting
			}
			doubled = doubled || seen[ev.ID]
			seen[ev.ID] = true
		}
		return len(seen), doubled
	}
	all := func() {
		t.Helper()
		require.Eventually(t, func() bool { n, _ := events(); return n == next }, 2*time.Minute, 50*time.Millisecond)
		n, doubled := events()
		require.Equal(t, next, n)
		require.False(t, doubled)
	}
	again := func() {
		s.done = make(chan struct{})
		s.serve(t, s.url[len("http://"):])
	}
	book := filepath.Join(s.data, "events.db")
	post(20)
	all()
	raw, err := os.ReadFile(book) // nobody writes
	require.NoError(t, err)
	post(25)
	all()
	s.stop(t)
	before := b.metric(t, "vmsbridge_link_registrations_total")
	again()
	require.Eventually(t, func() bool { return b.metric(t, "vmsbridge_link_registrations_total") > before },
		2*time.Minute, 10*time.Millisecond,
		"the bridge registers when its tunnel stands again")
	s.stop(t)
	require.NoError(t, os.WriteFile(book, raw, 0o600)) // yesterday's
	again()
	post(1)
	all()
	s.stop(t)
	require.NoError(t, os.Remove(book)) // what is beside it has all
	again()
	s.mu.Lock()
	require.NotContains(t, s.warned, "the book of events is empty")
	s.mu.Unlock()
	all()
	s.stop(t)
	parts, err := filepath.Glob(book + "*")
	require.NoError(t, err)
	for _, part := range parts {
		require.NoError(t, os.Remove(part))
	}
	again()
	s.mu.Lock()
	require.Contains(t, s.warned, "the book of events is empty")
	s.mu.Unlock()
	all()
}
