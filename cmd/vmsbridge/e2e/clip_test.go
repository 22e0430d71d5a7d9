package e2e

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// clipName is the labelled clip that the project's figures are held against; it is input, not part
// of the project.
const clipName = "one-by-one-person-detection"

// eye is how exact the labels' ends are: they were set by eye, within two pictures.
const eye = 0.2

// label is a line of the clip's label file.
type label struct {
	start, end float64 // seconds: the times of the first and the last picture
	kind       string
	tolerance  float64 // seconds
}

// clip finds the labelled clip, or skips.
func clip(t *testing.T) (video string, labels []label) {
	t.Helper()
	dir := os.Getenv("VMSBRIDGE_CLIPS")
	if dir == "" {
		root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
		require.NoError(t, err)
		dir = filepath.Join(strings.TrimSpace(string(root)), "..", "shared", "clips")
	}
	video = filepath.Join(dir, clipName+".mp4")
	if _, err := os.Stat(video); err != nil {
		t.Skipf("the clip %s is not in %s: name its folder in VMSBRIDGE_CLIPS", filepath.Base(video), dir)
	}
	f, err := os.Open(filepath.Join(dir, clipName+".csv"))
	require.NoError(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment, r.FieldsPerRecord = '#', -1
	rows, err := r.ReadAll()
	require.NoError(t, err)
	const fps = 10
	for _, row := range rows[1:] {
		n := func(i int) float64 {
			v, err := strconv.ParseFloat(row[i], 64)
			require.NoError(t, err)
			return v
		}
		labels = append(labels, label{start: n(0) / fps, end: n(1) / fps, kind: row[4], tolerance: n(5) / fps})
	}
	return video, labels
}

// recode makes Matroska files of the clip in each codec, and small ones for a second stream.
func recode(t *testing.T, video string) map[string]string {
	t.Helper()
	ffmpeg := needProgram(t, "ffmpeg", "ffmpeg")
	dir := t.TempDir()
	files := map[string]string{}
	for name, args := range map[string]string{
		"h264":     "-c:v copy",
		"h264-sub": "-vf scale=512:288 -c:v libx264 -preset ultrafast -crf 26 -g 30",
		"h265":     "-c:v libx265 -preset ultrafast -crf 26 -x265-params log-level=error:keyint=30",
		"mjpeg":    "-c:v mjpeg -huffman default -q:v 5 -pix_fmt yuvj420p",
	} {
		out := filepath.Join(dir, name+".mkv")
		cmd := exec.Command(ffmpeg, append(append([]string{"-v", "error", "-i", video, "-an"}, strings.Fields(args)...),
			out)...)
		msg, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", msg)
		files[name] = out
	}
	return files
}

// rtspServer serves files at rtsp://127.0.0.1:PORT/NAME by an RTSP server that is not ours, and
// returns the port.
func rtspServer(t *testing.T, user, password string, files map[string]string) int {
	t.Helper()
	const python = "/usr/bin/python3"
	check := exec.Command(python, "-c", `import gi; gi.require_version("GstRtspServer", "1.0"); from gi.repository import GstRtspServer`)
	if err := check.Run(); err != nil {
		t.Skip("GStreamer's RTSP server is not installed: apt install python3-gi gir1.2-gst-rtsp-server-1.0 " +
			"(scripts/deps does)")
	}
	args := []string{filepath.Join("testdata", "rtspserver.py"), user, password}
	for name, file := range files {
		codec, _, _ := strings.Cut(name, "-")
		args = append(args, fmt.Sprintf("%s=%s:%s", name, codec, file))
	}
	p := start(t, python, args...)
	var port int
	until(t, 20*time.Second, "the RTSP server's port", func() bool {
		n, err := strconv.Atoi(strings.TrimSpace(p.output()))
		port = n
		return err == nil
	})
	return port
}

// TestClipFromAForeignServer is the product's main sentence: real video from an RTSP server that is
// not ours, in all codecs, over both transports, with digest sign-in, becomes events at the service
// and images for them.
//
// The clip takes three minutes, in which a machine has little to do. It begins before the tests
// that run alone, and is judged after them, beside others.
func TestClipFromAForeignServer(t *testing.T) {
	video, labels := clip(t)
	asShipped(t)
	const user, password = "vms user", `p@ss:w/rd "%ü`
	files := recode(t, video)
	port := rtspServer(t, user, password, files)
	var cameras strings.Builder
	ids := []string{}
	for _, codec := range []string{"h264", "h265", "mjpeg"} {
		for _, transport := range []string{"tcp", "udp"} {
			id := codec + "-" + transport
			ids = append(ids, id)
			preview := ""
			if id == "h264-tcp" { // one camera with two streams
				preview = fmt.Sprintf("rtsp://127.0.0.1:%d/h264-sub", port)
			}
			cameras.WriteString(cameraYAML(id, fmt.Sprintf("rtsp://127.0.0.1:%d/%s", port, codec), preview, transport,
				user, "camera.password"))
		}
	}
	s := newSite(t, cameras.String())
	s.write("camera.password", password)
	s.set("max_size: 256MiB", "max_size: 1GiB") // what the clip showed first is asked for last
	s.startBridge()
	t.Parallel()

	clipEnd := labels[len(labels)-1].end
	until(t, time.Duration(clipEnd*float64(time.Second))+60*time.Second, "all cameras to have shown the clip",
		func() bool {
			for _, id := range ids {
				online := s.events(id, vms.TypeDeviceStatus)
				if len(online) == 0 || time.Since(online[0].StartTimestamp.Time).Seconds() < clipEnd+3 {
					return false
				}
			}
			return true
		})
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			online := s.events(id, vms.TypeDeviceStatus)
			zero := online[0].StartTimestamp.Time // the first picture's time
			checkSpans(t, s.events(id, vms.TypeMotion), zero, labels)
			checkImages(t, s, id, s.events(id, vms.TypeMotion), zero, clipEnd)
		})
	}
	t.Run("replay", func(t *testing.T) {
		const id = "h265-tcp"
		checkReplay(t, s, id, files["h265"], s.events(id, vms.TypeMotion),
			s.events(id, vms.TypeDeviceStatus)[0].StartTimestamp.Time, clipEnd)
	})
	t.Logf("motion known after its first picture: %s", spread(delays(t, s.bridge.output())))
	require.True(t, s.bridge.running())
	s.bridge.stop(5 * time.Second)
}

