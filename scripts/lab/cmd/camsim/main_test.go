package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vmsbridge/agent/camera"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "12") // these tests wait far more than they compute
	goleak.VerifyTestMain(m)
}

func needFFmpeg(t *testing.T) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed, drawn H.264 and H.265 are not tested: apt install ffmpeg (scripts/deps does)")
	}
}

// serveSim runs camsim until the end of the test and returns its ready line and the addresses in
// it.
func serveSim(t *testing.T, args ...string) (line string, urls []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := run(ctx, append([]string{"--listen", "127.0.0.1:0", "--size", "96x64"}, args...), in)
		_ = in.CloseWithError(err)
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	buf := make([]byte, 4096)
	n, err := out.Read(buf)
	require.NoError(t, err)
	line = string(buf[:n])
	require.True(t, strings.HasPrefix(line, "camsim ready: "), line)
	return line, regexp.MustCompile(`rtsp://[^ ]+`).FindAllString(line, -1)
}

// collector reads a stream with agent/camera.
type collector struct {
	mu     sync.Mutex
	units  []camera.AccessUnit
	states []camera.Status
	src    *camera.Source
}

func collect(t *testing.T, cfg camera.Config) *collector {
	t.Helper()
	cfg.Camera = "sim"
	src, err := camera.New(cfg, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	c := &collector{src: src}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = src.Run(ctx, camera.Handler{
			OnUnit:   func(u camera.AccessUnit) { c.mu.Lock(); c.units = append(c.units, u); c.mu.Unlock() },
			OnStatus: func(s camera.Status) { c.mu.Lock(); c.states = append(c.states, s); c.mu.Unlock() },
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return c
}

func (c *collector) until(t *testing.T, what string,
	cond func([]camera.AccessUnit, []camera.Status) bool) []camera.AccessUnit {
	t.Helper()
	end := time.Now().Add(20 * time.Second)
	for {
		c.mu.Lock()
		ok := cond(c.units, c.states)
		units, states := append([]camera.AccessUnit(nil), c.units...), append([]camera.Status(nil), c.states...)
		c.mu.Unlock()
		if ok {
			return units
		}
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s; %d units, states %+v", what, len(units), states)
		}
		<-time.After(10 * time.Millisecond)
	}
}

func atLeast(n int) func([]camera.AccessUnit, []camera.Status) bool {
	return func(u []camera.AccessUnit, _ []camera.Status) bool { return len(u) >= n }
}

// Each codec, over each transport and sign-in, arrives whole, in order, at its rate, and can be
// decoded by ffmpeg.
func TestServesEachCodec(t *testing.T) {
	for _, tc := range []struct {
		name, codec, transport string
		args                   []string
		demuxer                string
	}{
		{"h264", "h264", "tcp", nil, "h264"},
		{"h264 b-frames", "h264", "udp", []string{"--bframes", "2", "--auth", "basic"}, "h264"},
		{"h265", "h265", "tcp", []string{"--auth", "digest"}, "hevc"},
		{"h265 b-frames", "h265", "udp", []string{"--bframes", "2"}, "hevc"},
		{"mjpeg", "mjpeg", "udp", []string{"--auth", "digest-sha256"}, "mjpeg"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			needFFmpeg(t)
			args := append([]string{"--codec", tc.codec, "--fps", "10", "--gop", "10"}, tc.args...)
			cfg := camera.Config{Transport: tc.transport, AllowInsecureBasic: true}
			if len(tc.args) > 0 && strings.Contains(strings.Join(tc.args, " "), "--auth") {
				cfg.Username, cfg.Password = "viewer", "p@ss w%rd/ü\"'"
				args = append(args, "--user", cfg.Username, "--password", cfg.Password)
			}
			_, urls := serveSim(t, args...)
			cfg.URL = urls[0]
			c := collect(t, cfg)
			units := c.until(t, "40 units", atLeast(40))
			require.True(t, units[0].NewStream)
			require.Equal(t, camera.Codec(tc.codec), units[0].Codec)
			require.Equal(t, 96, units[0].Width)
			seen := map[time.Time]bool{}
			first, last := units[0].Time, units[0].Time
			stream := []byte{}
			for i, u := range units {
				require.False(t, seen[u.Time], "unit %d has the time of another", i)
				seen[u.Time] = true
				require.Equal(t, tc.codec == "mjpeg" || i%10 == 0, u.RandomAccess, "unit %d", i)
				require.False(t, u.Damaged, "unit %d", i)
				if u.Time.After(last) {
					last = u.Time
				}
				stream = append(stream, u.Data...)
			}
			require.InDelta(t, 10, float64(len(units)-1)/last.Sub(first).Seconds(), 3, "pictures per second")

			file := filepath.Join(t.TempDir(), "stream")
			require.NoError(t, os.WriteFile(file, stream, 0o600))
			out, err := exec.Command("ffmpeg", "-v", "error", "-xerror", "-f", tc.demuxer, "-i", file, "-f", "framecrc",
				"-").CombinedOutput()
			require.NoError(t, err, string(out))
			pictures := 0
			for line := range bytes.SplitSeq(out, []byte("\n")) {
				if bytes.HasPrefix(line, []byte("0,")) {
					pictures++
				}
			}
			require.Equal(t, len(units), pictures)
		})
	}
}

func TestSubstreamAndTruth(t *testing.T) {
	truth := filepath.Join(t.TempDir(), "truth.csv")
	line, urls := serveSim(t, "--codec", "mjpeg", "--preview-size", "64x48", "--truth", truth, "--fps", "5")
	require.Contains(t, line, "scene person in a loop of 30s, start 20")
	require.Len(t, urls, 2)
	require.True(t, strings.HasSuffix(urls[1], "/cam/sub"), urls[1])
	for i, width := range []int{96, 64} {
		c := collect(t, camera.Config{URL: urls[i]})
		require.Equal(t, width, c.until(t, "a unit", atLeast(1))[0].Width)
	}
	b, err := os.ReadFile(truth)
	require.NoError(t, err)
	require.Equal(t, "start_s,end_s\n4.000,12.000\n18.000,26.000\n", string(b))
}

// Every fault is seen by the camera package as what it is, and where it can be helped, it is
// helped.
func TestMisbehaviours(t *testing.T) {
	state := func(s camera.State) func([]camera.AccessUnit, []camera.Status) bool {
		return func(_ []camera.AccessUnit, states []camera.Status) bool {
			for _, st := range states {
				if st.State == s {
					return true
				}
			}
			return false
		}
	}
	twoStreams := func(units []camera.AccessUnit, _ []camera.Status) bool {
		n := 0
		for _, u := range units {
			if u.NewStream {
				n++
			}
		}
		return n >= 2
	}
	online := atLeast(5)
	short := camera.Config{StaleAfter: 2 * time.Second, KeyframeAfter: time.Second, ReadTimeout: 2 * time.Second}
	for _, tc := range []struct {
		fault string
		codec string
		want  func([]camera.AccessUnit, []camera.Status) bool
	}{
		{"silent", "mjpeg", state(camera.Stale)},
		{"freeze=1", "mjpeg", twoStreams},
		{"bye=1", "mjpeg", twoStreams},
		{"disconnect=1", "mjpeg", twoStreams},
		{"ssrc=1", "mjpeg", twoStreams},
		{"no-keyframe", "h264", state(camera.NoKeyframe)},
		{"no-params", "h264", online},
		{"garbage", "h264", state(camera.NoKeyframe)},
		{"no-tcp", "mjpeg", online},
		{"busy", "mjpeg", state(camera.Refused)},
		{"forbidden", "mjpeg", state(camera.Refused)},
		{"same-time", "mjpeg", atLeast(15)},
	} {
		t.Run(tc.fault, func(t *testing.T) {
			t.Parallel()
			if tc.codec == "h264" {
				needFFmpeg(t)
			}
			_, urls := serveSim(t, "--codec", tc.codec, "--fps", "10", "--gop", "10", "--misbehave", tc.fault)
			cfg := short
			cfg.URL = urls[0]
			collect(t, cfg).until(t, tc.fault, tc.want)
		})
	}
	t.Run("loss=20", func(t *testing.T) {
		t.Parallel()
		_, urls := serveSim(t, "--codec", "mjpeg", "--fps", "10", "--misbehave", "loss=20")
		c := collect(t, camera.Config{URL: urls[0]})
		c.until(t, "lost packets", func([]camera.AccessUnit, []camera.Status) bool {
			return c.src.Stats().LostPackets > 2
		})
	})
	t.Run("jump=1", func(t *testing.T) {
		t.Parallel()
		_, urls := serveSim(t, "--codec", "mjpeg", "--fps", "10", "--misbehave", "jump=1")
		c := collect(t, camera.Config{URL: urls[0]})
		c.until(t, "re-anchoring", func([]camera.AccessUnit, []camera.Status) bool {
			return c.src.Stats().Reanchored >= 2
		})
		for _, u := range c.until(t, "units", atLeast(1)) {
			require.WithinDuration(t, time.Now(), u.Time, time.Minute)
		}
	})
	t.Run("ntp=7200", func(t *testing.T) {
		t.Parallel()
		_, urls := serveSim(t, "--codec", "mjpeg", "--fps", "10", "--misbehave", "ntp=7200")
		c := collect(t, camera.Config{URL: urls[0]})
		c.until(t, "sender report", func([]camera.AccessUnit, []camera.Status) bool {
			return c.src.Stats().CameraClockKnown
		})
		require.InDelta(t, 7200, c.src.Stats().CameraClock.Seconds(), 1)
		require.WithinDuration(t, time.Now(), c.until(t, "a unit", atLeast(1))[0].Time, time.Minute)
	})
}

func TestWrongArguments(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--codec", "av1"}, "codec"},
		{[]string{"--size", "large"}, "write it as 640x360"},
		{[]string{"--scene", "parade", "--codec", "mjpeg"}, "no such scene"},
		{[]string{"--misbehave", "dance"}, "there is no such fault"},
		{[]string{"--misbehave", "loss=0"}, "must be 1 to 1000000"},
		{[]string{"--user", "x", "--auth", "none", "--codec", "mjpeg", "--size", "64x48", "--fps", "1"},
			"--user and --password together"},
		{[]string{"--auth", "certificate", "--codec", "mjpeg", "--size", "64x48", "--fps", "1"}, "must be none, basic"},
		{[]string{"--clip", "/no/such/file.mp4"}, "no such file"},
		{[]string{"--listen", "203.0.113.1:1", "--codec", "mjpeg", "--size", "64x48", "--fps", "1"},
			"listen on 203.0.113.1:1"},
	} {
		var out bytes.Buffer
		err := run(t.Context(), tc.args, &out)
		require.ErrorContains(t, err, tc.want, "%v", tc.args)
	}
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"--scene", "help"}, &out))
	require.Contains(t, out.String(), "headlights    beams of cars")
	out.Reset()
	require.NoError(t, run(t.Context(), []string{"--list-faults"}, &out))
	require.Contains(t, out.String(), "ssrc")
}

// The port of one camera cannot be taken by another.
func TestPortInUse(t *testing.T) {
	_, urls := serveSim(t, "--codec", "mjpeg", "--fps", "1", "--transport", "tcp")
	addr := strings.TrimSuffix(strings.TrimPrefix(urls[0], "rtsp://"), "/cam")
	for _, transport := range []string{"tcp", "both"} {
		err := run(t.Context(), []string{"--listen", addr, "--codec", "mjpeg", "--size", "64x48", "--fps", "1",
			"--transport", transport}, io.Discard)
		require.ErrorContains(t, err, "in use")
	}
}
