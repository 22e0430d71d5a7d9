package mqtt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// guard is the cameras of a bridge, which can be armed.
type guard struct {
	mu      sync.Mutex // guards all
	armed   map[string]bool
	changed chan struct{}
	wishes  []string
}

func withArming(o *Options) *guard {
	g := &guard{armed: map[string]bool{"gate": true, "yard.2": true}, changed: make(chan struct{})}
	o.Armed, o.Arm = g.states, g.arm
	return g
}

func (g *guard) states() (map[string]bool, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.armed), g.changed
}

func (g *guard) arm(_ context.Context, camera string, armed bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wishes = append(g.wishes, fmt.Sprint(camera, " ", armed))
	if camera == "yard.2" && armed {
		return errors.New("the disk is full")
	}
	for c := range g.armed {
		if camera == "" || c == camera {
			g.armed[c] = armed
		}
	}
	close(g.changed)
	g.changed = make(chan struct{})
	return nil
}

func (g *guard) wished() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.wishes)
}

// What somebody publishes arms and disarms, and is answered by the state, retained, also where
// nothing changes; what is no wish, what lay there before, and what is for no camera does nothing.
func TestArmThroughTheBroker(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	say := func(topic, payload string, more ...string) {
		runProgram(t, "mosquitto_pub", append([]string{"-h", "127.0.0.1", "-p", fmt.Sprint(b.port), "-q", "1",
			"-t", topic, "-m", payload}, more...)...)
	}
	say("vmsbridge/b1/gate/armed/set", "OFF", "-r") // of yesterday
	var g *guard
	s := newSite(t, b.url(), func(o *Options) { g = withArming(o) })
	s.up()
	const all, gate, yard = "vmsbridge/b1/armed", "vmsbridge/b1/gate/armed", "vmsbridge/b1/yard.2/armed"
	l := listen(t, b)
	eventually(t, func() bool { return l.last(all) == "ON" && l.last(gate) == "ON" && l.last(yard) == "ON" })
	require.Empty(t, g.wished())

	for _, no := range []string{"", "maybe", "1", strings.Repeat("x", 20_000)} {
		say(gate+"/set", no)
	}
	say("vmsbridge/b1/attic/armed/set", "OFF")
	say(gate+"/set", "OFF")
	eventually(t, func() bool { return l.last(gate) == "OFF" })
	require.Equal(t, []string{"gate false"}, g.wished())
	require.Equal(t, "ON", l.last(all), "one is armed")
	say(gate+"/set", "off")
	eventually(t, func() bool { return len(l.on(gate)) == 3 }, "a wish that changes nothing has no answer")
	say(all+"/set", "OFF")
	eventually(t, func() bool { return l.last(all) == "OFF" && l.last(yard) == "OFF" })
	before := len(l.on(yard))
	say(yard+"/set", "ON") // which cannot be done
	eventually(t, func() bool { return len(l.on(yard)) > before })
	require.Equal(t, "OFF", l.last(yard))
	require.NoError(t, g.arm(t.Context(), "gate", true)) // by the schedule
	eventually(t, func() bool { return l.last(all) == "ON" && l.last(gate) == "ON" })
	later := listen(t, b)
	eventually(t, func() bool { return later.last(gate) == "ON" && later.last(yard) == "OFF" })
	require.True(t, s.home.Status().Up)

	// Who wants none gets none, and nothing stays behind.
	s.stop()
	s.options.Armed, s.options.Arm = nil, nil
	s.start()
	s.up()
	last := listen(t, b)
	eventually(t, func() bool { return last.last(status) == "online" })
	require.Empty(t, last.on(gate))
	require.NotContains(t, fmt.Sprint(last.heard()), "/switch/")
}

// A broker that does not let the bridge read gets its events all the same.
func TestBrokerThatLetsNobodyArm(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/acl", []byte("topic write #\n"), 0o600))
	b := startBroker(t, "allow_anonymous true", "acl_file "+dir+"/acl")
	s := newSite(t, b.url(), func(o *Options) { withArming(o) })
	ev := s.put("gate", vms.TypeMotion, 0, 1)
	eventually(t, func() bool { return s.home.Status().Sent > 0 }, "%s", ev.ID)
	require.True(t, s.home.Status().Up)
}
