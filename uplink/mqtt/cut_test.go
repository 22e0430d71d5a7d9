package mqtt

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// cutter stands before a broker and breaks each connection after some bytes, of either direction,
// until it is told to stop.
type cutter struct {
	l    net.Listener
	to   string
	wg   sync.WaitGroup
	mu   sync.Mutex // guards the rest
	rng  *rand.Rand
	most int // bytes; 0: it breaks none
	open map[net.Conn]bool
	cuts int
}

func cut(t testing.TB, to string, seed uint64, most int) *cutter {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cutter{l: l, to: to, rng: rand.New(rand.NewPCG(seed, 4)), most: most, open: map[net.Conn]bool{}}
	c.wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			c.wg.Go(func() { c.serve(near) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		c.mu.Lock()
		for conn := range c.open {
			_ = conn.Close()
		}
		c.mu.Unlock()
		c.wg.Wait()
	})
	return c
}

func (c *cutter) serve(near net.Conn) {
	far, err := net.Dial("tcp", c.to)
	if err != nil {
		_ = near.Close()
		return
	}
	c.mu.Lock()
	limits := [2]int64{1 << 40, 1 << 40} // to the broker, from it
	if c.most > 0 {
		limits = [2]int64{int64(c.rng.IntN(c.most)), int64(c.rng.IntN(c.most / 50))}
		c.cuts++
	}
	c.open[near], c.open[far] = true, true
	c.mu.Unlock()
	var both sync.WaitGroup
	for i, pair := range [][2]net.Conn{{far, near}, {near, far}} {
		both.Go(func() {
			_, _ = io.CopyN(pair[0], pair[1], limits[i])
			_ = near.Close()
			_ = far.Close()
		})
	}
	both.Wait()
	c.mu.Lock()
	delete(c.open, near)
	delete(c.open, far)
	c.mu.Unlock()
}

func (c *cutter) heal() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.most = 0
	return c.cuts
}

func (c *cutter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cuts
}

// Wherever a connection breaks, each event arrives, in order but for what comes again, and the
// states are right in the end.
func TestConnectionsThatBreak(t *testing.T) {
	t.Parallel()
	b := startBroker(t, "allow_anonymous true", "max_queued_messages 0", "max_inflight_messages 0")
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			c := cut(t, b.addr(), seed, 20_000)
			prefix := "vmsbridge/" + fmt.Sprint(seed)
			l := listen(t, b)
			s := newSite(t, "mqtt://"+c.l.Addr().String(), func(o *Options) {
				o.Prefix, o.ClientID, o.Discovery = prefix, prefix, ""
				o.FirstPause, o.MaxPause = time.Millisecond, 5*time.Millisecond
			})
			var want []string
			for i := range 200 {
				want = append(want, s.put("gate", vms.TypeMotion, time.Duration(2000-10*i)*time.Second, time.Second).ID)
			}
			eventually(t, func() bool { return c.count() > 10 || s.home.Status().Waiting == 0 })
			s.put("gate", vms.TypeMotion, time.Second, 0)
			cuts := c.heal()
			eventually(t, func() bool { return s.home.Status().Waiting == 0 && l.last(prefix+"/gate/motion") == "ON" },
				"%+v", s.home.Status())
			require.Zero(t, s.home.Status().Refused)
			first := func() (ids []string) { // in the order in which they came first
				seen := map[string]bool{}
				for _, ev := range l.on(prefix + "/events") {
					id := idOf(t, ev)
					if !seen[id] {
						ids = append(ids, id)
					}
					seen[id] = true
				}
				return ids
			}
			// The broker has them all; the listener may have got only some, and of those some
			// twice.
			eventually(t, func() bool { return len(first()) > len(want) }, "an event is lost")
			require.Equal(t, want, first()[:len(want)])
			require.Equal(t, "online", l.last(prefix+"/status"))
			t.Logf("%d connections, %d messages for %d events", cuts, len(l.on(prefix+"/events")), len(want)+1)
			require.Greater(t, cuts, 5)
		})
	}
}
