package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vmsbridge/scripts/harness"
	"vmsbridge/storage/vfs/vfstest"
	"vmsbridge/uplink/vms"
)

// children are the processes that p has started and that run now.
func (p *program) children() (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range stats {
		b, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		// The name in parentheses may hold anything; the state and the parent follow it.
		rest := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if parent, _ := strconv.Atoi(rest[1]); parent == p.cmd.Process.Pid && rest[0] != "Z" {
			pids = append(pids, pid)
		}
	}
	return pids
}

var pictureLine = regexp.MustCompile(`(?m)^vmsbridge_agent_pictures_total\{camera="([^"]+)"\} ([0-9.e+]+)$`)

// pictures is how many pictures of each camera the bridge has looked at.
func (s *site) pictures() map[string]float64 {
	s.t.Helper()
	code, _, body := get(s.t, s.local+"/metrics", lanToken)
	require.Equal(s.t, http.StatusOK, code)
	counts := map[string]float64{}
	for _, m := range pictureLine.FindAllStringSubmatch(string(body), -1) {
		counts[m[1]], _ = strconv.ParseFloat(m[2], 64)
	}
	return counts
}

// stalls watches the cameras for a time and tells the longest time that each went without a
// picture.
func (s *site) stalls(watch time.Duration) map[string]time.Duration {
	s.t.Helper()
	began := time.Now()
	last, at, longest := s.pictures(), map[string]time.Time{}, map[string]time.Duration{}
	for id := range last {
		at[id] = began
	}
	for time.Since(began) < watch {
		time.Sleep(20 * time.Millisecond)
		now := time.Now()
		for id, n := range s.pictures() {
			longest[id] = max(longest[id], now.Sub(at[id]))
			if n > last[id] {
				last[id], at[id] = n, now
			}
		}
	}
	return longest
}

// TestAKilledDecoderCostsOnlyItsOwnCameras: each camera has a decoder process; one after the other
// dies by a signal.
func TestAKilledDecoderCostsOnlyItsOwnCameras(t *testing.T) {
	const second = 10 // pictures
	one := sceneCamera(t, "h264", "--gop", strconv.Itoa(second))
	two := sceneCamera(t, "h265", "--gop", strconv.Itoa(second))
	s := newSite(t, cameraYAML("one", one, "", "tcp", "", "")+cameraYAML("two", two, "", "tcp", "", ""),
		"decode: {cameras_per_process: 1}")
	s.startBridge()
	until(t, 20*time.Second, "pictures of both cameras",
		func() bool { n := s.pictures(); return n["one"] > 5 && n["two"] > 5 })

	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV} {
		pids := s.bridge.children()
		require.Len(t, pids, 2, "a process for each camera")
		require.NoError(t, syscall.Kill(pids[0], signal))
		longest := s.stalls(stretched(4 * time.Second))
		short, long := longest["one"], longest["two"]
		if short > long {
			short, long = long, short
		}
		t.Logf("%v: its camera was without a picture for %v, the other for %v", signal, long, short)
		require.Less(t, long, stretched(2*time.Second),
			"less than a second and the wait for a keyframe, which comes each second")
		require.Less(t, short, stretched(700*time.Millisecond), "the other camera notices nothing")
	}
	pids := s.bridge.children()
	s.bridge.stop(5 * time.Second)
	for _, pid := range pids {
		require.Error(t, syscall.Kill(pid, 0), "no decoder process outlives the bridge")
	}
}

// TestALogThatNobodyReads: who reads the log of either program dies, or hangs, which holds up
// neither: they answer, and end in order when they are told to, of which they would write first.
func TestALogThatNobodyReads(t *testing.T) {
	t.Parallel()
	s := newSite(t, cameraYAML("one", fmt.Sprintf("rtsp://127.0.0.1:%d/cam", harness.Port(t)), "", "tcp", "", ""))
	s.cloud.stop(5 * time.Second)
	for _, of := range []struct {
		health string
		args   []string
	}{
		{s.service, []string{"vmscloud", "run", "--data", s.path("cloud"), "--print-events",
			"--listen", strings.TrimPrefix(s.service, "http://")}},
		{s.local, []string{"vmsbridge", "run", "--config", s.yaml}},
	} {
		for _, hangs := range []bool{false, true} {
			reader, log, err := os.Pipe()
			require.NoError(t, err)
			if hangs {
				size, err := unix.FcntlInt(log.Fd(), unix.F_GETPIPE_SZ, 0)
				require.NoError(t, err)
				_, err = log.Write(make([]byte, size)) // there is no room for a single line
				require.NoError(t, err)
			}
			p := exec.Command(filepath.Join(programs(t), of.args[0]), of.args[1:]...)
			p.Stdout, p.Stderr = log, log
			require.NoError(t, p.Start())
			t.Cleanup(func() { _ = p.Process.Kill() })
			require.NoError(t, log.Close())
			until(t, 20*time.Second, of.args[0]+" to answer", func() bool {
				res, err := (&http.Client{Timeout: time.Second}).Get(of.health + "/healthz")
				if err == nil {
					_ = res.Body.Close()
				}
				return err == nil
			})
			if !hangs {
				require.NoError(t, reader.Close())
			}
			require.NoError(t, p.Process.Signal(syscall.SIGTERM))
			ended := make(chan error, 1)
			go func() { ended <- p.Wait() }()
			select {
			case err := <-ended:
				require.NoError(t, err, "%s did not end in order", of.args[0])
			case <-time.After(stretched(20 * time.Second)):
				t.Fatalf("%s did not end", of.args[0])
			}
			_ = reader.Close()
		}
	}
}

