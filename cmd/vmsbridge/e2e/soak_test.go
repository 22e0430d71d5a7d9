package e2e

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSoak runs a site for SOAK_FOR (scripts/soak) with good and bad cameras, through faults chosen
// by SOAK_SEED: the service, the link, the bridge, decoders and cameras go away and come back. What
// is told stays true, and what bridge and service use does not grow: memory, open files,
// goroutines, threads, processes.
func TestSoak(t *testing.T) {
	if os.Getenv("SOAK_FOR") == "" {
		t.Skip("for hours, by scripts/soak")
	}
	duration, err := time.ParseDuration(os.Getenv("SOAK_FOR"))
	require.NoError(t, err)
	seed, err := strconv.ParseUint(os.Getenv("SOAK_SEED"), 10, 64)
	require.NoError(t, err)
	var bad strings.Builder
	for _, id := range []string{"loss", "garbage", "bye"} {
		fault := id
		if id != "bye" {
			fault += "=500"
		}
		bad.WriteString(cameraYAML(id, sceneCamera(t, "h264", "--length", "20", "--misbehave", fault), "", "auto", "",
			""))
	}
	c := newChaos(t, 4, seed, bad.String())
	var used []use
	checked := time.Now()
	for end := time.Now().Add(duration); time.Now().Before(end); {
		c.bridge.pause(min(time.Duration(20+c.rng.IntN(40))*time.Second, time.Until(end)+time.Second))
		u := c.uses()
		used = append(used, u)
		t.Logf("%s %s", time.Now().UTC().Format(time.TimeOnly), u)
		if time.Since(checked) > 10*time.Minute {
			c.check()
			checked = time.Now()
		}
		c.fault("")
	}
	c.bridge.pause(10 * time.Second)
	c.check()
	c.bridge.stop(15 * time.Second)
	c.requireSound(0)

	// The first third is warming up. What follows is compared by medians, so that one cycle of the
	// collector proves nothing.
	if warm := used[len(used)/3:]; len(warm) >= 8 {
		before, after := median(warm[:len(warm)/2]), median(warm[len(warm)/2:])
		t.Logf("first half: %s; second half: %s", before, after)
		require.Less(t, after.resident, before.resident*5/4, "memory grows")
		require.LessOrEqual(t, after.files, before.files+4, "open files grow")
		require.LessOrEqual(t, after.threads, before.threads+6, "threads grow")
		require.LessOrEqual(t, after.processes, before.processes+1, "processes grow")
		require.LessOrEqual(t, after.goroutines, before.goroutines+10, "goroutines grow")
		require.Less(t, after.service, before.service*5/4+20<<10, "the service's memory grows")
	}
}

// use is what a bridge and its processes use, and the memory of its service. Memory is in KiB.
type use struct{ resident, files, threads, processes, goroutines, service int }

func (u use) String() string {
	return fmt.Sprintf("%d MiB, %d files, %d threads, %d processes, %d goroutines; the service %d MiB",
		u.resident>>10, u.files, u.threads, u.processes, u.goroutines, u.service>>10)
}

var goroutineLine = regexp.MustCompile(`(?m)^go_goroutines ([0-9]+)$`)

// resident is the memory of a process in KiB, and its threads.
func resident(pid int) (kib, threads int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		var n int
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &n); err == nil {
			kib = n
		}
		if _, err := fmt.Sscanf(line, "Threads: %d", &n); err == nil {
			threads = n
		}
	}
	return kib, threads
}

// uses adds up the bridge and its decoder processes. One that ends meanwhile counts as far as it
// was seen.
func (s *site) uses() (u use) {
	s.t.Helper()
	if m := goroutineLine.FindStringSubmatch(s.metrics()); m != nil {
		u.goroutines, _ = strconv.Atoi(m[1])
	}
	u.service, _ = resident(s.cloud.cmd.Process.Pid)
	for _, pid := range append(s.bridge.children(), s.bridge.cmd.Process.Pid) {
		u.processes++
		dir := fmt.Sprintf("/proc/%d/", pid)
		if fds, err := os.ReadDir(dir + "fd"); err == nil {
			u.files += len(fds)
		}
		kib, threads := resident(pid)
		u.resident += kib
		u.threads += threads
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
	return use{of(func(u use) int { return u.resident }), of(func(u use) int { return u.files }),
		of(func(u use) int { return u.threads }),
		of(func(u use) int { return u.processes }), of(func(u use) int { return u.goroutines }),
		of(func(u use) int { return u.service })}
}
