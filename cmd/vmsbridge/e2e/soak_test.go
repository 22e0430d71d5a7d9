package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// TestSoak runs a bridge for SOAK_FOR (scripts/soak) with good and bad cameras, while the service comes and goes by SOAK_SEED. What it
// uses must not grow: memory, open files, goroutines, processes. In the end the service has every event, once, and the stores are sound.
func TestSoak(t *testing.T) {
	if os.Getenv("SOAK_FOR") == "" {
		t.Skip("for hours, by scripts/soak")
	}
	span, err := time.ParseDuration(os.Getenv("SOAK_FOR"))
	require.NoError(t, err)
	seed, err := strconv.ParseUint(os.Getenv("SOAK_SEED"), 10, 64)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(seed, 3))

	var cameras strings.Builder
	ids := []string{"h264", "h265", "mjpeg", "loss", "garbage", "bye"}
	for _, id := range ids {
		codec, more := "h264", []string{"--length", "20", "--seed", fmt.Sprint(seed)}
		switch id {
		case "h265", "mjpeg":
			codec = id
		case "loss", "garbage":
			more = append(more, "--misbehave", id+"=500")
		case "bye":
			more = append(more, "--misbehave", id)
		}
		cameras.WriteString(cameraYAML(id, sceneCamera(t, codec, more...), "", "auto", "", ""))
	}
	s := newSite(t, cameras.String())
	s.set("level: debug", "level: info")
	s.startBridge()

	var used []use
	for end := time.Now().Add(span); time.Now().Before(end); {
		s.bridge.pause(min(30*time.Second, time.Until(end)+time.Second))
		u := s.uses()
		used = append(used, u)
		t.Logf("%s %s", time.Now().UTC().Format(time.TimeOnly), u)
		switch rng.IntN(4) {
		case 0:
			if s.cloud.running() {
				s.cloud.kill()
			}
		default:
			if !s.cloud.running() {
				s.startCloud()
			}
		}
	}
	if !s.cloud.running() {
		s.startCloud()
	}
	until(t, 2*time.Minute, "the bridge to report all", func() bool {
		var h struct {
			Outbox struct{ Waiting, Parked int }
		}
		_, _, body := get(t, s.local+"/healthz", "")
		require.NoError(t, json.Unmarshal(body, &h))
		require.Zero(t, h.Outbox.Parked)
		return h.Outbox.Waiting == 0
	})
	for _, id := range []string{"h264", "h265", "mjpeg"} {
		seen := map[string]bool{}
		for _, ev := range s.events(id, vms.TypeMotion) {
			require.False(t, seen[ev.ID], "%s is at the service twice", ev.ID)
			seen[ev.ID] = true
		}
		require.GreaterOrEqual(t, len(seen), int(span/(30*time.Second)), "motion of camera %s", id)
	}
	s.bridge.stop(10 * time.Second)
	s.requireSound(0)

	// The first third is warming up; what follows is compared by medians, so that one cycle of the collector proves nothing.
	if warm := used[len(used)/3:]; len(warm) >= 8 {
		before, after := median(warm[:len(warm)/2]), median(warm[len(warm)/2:])
		t.Logf("first half: %s; second half: %s", before, after)
		require.Less(t, after.resident, before.resident*5/4, "memory grows")
		require.LessOrEqual(t, after.files, before.files+4, "open files grow")
		require.LessOrEqual(t, after.threads, before.threads+6, "threads grow")
		require.LessOrEqual(t, after.processes, before.processes+1, "processes grow")
	}
}

// use is what a bridge and its processes use.
type use struct{ resident, files, threads, processes int }

func (u use) String() string {
	return fmt.Sprintf("%d MiB, %d files, %d threads, %d processes", u.resident>>10, u.files, u.threads, u.processes)
}

// uses adds up the bridge and its decoder processes. One that ends meanwhile counts as far as it was seen.
func (s *site) uses() (u use) {
	s.t.Helper()
	for _, pid := range append(s.bridge.children(), s.bridge.cmd.Process.Pid) {
		u.processes++
		dir := fmt.Sprintf("/proc/%d/", pid)
		if fds, err := os.ReadDir(dir + "fd"); err == nil {
			u.files += len(fds)
		}
		status, _ := os.ReadFile(filepath.Join(dir, "status"))
		for line := range strings.Lines(string(status)) {
			var n int
			if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &n); err == nil {
				u.resident += n
			}
			if _, err := fmt.Sscanf(line, "Threads: %d", &n); err == nil {
				u.threads += n
			}
		}
	}
	require.NoError(s.t, s.bridge.cmd.Process.Signal(syscall.Signal(0)), "the bridge runs")
	return u
}

func median(all []use) use {
	of := func(field func(use) int) int {
		n := make([]int, len(all))
		for i, u := range all {
			n[i] = field(u)
		}
		slices.Sort(n)
		return n[len(n)/2]
	}
	return use{of(func(u use) int { return u.resident }), of(func(u use) int { return u.files }), of(func(u use) int { return u.threads }),
		of(func(u use) int { return u.processes })}
}