// checkSpans holds the events of one camera against the labels.
func checkSpans(t *testing.T, events []vms.Event, zero time.Time, labels []label) {
	t.Helper()
	var onsets []float64
	for _, l := range labels {
		switch l.kind {
		case "motion":
			best := -1.0
			for _, ev := range events {
				start := ev.StartTimestamp.Sub(zero).Seconds()
				off := start - l.start
				if off < 0 {
					off = -off
				}
				if off <= 0.5+l.tolerance &&
					(ev.Ongoing() || ev.EndTimestamp.Sub(zero).Seconds() >= l.end-0.5-max(l.tolerance, eye)) &&
					(best < 0 || off < best) {
					best = off
				}
			}
			if best < 0 {
				t.Errorf("no event covers the motion from %.1f s to %.1f s", l.start, l.end)
				continue
			}
			onsets = append(onsets, best)
		case "quiet":
			for _, ev := range events {
				start := ev.StartTimestamp.Sub(zero).Seconds()
				if start > l.start+l.tolerance && start < l.end-l.tolerance-0.1 {
					t.Errorf("an event starts at %.2f s, where nothing moves (%.1f to %.1f s)", start, l.start, l.end)
				}
			}
		}
	}
	t.Logf("%d motions found, %d events; onset off by %s", len(onsets), len(events), spread(onsets))
	if t.Failed() {
		for _, ev := range events {
			end := "ongoing"
			if !ev.Ongoing() {
				end = fmt.Sprintf("%.2f", ev.EndTimestamp.Sub(zero).Seconds())
			}
			t.Logf("event %.2f – %s", ev.StartTimestamp.Sub(zero).Seconds(), end)
		}
	}
}

