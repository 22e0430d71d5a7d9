package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vmsbridge/agent/codec/testclip"
	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/vms"
)

// In testclip.Box, the box is in the picture from 4 s to 6.375 s.
const (
	boxFrom = 4.0
	boxTo   = 6.375
)

// encodedBox is the clip as H.264 in MP4, made once.
var encodedBox struct {
	sync.Mutex
	content []byte
}

// boxMP4 is the clip in the usual form.
func boxMP4(t *testing.T) string {
	t.Helper()
	encodedBox.Lock()
	defer encodedBox.Unlock()
	if encodedBox.content == nil {
		content, err := os.ReadFile(testclip.Box(t, "a.mp4", "-c:v", "libx264", "-bf", "2"))
		require.NoError(t, err)
		encodedBox.content = content
	}
	return write(t, "a.mp4", string(encodedBox.content))
}

// jsonLines reads what --json printed: every line is one object.
func jsonLines(t *testing.T, text string) (out []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		m := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(line), &m), "%q", line)
		out = append(out, m)
	}
	return out
}

// In whatever form the clip comes, its one motion is found, in the clip's own pictures.
func TestReplayFindsTheBox(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		rate  float64 // of the source's pictures; 0 varies
		args  []string
		flags []string
	}{
		"h264":          {"a.mp4", 25, []string{"-c:v", "libx264", "-bf", "2"}, nil},
		"mjpeg avi":     {"a.avi", 25, []string{"-c:v", "mjpeg", "-q:v", "4", "-pix_fmt", "yuvj420p"}, nil},
		"raw h264":      {"a.h264", 25, []string{"-c:v", "libx264"}, []string{"--fps", "25"}},
		"variable rate": {"a.mkv", 0, []string{"-c:v", "libx264"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := testclip.Box(t, c.file, c.args...)
			r := do(t, slices.Concat([]string{"replay", "--json", path}, c.flags)...)
			require.Zero(t, r.code, r.err)
			spans := jsonLines(t, r.out)
			require.Len(t, spans, 1, r.out)
			s := spans[0]
			require.Equal(t, vms.TypeMotion, s["type"])
			require.InDelta(t, boxFrom, s["start_s"], 0.4)
			require.InDelta(t, boxTo, s["end_s"], 0.6)
			frame := func(at any) float64 {
				if seconds := at.(float64); c.rate > 0 {
					return seconds * c.rate
				} else if seconds < 5 {
					return seconds * 12.5
				} else {
					return 62.5 + (seconds-5)*25
				}
			}
			require.InDelta(t, frame(s["start_s"]), s["start_frame"], 0.6)
			require.InDelta(t, frame(s["end_s"]), s["end_frame"], 0.6)
			require.Contains(t, r.err, "x real time")
		})
	}
}

// The fields of a line are those that are documented.
func TestReplayJSON(t *testing.T) {
	clip := boxMP4(t)
	config := write(t, "b.yaml", `
cameras:
  - {id: gate, url: "rtsp://h/", motion: {regions: [{id: west, name: West, area: [[0, 0], [0.4, 0], [0.4, 1], [0, 1]]}, {id: top, area: [[0, 0], [1, 0], [1, 0.2]]}]}}
  - {id: yard, url: "rtsp://h/", motion: {masks: [[[0, 0], [1, 0], [1, 1], [0, 1]]]}}
`)
	r := do(t, "replay", "--json", "--config", config, "--camera", "gate", clip, clip)
	require.Zero(t, r.code, r.err)
	spans := jsonLines(t, r.out)
	require.Len(t, spans, 4, "the picture and one region of two, of each of two files: %s", r.out)
	regions := map[string]int{}
	for _, s := range spans {
		region := s["region"].(string)
		regions[region]++
		require.Equal(t, clip, s["file"])
		require.Equal(t, map[string]string{"": vms.TypeMotion, "west": vms.TypeMotionInRegion}[region], s["type"])
		require.Regexp(t, `^\d+$`, s["object"])
		require.LessOrEqual(t, s["start_frame"], s["best_frame"])
		require.LessOrEqual(t, s["best_frame"], s["end_frame"])
		require.Greater(t, s["share"], 0.01)
		boxes := s["boxes"].([]any)
		require.NotEmpty(t, boxes)
		b := boxes[0].([]any)
		require.Len(t, b, 4)
		require.Less(t, b[0], b[2])
		require.Less(t, b[1], b[3])
		require.InDelta(t, 100.0/240, b[1], 0.05, "the box's upper edge")
		require.InDelta(t, 180.0/240, b[3], 0.05)
	}
	require.Equal(t, map[string]int{"": 2, "west": 2}, regions)

	r = do(t, "replay", "--config", config, "--camera", "yard", clip)
	require.Zero(t, r.code, r.err)
	require.Contains(t, r.out, "0 spans in 300 pictures", "all is masked")
	require.Contains(t, r.out, "camera yard")
}

