package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/client"
	"vmsbridge/uplink/delivery"
	"vmsbridge/uplink/vms"
)

// fill puts so many events of each camera into the outbox, those of cameras in turn.
func (b *bridge) fill(t testing.TB, each int) {
	t.Helper()
	var batch []vms.Event
	for n := range each {
		for cam := range b.cameras {
			if batch = append(batch, motion(cam, n)); len(batch) == 1000 {
				require.NoError(t, b.journal.PutAll(batch, true))
				batch = batch[:0]
			}
		}
	}
	require.NoError(t, b.journal.PutAll(batch, true))
}

// known waits until the service has an event, and says how long that took.
func (s *cloud) knows(t testing.TB, c *client.Client, id string, within time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	require.Eventually(t, func() bool {
		_, err := c.Event(t.Context(), id)
		return err == nil
	}, within, 5*time.Millisecond, "the service does not know %s", id)
	return time.Since(began)
}

// While a large backlog drains, what is new goes ahead of it, also of the camera that the backlog
// is of; and the backlog drains on. How long that takes, two seconds at most, is measured by
// scripts/bench uplink -million: here it is the order that counts, since both take their time on a
// busy machine.
func TestFreshBesideBacklog(t *testing.T) {
	const each, enough = 10_000, 6_000
	s := startCloud(t)
	b := newBridge(t, 2, client.Options{BaseURL: s.url, Token: client.Token(s.token)}, delivery.Options{})
	b.fill(t, each)
	require.NoError(t, b.register(t.Context()))
	b.run(t)
	direct, err := client.New(client.Options{BaseURL: s.url, Token: client.Token(s.token)})
	require.NoError(t, err)
	defer direct.Close()
	// What is put before reporting begins is backlog itself.
	require.Eventually(t, func() bool { return b.waiting(t) < 2*each }, 2*time.Minute, time.Millisecond)
	n := 0
	for left := b.waiting(t); left > enough; left = b.waiting(t) {
		ev := motion(n%2, each+n)
		n++
		require.NoError(t, b.journal.Put(ev, true))
		took := s.knows(t, direct, ev.ID, 2*time.Minute)
		t.Logf("%d waited: accepted after %s", left, took)
		require.Greater(t, b.waiting(t), enough/6, "it waited for the backlog")
	}
	require.Positive(t, n)
	require.Eventually(t, func() bool { return b.waiting(t) == 0 }, 5*time.Minute, 10*time.Millisecond)
}