// checkReplay holds the events of a camera against what replay finds in the file that it showed,
// with the settings of that camera. Their times differ by what the network took, and where somebody
// comes to stand is a matter of some pictures, of which a busy machine may drop one.
func checkReplay(t *testing.T, s *site, id, file string, events []vms.Event, zero time.Time, clipEnd float64) {
	t.Helper()
	const startBy, endBy = 0.25, 1.0 // seconds
	said, _, code := try(t, "vmsbridge", "replay", "--json", "--config", s.yaml, "--camera", id, file)
	require.Zero(t, code)
	var live, replayed [][2]float64
	for _, ev := range events {
		// then the server begins the clip anew
		if start := ev.StartTimestamp.Sub(zero).Seconds(); start < clipEnd-1 && !ev.Ongoing() {
			live = append(live, [2]float64{start, ev.EndTimestamp.Sub(zero).Seconds()})
		}
	}
	for line := range strings.Lines(said) {
		var span struct {
			Type  string
			Start float64 `json:"start_s"`
			End   float64 `json:"end_s"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &span))
		if span.Type == vms.TypeMotion && span.Start < clipEnd-1 {
			replayed = append(replayed, [2]float64{span.Start, span.End})
		}
	}
	slices.SortFunc(live, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
	require.Len(t, replayed, len(live), "live: %.2f, replayed: %.2f", live, replayed)
	for i := range live {
		require.InDelta(t, live[i][0], replayed[i][0], startBy, "live: %.2f, replayed: %.2f", live, replayed)
		require.InDelta(t, live[i][1], replayed[i][1], endBy, "live: %.2f, replayed: %.2f", live, replayed)
	}
}

// spread prints the median, the 95th percentile and the largest of some seconds.
func spread(seconds []float64) string {
	if len(seconds) == 0 {
		return "nothing"
	}
	slices.Sort(seconds)
	n := len(seconds)
	return fmt.Sprintf("%.0f ms (median), %.0f ms (p95), %.0f ms (worst)", seconds[n/2]*1000,
		seconds[(n*95+99)/100-1]*1000, seconds[n-1]*1000)
}

var beganLine = regexp.MustCompile(`time=(\S+) .*msg="motion began" .*start=(\S+)`)

// delays are how long after its first picture each motion was known to the bridge, by the bridge's
// log.
func delays(t *testing.T, log string) (seconds []float64) {
	t.Helper()
	for _, m := range beganLine.FindAllStringSubmatch(log, -1) {
		known, err := time.Parse(time.RFC3339Nano, m[1])
		require.NoError(t, err)
		start, err := vms.ParseTime(m[2])
		require.NoError(t, err)
		seconds = append(seconds, known.Sub(start.Time).Seconds())
	}
	return seconds
}

// checkImages asks for each event's image as the recipe of the interface does.
func checkImages(t *testing.T, s *site, id string, events []vms.Event, zero time.Time, clipEnd float64) {
	t.Helper()
	asked := 0
	for _, ev := range events {
		if ev.StartTimestamp.Sub(zero).Seconds() > clipEnd-1 {
			continue // the server has begun the clip anew
		}
		asked++
		want := ev.StartTimestamp.Add(500 * time.Millisecond)
		preview, taken := s.image(id, "preview", want)
		require.True(t, taken.Before(want), "the preview is from before the time asked for")
		require.LessOrEqual(t, want.Sub(taken), 600*time.Millisecond, "the preview is not too old")
		_, err := jpeg.DecodeConfig(bytes.NewReader(preview))
		require.NoError(t, err)

		main, taken := s.image(id, "main", want)
		require.True(t, taken.Before(want), "the main image is from before the time asked for")
		require.LessOrEqual(t, want.Sub(taken), 600*time.Millisecond, "the main image is not too old")
		size, err := jpeg.DecodeConfig(bytes.NewReader(main))
		require.NoError(t, err)
		require.Equal(t, [2]int{768, 432}, [2]int{size.Width, size.Height}, "the full resolution")
		_, err = jpeg.Decode(bytes.NewReader(main))
		require.NoError(t, err)
	}
	require.NotZero(t, asked)
}