// TestAFullDiskLosesNoEvent: the disk fills up while things move; the bridge stays up and says so,
// and when there is room again every event is there.
func TestAFullDiskLosesNoEvent(t *testing.T) {
	t.Parallel()
	disk := vfstest.TinyDiskHeld(t, 48<<20)
	s := newSite(t, cameraYAML("one", sceneCamera(t, "h264"), "", "tcp", "", ""))
	s.set(`data: "`+s.path("bridge")+`"`, `data: "`+disk+`"`)
	s.startBridge()
	ended := func() (n int) {
		for _, ev := range s.events("one", vms.TypeMotion) {
			if !ev.Ongoing() {
				n++
			}
		}
		return n
	}
	until(t, 40*time.Second, "a motion", func() bool { return ended() >= 1 })

	filler := filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	require.NoError(t, err)
	for block := make([]byte, 64<<10); err == nil; {
		_, err = f.Write(block)
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Close())
	time.Sleep(20 * time.Second) // more than a period of the scene goes by on the full disk
	require.True(t, s.bridge.running())
	_, _, body := get(t, s.local+"/healthz", "")
	t.Logf("health on the full disk: %s", body)
	require.NoError(t, os.Remove(filler))
	until(t, 40*time.Second, "the motions of the time without room", func() bool { return ended() >= 3 })

	events := s.events("one", vms.TypeMotion)
	for i := 1; i < len(events); i++ {
		gap := events[i].StartTimestamp.Sub(events[i-1].StartTimestamp.Time)
		require.Less(t, gap, 20*time.Second, "no motion of the scene, one in 15 s, is missing")
	}
	s.bridge.stop(5 * time.Second)
}

// TestRequestsThatAreRefused holds for the service and for the bridge's own interface alike.
func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, cameraYAML("one", "rtsp://127.0.0.1:9/none", "", "tcp", "", ""))
	s.startBridge()
	s.bridge.line("registered with the service", 20*time.Second)
	// before, an image is refused because nobody can be asked for it
	s.cloud.line("a bridge's tunnel stands", 20*time.Second)
	const window = "&startTimestamp__gte=2026-01-01T00:00:00.000%2B00:00&startTimestamp__lte=2027-01-01T00:00:00.000%2B00:00&type__in=" + vms.TypeMotion
	for _, side := range []struct{ name, base, token string }{{"service", s.service, s.token},
		{"bridge", s.local, lanToken}} {
		for _, c := range []struct {
			name, path, token string
			code              int
			says              string
		}{
			{"no token", "/api/v3.0/events?actor=camera:one", "", 401, "credential"},
			{"a wrong token", "/api/v3.0/events?actor=camera:one", "wrong", 401, "credential"},
			{"no actor", "/api/v3.0/events?x=" + window, side.token, 400, "actor"},
			{"a bad timestamp", "/api/v3.0/events?actor=camera:one&startTimestamp__gte=yesterday", side.token, 400,
				"startTimestamp__gte"},
			{"an unknown camera", "/api/v3.0/events?actor=camera:none" + window, side.token, 404, "not found"},
			{"an unknown parameter", "/api/v3.0/events?actor=camera:one&colour=red" + window, side.token, 400,
				"colour"},
			{"an unknown path", "/api/v3.0/nothing", side.token, 404, "endpoint"},
			{"an image of an unknown camera",
				"/api/v3.0/media/recordedImage.jpeg?deviceId=none&type=preview&timestamp__lt=2026-01-01T00:00:00.000Z",
				side.token, 404, "not found"},
			{"an image that never was",
				"/api/v3.0/media/recordedImage.jpeg?deviceId=one&type=preview&timestamp__lt=2026-01-01T00:00:00.000Z",
				side.token, 404, ""},
			{"an unknown kind of image",
				"/api/v3.0/media/recordedImage.jpeg?deviceId=one&type=huge&timestamp__lt=2026-01-01T00:00:00.000Z",
				side.token, 400, "type"},
		} {
			t.Run(side.name+"/"+c.name, func(t *testing.T) {
				code, header, body := get(t, side.base+c.path, c.token)
				require.Equal(t, c.code, code, "%s", body)
				require.Equal(t, "application/json", strings.Split(header.Get("Content-Type"), ";")[0])
				require.Contains(t, strings.ToLower(string(body)), strings.ToLower(c.says))
				require.Contains(t, string(body), fmt.Sprintf(`"code":%d`, c.code))
			})
		}
	}
	require.True(t, s.bridge.running() && s.cloud.running())
}
