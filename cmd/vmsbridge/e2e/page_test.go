package e2e

import (
	"context"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/vms"
)

// browser is a Chromium without a window, with what its console said.
type browser struct {
	context.Context
	t *testing.T

	mu   sync.Mutex // guards said
	said []string
}

// openBrowser starts one, or skips the test where there is none.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no browser: apt install chromium (scripts/deps does)")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(time.Minute))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{Context: ctx, t: t}
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate("about:blank")))
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return // the browser is closed
			}
			b.mu.Lock()
			b.said = append(b.said, m.Text+" "+m.URL)
			b.mu.Unlock()
		}
	}()
	return b
}

// do runs one thing after the other in the page.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b, steps...))
}

// shows waits for something to be true in the page.
func (b *browser) shows(expression string) {
	b.t.Helper()
	_, err := chromedp.Run(b, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(stretched(40*time.Second))))
	if err != nil {
		text, _ := chromedp.Run(b, chromedp.Text("body"))
		require.NoError(b.t, err, "%s is not so; the page says:\n%s\nthe console: %s", expression, text, b.console())
	}
}

func (b *browser) console() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.said, "\n")
}

// TestThePage: someone on the LAN signs in with a browser, by a token and as a user, and sees the cameras, what is wrong and what happened.
func TestThePage(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	s := newSite(t, cameraYAML("gate", sceneCamera(t, "mjpeg"), "", "auto", "", "")+cameraYAML("gone", "rtsp://127.0.0.1:1/none", "", "auto", "", ""))
	s.startBridge()
	until(t, 60*time.Second, "motion", func() bool { return len(s.events("gate", vms.TypeMotion)) > 0 })

	// What is wrong is said before anybody signs in; a wrong token is refused in words.
	b.do(chromedp.Navigate(s.local + "/"))
	b.shows(`document.querySelector("#trouble li")?.textContent.includes("not all cameras are online")`)
	b.shows(`!document.querySelector("#enter").hidden && document.querySelector("#inside").hidden`)
	b.do(chromedp.SendKeys("#token", "not-the-token-at-all\n"))
	b.shows(`document.querySelector("#refusal").textContent.length > 5`)
	until(t, 20*time.Second, "the console to tell of the 401", func() bool { return strings.Contains(b.console(), "401") })

	b.do(chromedp.Clear("#token"), chromedp.SendKeys("#token", lanToken+"\n"))
	b.shows(`document.querySelector("#cameras img")?.naturalWidth > 300`)
	b.shows(`document.querySelectorAll("#cameras figure").length === 2 && document.querySelector('[data-id="gone"] .away') !== null`)
	b.shows(`[...document.querySelectorAll("#events td")].some((cell) => cell.textContent.startsWith("motion"))`)
	b.shows(`[...document.querySelectorAll("#events tr")].some((row) => row.textContent.includes("goes on") && row.textContent.includes("status: deviceOffline"))`)
	picture, err := chromedp.Run(b, chromedp.FullScreenshot(80))
	require.NoError(t, err)
	require.Greater(t, len(picture), 10_000)

	// An event's still in full, and its own time.
	b.do(chromedp.Click(`//tbody[@id="events"]/tr[td[starts-with(text(),"motion")]]`))
	b.shows(`document.querySelector("#viewer").open && document.querySelector("#picture").naturalWidth > 300`)
	b.do(chromedp.Click("#close"), chromedp.Click("#leave"))
	b.shows(`document.querySelector("#inside").hidden && sessionStorage.getItem("token") === null`)

	// A user of the bridge.
	first := strings.TrimSpace(s.read(s.path("bridge/first-user.token")))
	res, err := http.PostForm(s.local+"/g/aaa/reset_password", url.Values{"token": {first}, "password": {"hunter2hunter2"}})
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	b.do(chromedp.SendKeys("#user", "admin@localhost"), chromedp.SendKeys("#password", "hunter2hunter2\n"))
	b.shows(`document.querySelector("#cameras img")?.naturalWidth > 300`)

	for line := range strings.Lines(b.console()) {
		require.Contains(t, line, "the server responded with a status of 4", "the console says more than that something was refused or not there")
	}
}