// A score says what was found, and --strict makes it an exit code.
func TestReplayScore(t *testing.T) {
	clip := boxMP4(t)
	good := write(t, "good.csv", "start_frame,end_frame,kind,tol_frames,note\n0,97,quiet,2,\n100,159,motion,12,the "+
		"box\n165,299,quiet,2,\n")
	bad := write(t, "bad.csv", "start_frame,end_frame,kind,tol_frames,note\n0,160,quiet,0,\n200,220,motion,2,nothing\n")
	r := do(t, "replay", "--strict", "--csv", good, clip)
	require.Zero(t, r.code, r.err+r.out)
	require.Contains(t, r.out, "1 of 1 found, 0 missed")
	require.Contains(t, r.out, "the box")
	r = do(t, "replay", "--strict", "--csv", bad, clip)
	require.Equal(t, 2, r.code)
	require.Contains(t, r.out, "0 of 1 found, 1 missed")
	require.Contains(t, r.out, "begins in quiet at picture 10")
	r = do(t, "replay", "--json", "--csv", bad, clip)
	require.Zero(t, r.code, "measured is done")
	all := jsonLines(t, r.out)
	last := all[len(all)-1]
	require.Equal(t, "score", last["type"])
	require.EqualValues(t, 1, last["missed"])
	require.Len(t, last["motions"], 1)
	require.Len(t, last["quiet_starts"], 1)
	r = do(t, "replay", "--csv", write(t, "far.csv", "start_frame,end_frame,kind\n5000,5100,motion\n"), clip)
	require.Contains(t, r.err, "do they belong to it?")
}

// The shared clip by the command that an installer uses: 12 of 12, nothing in quiet, no split.
// Under the race detector the first three of them.
func TestReplaySharedClip(t *testing.T) {
	dir := os.Getenv("VMSBRIDGE_CLIPS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "clips")
	}
	clip := filepath.Join(dir, "one-by-one-person-detection.mp4")
	if _, err := os.Stat(clip); err != nil {
		t.Skip("the shared clips are not there; set VMSBRIDGE_CLIPS to their folder")
	}
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed: apt install ffmpeg")
	}
	labels := strings.TrimSuffix(clip, ".mp4") + ".csv"
	if harness.Race { // three walks of it
		short := filepath.Join(t.TempDir(), "short.mp4")
		out, err := exec.Command("ffmpeg", "-v", "error", "-nostdin", "-i", clip, "-t", "27", "-c", "copy",
			short).CombinedOutput()
		require.NoError(t, err, string(out))
		r := do(t, "replay", "--csv", labels, short)
		require.Zero(t, r.code, r.err)
		require.Contains(t, r.out, "3 of 12 found, 9 missed, 0 splits")
		require.Contains(t, r.out, "0 starts in quiet")
		require.Contains(t, r.err, "do they belong to it?")
		return
	}
	r := do(t, "replay", "--strict", "--csv", labels, clip)
	require.Zero(t, r.code, r.out+r.err)
	require.Contains(t, r.out, "12 of 12 found, 0 missed, 0 splits")
	require.Contains(t, r.out, "0 starts in quiet")
}

