package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// cutOff is the line of a bridge that ends a motion which the run before left open.
var cutOff = regexp.MustCompile(`msg="ended a span that the last run left open" id=(cam\d)-(\S+Z|\S+\+00:00)-` + regexp.QuoteMeta(vms.TypeMotion) + ` end=(\S+)`)

// confirmed is the line of a motion that has begun, and over that of one that has ended.
var (
	confirmed = regexp.MustCompile(`msg="motion began" camera=(cam\d) `)
	over      = regexp.MustCompile(`msg="motion ended" camera=(cam\d) `)
)

// TestAKillCostsNoMotionItsEnd kills the bridge in the midst of motions. Each ends in the book
// within a second of the last picture with motion, by the account of a bridge beside it that nobody
// kills, and none has no length.
func TestAKillCostsNoMotionItsEnd(t *testing.T) {
	t.Parallel()
	kills := 2
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		kills = n // KILLS=60 go test -v -timeout 30m -run TestAKillCosts ./cmd/vmsbridge/e2e
	}
	rng := rand.New(rand.NewPCG(1, uint64(kills)))
	ids, yaml := fourCameras(t)
	dir := t.TempDir()
	control, b := newLone(t, filepath.Join(dir, "control"), yaml), newLone(t, filepath.Join(dir, "killed"), yaml)
	control.program = start(t, "vmsbridge", "run", "--config", control.yaml)
	type cut struct {
		camera           string
		killed, from, to time.Time // to: the end in the book
	}
	var cuts []cut
	var killed time.Time
	open := 0
	for n := 0; n <= kills; n++ {
		b.program = start(t, "vmsbridge", "run", "--config", b.yaml)
		b.line("the bridge runs", 30*time.Second)
		found := cutOff.FindAllStringSubmatch(b.output(), -1)
		require.Len(t, found, open, "each motion that was open at kill %d is ended", n)
		for _, m := range found {
			from, err := vms.ParseTime(m[2])
			require.NoError(t, err)
			to, err := vms.ParseTime(m[3])
			require.NoError(t, err)
			cuts = append(cuts, cut{m[1], killed, from.Time, to.Time})
		}
		if n == kills {
			break
		}
		until(t, 30*time.Second, "a motion", func() bool { return confirmed.MatchString(b.output()) })
		b.pause(time.Duration(200+rng.IntN(4000)) * time.Millisecond)
		// The log comes before the journal has the event: what is seen now and waits a moment is
		// durable.
		before := b.output()
		b.pause(300 * time.Millisecond)
		b.kill()
		killed = time.Now()
		after := b.output()
		open = 0
		for _, id := range ids {
			count := func(of *regexp.Regexp, in string) (n int) {
				for _, m := range of.FindAllStringSubmatch(in, -1) {
					if m[1] == id {
						n++
					}
				}
				return n
			}
			if count(confirmed, before) != count(confirmed, after) || count(over, before) != count(over, after) {
				open = -1 << 20 // something happened in just that moment
			}
			open += count(confirmed, after) - count(over, after)
		}
		if open < 0 {
			b.program = start(t, "vmsbridge", "run", "--config", b.yaml) // this kill does not count
			b.line("the bridge runs", 30*time.Second)
			b.kill()
			open = 0
			n--
		}
	}
	require.NotEmpty(t, cuts)
	time.Sleep(stretched(3 * time.Second)) // the control's motions end, too
	var errs []time.Duration
	for _, c := range cuts {
		last := c.killed
		for _, ev := range control.motions(t, c.camera) {
			if !ev.StartTimestamp.After(c.to) && !ev.Ongoing() && ev.EndTimestamp.After(c.from) &&
				ev.EndTimestamp.Before(last) {
				last = ev.EndTimestamp.Time // the last picture with motion came before the kill
			}
		}
		require.True(t, c.to.After(c.from), "a confirmed motion of %s has no length", c.camera)
		errs = append(errs, last.Sub(c.to))
	}
	slices.Sort(errs)
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("%d kills, %d motions cut off: the end in the book is before the last picture with motion by %v (median), "+
		"%v to %v; load %s", kills, len(errs), errs[len(errs)/2], errs[0],
		errs[len(errs)-1], fmt.Sprintf("%.5s", load))
	require.LessOrEqual(t, errs[len(errs)-1], time.Second+stretched(300*time.Millisecond),
		"a note a second, and what the machine takes from picture to note")
	require.GreaterOrEqual(t, errs[0], -200*time.Millisecond, "no motion goes on after its last picture")
}
