package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/vms"
)

// processorTime is what a process has used of the processors, of itself (proc_pid_stat(5)).
func (p *program) processorTime() time.Duration {
	p.t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	require.NoError(p.t, err)
	fields := strings.Fields(string(raw[strings.LastIndex(string(raw), ")")+1:]))
	var ticks int
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		require.NoError(p.t, err)
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}

// TestFiguresOfThePage prints the table of agent/web/README.md, and with VMS_SCREENSHOTS the
// README's pictures:
//
//	VMS_FIGURES=1 go test ./cmd/vmsbridge/e2e -run FiguresOfThePage -v
//
// or with 64x2560 in place of 1 that row alone.
func TestFiguresOfThePage(t *testing.T) {
	if os.Getenv("VMS_FIGURES") == "" {
		t.Skip("prints figures; set VMS_FIGURES=1")
	}
	asShipped(t)
	const span = 20 * time.Second
	t.Log("cameras, window | first load | weight, requests | wall complete | requests in 20 s | page open | closed | " +
		"hidden: requests")
	for _, c := range []struct {
		n             int
		width, height int64
	}{{3, 1280, 720}, {16, 1280, 720}, {64, 1280, 720}, {64, 2560, 1440}} {
		n := c.n
		if only := os.Getenv("VMS_FIGURES"); only != "1" && only != fmt.Sprintf("%dx%d", n, c.width) {
			continue
		}
		b := openBrowser(t)
		b.do(chromedp.EmulateViewport(c.width, c.height))
		s := newSite(t, figureCameras(t, n))
		s.startBridge()
		until(t, 3*time.Minute, "a still of each camera", func() bool {
			return strings.Count(s.metrics(), `vmsbridge_agent_camera_online`) > 0 && !strings.Contains(s.metrics(), "camera_online{camera=\"c0\"} 0")
		})
		until(t, 2*time.Minute, "motion", func() bool { return len(s.events("c0", vms.TypeMotion)) > 0 })
		spent := func() time.Duration {
			before := s.bridge.processorTime()
			<-time.After(span) // a measurement, no proof
			return s.bridge.processorTime() - before
		}
		closed := spent()
		b.do(chromedp.Navigate(s.local + "/"))
		b.shows(`!!document.querySelector("#enter")`)
		load := ask[float64](b, `performance.getEntriesByType("navigation")[0].loadEventEnd`)
		const resources = `performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))`
		weight := ask[float64](b, resources+`.reduce((n, r) => n + r.transferSize, 0)`)
		requests := ask[int](b, resources+`.length`)
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.local+"/#token="+lanToken))
		b.shows(fmt.Sprintf(`document.querySelectorAll("#cameras li").length === %d`, n))
		b.shows(`[...document.querySelectorAll("#cameras img")].slice(0, 3).every((i) => i.naturalWidth > 100)`)
		wall := ask[float64](b, `Math.max(...performance.getEntriesByType("resource").map((r) => r.responseEnd))`)
		if c.width > 2000 {
			until(t, time.Minute, "all pictures, on one screen", func() bool {
				return ask[int](b, `[...document.querySelectorAll("#cameras img")].filter((i) => i.naturalWidth > 100 && i.getBoundingClientRect().bottom <= innerHeight).length`) == n
			})
		}
		ask[bool](b, `(performance.setResourceTimingBufferSize(5000), performance.clearResourceTimings(), true)`)
		open := spent()
		asked := ask[int](b, `performance.getEntriesByType("resource").length`)
		if dir := os.Getenv("VMS_SCREENSHOTS"); dir != "" && n == 3 {
			b.pictures(s, dir)
			b.do(chromedp.Navigate(s.local + "/#/"))
		}
		ask[bool](b, `(Object.defineProperty(document, "hidden", {get: () => true}), document.dispatchEvent(new Event("visibilitychange")), performance.clearResourceTimings(), true)`)
		hidden := spent()
		later := ask[int](b, `performance.getEntriesByType("resource").length`)
		share := func(d time.Duration) string { return fmt.Sprintf("%.1f %%", 100*d.Seconds()/span.Seconds()) }
		t.Logf("%d, %d x %d | %.0f ms | %.0f kB, %d | %.0f ms | %d | %s | %s | %s: %d", n, c.width, c.height, load,
			weight/1000, requests, wall, asked, share(open), share(closed), share(hidden), later)
		s.bridge.stop(20 * time.Second)
		s.cloud.kill()
	}
}

// figureCameras are n cameras: three scenes at three addresses, or the same stream at n paths.
func figureCameras(t *testing.T, n int) string {
	t.Helper()
	var yaml strings.Builder
	if n == 3 {
		for i, scene := range []string{"person", "street+walker", "yard+walker"} {
			yaml.WriteString(cameraYAML(fmt.Sprintf("c%d", i),
				sceneCamera(t, "mjpeg", "--scene", scene, "--seed", strconv.Itoa(i+3)), "", "auto", "", ""))
		}
		return strings.NewReplacer("Camera c0", "Front door", "Camera c1", "Street", "Camera c2",
			"Yard").Replace(yaml.String())
	}
	port := harness.Port(t)
	args := []string{"--listen", fmt.Sprintf("127.0.0.1:%d", port), "--codec", "mjpeg", "--fps", "2"}
	for i := range n {
		args = append(args, "--path", fmt.Sprintf("/c%d", i))
		yaml.WriteString(cameraYAML(fmt.Sprintf("c%d", i), fmt.Sprintf("rtsp://127.0.0.1:%d/c%d", port, i), "", "tcp",
			"", ""))
	}
	start(t, "camsim", args...).line("camsim ready", time.Minute)
	return yaml.String()
}

// pictures keeps one of each view, small enough for the README.
func (b *browser) pictures(s *site, dir string) {
	b.t.Helper()
	for name, to := range map[string]string{"wall": "#/", "events": "#/events", "camera": "#/camera/c0",
		"health": "#/health"} {
		b.do(chromedp.EmulateViewport(960, 600), chromedp.Navigate(s.local+"/"+to))
		b.shows(`[...document.querySelectorAll("main img")].some((i) => i.naturalWidth > 100) || location.hash === "#/health"`)
		b.shows(`document.querySelector("#bars, #cameras img, #events img, #figures div") !== null`)
		if name == "camera" {
			b.press("#earlier-event")
			b.shows(`document.querySelector("#still-what").textContent.includes("Motion")`)
		}
		<-time.After(2 * time.Second) // for what comes by itself
		picture, err := chromedp.Run(b, chromedp.FullScreenshot(60))
		require.NoError(b.t, err)
		require.NoError(b.t, os.WriteFile(filepath.Join(dir, "readme-"+name+".jpg"), picture, 0o600))
	}
	b.do(chromedp.EmulateViewport(1280, 800))
}