// One file that cannot be read costs the others nothing, and the exit code tells.
func TestReplayUnreadable(t *testing.T) {
	clip := boxMP4(t)
	bad := write(t, "noise.mp4", strings.Repeat("noise", 300))
	r := do(t, "replay", "--json", bad, clip, "/no/such.mkv")
	require.Equal(t, exitFailed, r.code)
	require.Len(t, jsonLines(t, r.out), 1)
	require.Contains(t, r.err, "noise.mp4")
	require.Contains(t, r.err, "/no/such.mkv: there is no such file")
	require.NotContains(t, r.err, "panic")
	require.Equal(t, exitFailed, do(t, "replay", "--csv", "/no/labels.csv", clip).code)
	r = do(t, "replay", filepath.Dir(clip))
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.err, "lab replay")
}

func TestReplayCommandLine(t *testing.T) {
	config := write(t, "c.yaml", "cameras:\n  - {id: gate, url: \"rtsp://h/\"}\n  - {id: yard, url: \"rtsp://h/\"}\n")
	// As events, image and probe have it.
	r := do(t, "replay", "--config", config, "--camera", "gat", "x.mp4")
	require.Equal(t, exitFailed, r.code, r.err)
	require.Contains(t, r.err, "gate, yard")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file":          {nil, "file"},
		"no camera":        {[]string{"--config", config, "x.mp4"}, "gate, yard"},
		"no rate":          {[]string{"--fps=nan", "x.mp4"}, "--fps"},
		"too rare":         {[]string{"--fps=1e-9", "x.mp4"}, "--fps"},
		"negative rate":    {[]string{"--fps=-1", "x.mp4"}, "--fps"},
		"strict alone":     {[]string{"--strict", "x.mp4"}, "--csv"},
		"score of several": {[]string{"--csv", "l.csv", "a.mp4", "b.mp4"}, "--csv scores one"},
		"masks":            {[]string{"--masks", "m", "x.mp4"}, "lab replay --masks"},
		"plot":             {[]string{"--plot", "p.png", "x.mp4"}, "lab replay --plot"},
		"standard input":   {[]string{"-"}, "save"},
	} {
		r := do(t, append([]string{"replay"}, c.args...)...)
		require.Equal(t, exitUsage, r.code, "%s: %s", name, r.err)
		require.Contains(t, r.err, c.want, name)
		require.Equal(t, 1, strings.Count(r.err, "\n"), "one line: %q", r.err)
		require.Empty(t, r.out)
	}
	r = do(t, "replay", "--help")
	require.Zero(t, r.code)
	for _, word := range []string{"start_frame", "present_still", "130", "--fps", "lab replay"} {
		require.Contains(t, r.out, word)
	}
}

// Ctrl-C ends in order: what was found so far is complete, and no ffmpeg stays behind.
func TestReplayInterrupted(t *testing.T) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed: apt install ffmpeg")
	}
	// Long enough to be interrupted on any machine.
	path := filepath.Join(t.TempDir(), "live.ts")
	clip := testclip.Box(t, "a.ts", "-c:v", "libx264", "-g", "10")
	content, err := os.ReadFile(clip)
	require.NoError(t, err)
	long := bytes.Repeat(content, 400)
	require.NoError(t, os.WriteFile(path, long, 0o600))
	cmd := process(t, "replay", "--json", path)
	var errs lines
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	first := make([]byte, 1)
	_, err = io.ReadFull(out, first)
	require.NoError(t, err, "the first span is printed when it ends, not at the end")
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.NotEmpty(t, jsonLines(t, string(first)+string(rest)))
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.Equal(t, exitAborted, exit.ExitCode())
	require.Equal(t, 1, errs.count("interrupted: "))
}
