package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/arming"
	"vmsbridge/scripts/harness"
)

// A camera that is switched by hand stays so over a restart, and follows a schedule as soon as the
// file has another one.
func TestArmAndDisarm(t *testing.T) {
	t.Parallel()
	yaml := quietYAML + "clock: {wait: 0s}\narm: {schedule: [], time_zone: UTC}\n" +
		"cameras:\n  - {id: gate, url: 'rtsp://h/'}\n  - {id: yard, url: 'rtsp://h/', arm: {schedule: [%SCHEDULE]}}\n"
	b := newBridge(t, strings.Replace(yaml, "%SCHEDULE", "", 1))
	r := do(t, "disarm", "-c", b.file)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "start it with: vmsbridge service start")

	b.start()
	harness.Until(t, "the clock to be known", func() bool { return do(t, "disarm", "gate", "-c", b.file).code == 0 })
	for _, wrong := range []struct {
		args []string
		code int
		says string
	}{{[]string{"disarm", "gait"}, exitFailed, "There is no camera gait; there are gate, yard."},
		{[]string{"arm", "--for", "soon"}, exitUsage, `"soon" is not a length of time`},
		{[]string{"arm", "--for", "1ms"}, exitUsage, "name a second at least"},
		{[]string{"arm", "--for", "400d"}, exitFailed, "up to 366 days"}} {
		r := do(t, append(wrong.args, "-c", b.file)...)
		require.Equal(t, wrong.code, r.code, "%v", wrong.args)
		require.Contains(t, r.err, wrong.says)
	}
	r = do(t, "disarm", "yard", "--for", "2h", "--json", "-c", b.file)
	require.Zero(t, r.code, r.err)
	var list []arming.State
	require.NoError(t, json.Unmarshal([]byte(r.out), &list))
	require.Equal(t, arming.State{Camera: "gate", ByHand: true}, list[0])
	require.WithinDuration(t, time.Now().Add(2*time.Hour), list[1].Until, time.Minute)
	until := list[1].Until

	b.stop()
	b.start()
	harness.Until(t, "the clock to be known", func() bool {
		r := b.status()
		return len(r.Cameras) == 2 && r.Cameras[1].Disarmed
	})
	r = do(t, "status", "-c", b.file)
	require.Contains(t, r.out, "gate: disarmed by hand: motion makes no events")
	require.Contains(t, r.out, "yard: disarmed by hand until "+until.Format("2006-01-02T15:04:05Z"))

	r = do(t, "arm", "-c", b.file)
	require.Zero(t, r.code, r.err)
	require.Equal(t, "gate  armed  -\nyard  armed  -\n", r.out)

	soon := time.Now().UTC().Add(3 * time.Hour)
	b.write(strings.Replace(yaml, "%SCHEDULE", fmt.Sprintf("%02d:00-%02d:30", soon.Hour(), soon.Hour()), 1))
	r = do(t, "service", "reload", "-c", b.file)
	require.Zero(t, r.code, r.err)
	require.Contains(t, r.out, "applied: cameras[].arm\n")
	require.NotContains(t, r.out, "restarted")
	r = do(t, "status", "-c", b.file)
	require.Contains(t, r.out, "yard: disarmed by the schedule until "+soon.Format("2006-01-02T15:00:00Z"))
	require.NotRegexp(t, "gate: (dis)?armed", r.out)
}
