package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"vmsbridge/uplink/client"
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
	ctx, cancel = chromedp.NewExecAllocator(ctx,
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
			chromedp.Flag("ignore-certificate-errors", true),
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

// ask is the value of an expression in the page.
func ask[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(b.t, err, expression)
	return v
}

// types puts text into a field by the keyboard; a line's end sends its form.
func (b *browser) types(field, text string) {
	b.t.Helper()
	b.shows(`(window.field = document.querySelector("` + field + `"), field?.focus(), field && document.activeElement === field && (field.select(), true))`)
	b.do(chromedp.KeyEvent(strings.ReplaceAll(text, "\n", "\r")))
}

// press clicks on something.
func (b *browser) press(what string) {
	b.t.Helper()
	b.shows(`(window.pressed = document.querySelector("` + what + `"), pressed?.click(), !!pressed)`)
}

// plain finds what a reader of little sight or without a mouse stumbles over: text that is hard to
// tell from its background (WCAG 2.2, 1.4.3), controls and pictures without a name, a page wider
// than its window; and what the page says where its program has failed.
const plain = `(() => {
	const wrong = [], probe = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
	const rgba = (color) => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = color; probe.fillRect(0, 0, 1, 1); return [...probe.getImageData(0, 0, 1, 1).data]; };
	const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const behind = (e) => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] > 250) return c; } return [255, 255, 255, 255]; };
	for (const e of document.querySelectorAll("body *")) {
		if (!e.checkVisibility({visibilityProperty: true}) || e.closest("template, svg, .skip, h1.quiet")) continue;
		if ([...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) {
			const [a, b] = [light(rgba(getComputedStyle(e).color)), light(behind(e))], ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (ratio < 4.5) wrong.push("contrast " + ratio.toFixed(2) + " of " + e.outerHTML.slice(0, 120));
		}
		const name = e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.[0]?.textContent.trim() || e.querySelector?.("img[alt]:not([alt=''])")?.alt;
		if (e.matches("button, a[href], input, select, [role=slider], [tabindex='0']") && !name) wrong.push("no name: " + e.outerHTML.slice(0, 120));
		if (e.matches("img:not([alt])")) wrong.push("no alt: " + e.outerHTML.slice(0, 120));
	}
	const notice = document.querySelector("#notice")?.textContent || "";
	if (/null|undefined|not a function|not defined/.test(notice)) wrong.push("a fault of the page's own: " + notice);
	for (const e of document.querySelectorAll(".scroll")) if (innerWidth < 480 && e.scrollWidth > e.clientWidth) wrong.push("columns out of sight: " + e.ariaLabel);
	if (document.documentElement.scrollWidth > innerWidth) wrong.push("wider than the window: " + document.documentElement.scrollWidth);
	if (document.querySelectorAll("main").length !== 1 || !document.querySelector("h1") || !document.title) wrong.push("no landmark, heading or title");
	return wrong;
})()`

// looks holds a view, at a monitor's and a phone's width, light and dark, against plain, and keeps
// a picture of each where VMS_SCREENSHOTS names a folder.
func (b *browser) looks(name string) {
	b.t.Helper()
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			b.do(chromedp.EmulateViewport(width, 800))
			ask[bool](b, `document.documentElement.style.colorScheme = "`+scheme+`", new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
			require.Empty(b.t, ask[[]string](b, plain), "%s, %d pixels wide, %s", name, width, scheme)
			require.Empty(b.t, b.axe(), "axe-core: %s, %d pixels wide, %s", name, width, scheme)
			if dir := os.Getenv("VMS_SCREENSHOTS"); dir != "" {
				picture, err := chromedp.Run(b, chromedp.FullScreenshot(90))
				require.NoError(b.t, err)
				require.NoError(b.t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.jpg", name, width, scheme)),
					picture, 0o600))
			}
		}
	}
	b.do(chromedp.EmulateViewport(1280, 800))
}

// axe is what axe-core has to say against the view, where VMS_AXE names its axe.min.js:
// CONTRIBUTING says where to get it.
func (b *browser) axe() []string {
	b.t.Helper()
	path := os.Getenv("VMS_AXE")
	if path == "" {
		return nil
	}
	program, err := os.ReadFile(path)
	require.NoError(b.t, err)
	ask[bool](b, string(program)+"\n;true")
	return ask[[]string](b, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 160) + " " + n.failureSummary)))`)
}

// TestThePage: someone on the LAN signs in with a browser, by a token and as a user, and sees the
// cameras, what is wrong and what happened.
func TestThePage(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	const evil = `<script>document.title="stolen"</script>`
	cameras := cameraYAML("gate", sceneCamera(t, "mjpeg"), "", "auto", "", "") +
		cameraYAML("gone", "rtsp://127.0.0.1:1/none", "", "auto", "", "")
	s := newSite(t, strings.Replace(cameras, "Camera gate", strings.ReplaceAll(evil, `"`, `\"`), 1))
	s.startBridge()
	until(t, 60*time.Second, "motion", func() bool { return len(s.events("gate", vms.TypeMotion)) > 0 })

	// Nothing is shown before somebody signs in; a wrong token is refused in words.
	b.do(chromedp.Navigate(s.local + "/"))
	b.shows(`document.querySelector("#enter") && document.querySelector("#top").hidden && document.querySelector("#first").open`)
	require.NotContains(t, ask[string](b, `document.body.innerText`), "gone")
	b.looks("sign-in")
	ask[bool](b, `document.querySelector("#token").closest("details").open = true`)
	b.types("#token", "not-the-token-at-all\n")
	b.shows(`document.querySelector("#refusal").textContent.includes("api.tokens")`)
	until(t, 20*time.Second, "the console to tell of the 401",
		func() bool { return strings.Contains(b.console(), "401") })

	// The wall, in the order of the configuration, what is wrong in the words of vmsbridge status,
	// text from outside as text.
	ask[bool](b, `document.querySelector("#token").closest("details").open = true`)
	b.types("#token", lanToken+"\n")
	b.shows(`document.querySelector("#cameras img")?.naturalWidth > 300`)
	b.shows(`document.querySelectorAll("#cameras li").length === 2 && document.querySelector('[data-id="gone"]').textContent.includes("Nothing answers")`)
	require.Equal(t, evil, ask[string](b, `document.querySelector('[data-id="gate"] strong').textContent`))
	require.Equal(t, "no still", ask[string](b, `document.querySelector('[data-id="gone"] .none').textContent`))
	b.looks("wall")
	b.shows(`document.querySelector("#cameras li").clientWidth > 500`) // two cameras fill a monitor

	// A token of the configuration reads, and sets nothing up.
	require.True(t, ask[bool](b, `document.querySelector("nav a[data-view=setup]").hidden`))
	code, _, body := get(t, s.local+"/web/cameras", lanToken)
	require.Equal(t, 403, code)
	require.Contains(t, string(body), "sign in as one")
	b.do(chromedp.Navigate(s.local + "/#/tuning/gate"))
	b.shows(`document.querySelector("#tuning-refusal")?.textContent.includes("sign in as one") && document.querySelector("#tuning-save").disabled`)
	b.do(chromedp.Navigate(s.local + "/#/"))
	b.shows(`document.querySelectorAll("#cameras li").length === 2 && document.querySelector("#cameras img")?.naturalWidth > 300`)

	// Rate and processor share come by themselves, with the next still.
	b.shows(`/ · [0-9.]+ fps · [0-9.]+ % processor/.test(document.querySelector('[data-id="gate"] .more').textContent)`)

	// What stays is not made anew: whoever stands on a camera with the keyboard still does when its
	// next still comes.
	ask[bool](b, `(window.tile = document.querySelector('[data-id="gate"] a'), tile.focus(), window.src = tile.querySelector("img").src, true)`)
	b.shows(`tile.querySelector("img").src !== src && document.activeElement === tile && tile.isConnected`)

	// One camera: from the keyboard into it, to an earlier event, along its stills, and live again.
	b.do(chromedp.KeyEvent("\r"))
	b.shows(`document.querySelector("#still")?.naturalWidth > 300 && location.hash === "#/camera/gate"`)
	b.shows(`document.querySelector("#live").getAttribute("aria-pressed") === "true"`)
	ask[bool](b, `(window.shown = new Set(), new MutationObserver(() => shown.add(document.querySelector("#still-time").dateTime)).observe(document.querySelector("#still-time"), {attributes: true}), true)`)
	b.shows(`shown.size >= 4`)
	ask[bool](b, `(document.querySelector("#timeline").focus(), true)`)
	b.do(chromedp.KeyEvent(kb.ArrowLeft, chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.shows(`/^#.camera.gate.20/.test(location.hash) && document.querySelector("#still-what").textContent.includes("Motion")`)
	b.shows(`document.querySelector("#live").getAttribute("aria-pressed") === "false"`)
	b.shows(`document.querySelector("#still-time").dateTime <= location.hash.slice(-24)`) // it has come
	before := ask[string](b, `document.querySelector("#still-time").dateTime`)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.shows(`document.querySelector("#still-time").dateTime > "` + before + `"`)
	b.do(chromedp.KeyEvent(kb.ArrowLeft))
	b.shows(`location.hash.endsWith("` + before + `") && document.querySelector("#timeline").getAttribute("aria-valuetext").length > 5`)
	b.looks("camera")
	b.do(chromedp.EmulateViewport(390, 800))
	b.shows(`new Set([...document.querySelectorAll(".times > button")].slice(0, 5).map((x) => x.offsetTop)).size === 1`)
	b.do(chromedp.EmulateViewport(1280, 800))
	// A link to the moment is that moment.
	link := ask[string](b, `location.href`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	b.shows(`document.querySelector("#still-time")?.dateTime === "` + before + `"`)

	// A busy day: more than a page of events hides none of the timeline.
	program, err := client.New(client.Options{BaseURL: s.local, Token: client.Token(lanToken)})
	require.NoError(t, err)
	defer program.Close()
	now := time.Now()
	moved := func(start, end time.Time) vms.Event {
		ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(start), EndTimestamp: vms.Ptr(end), Span: true,
			AccountID: s.account, ActorID: "gate", ActorAccountID: s.account, ActorType: vms.ActorCamera,
			CreatorID: "app"}
		ev.SetData(vms.CreatorDetails("app", vms.CreatorInfo{ID: "app", Vendor: "somebody"}))
		return ev
	}
	motion := func(start, end time.Time) {
		require.NoError(t, program.Report(t.Context(), moved(start, end)))
	}
	motion(now.Add(-13*time.Hour), now.Add(-11*time.Hour))
	for i := range 500 {
		motion(now.Add(time.Duration(-i-60)*time.Minute), now.Add(time.Duration(-i-60)*time.Minute+time.Second))
	}
	b.press(`nav a[data-view='wall']`)
	b.press(`[data-id='gate'] a`)
	b.shows(`document.querySelector("#live")?.getAttribute("aria-pressed") === "true"`)
	ask[bool](b, `(document.querySelector("#zoom").value = "86400", document.querySelector("#zoom").dispatchEvent(new Event("change")), document.querySelector("#timeline").focus(), true)`)
	b.do(chromedp.KeyEvent(kb.Home))
	b.shows(`document.querySelector("#still-what").textContent === "Motion" && document.querySelector("#live").getAttribute("aria-pressed") === "false"`)

	// A phone whose clock is hours behind sees what is there now all the same.
	ask[bool](b, `(window.truly = Date.now, Date.now = () => truly() - 3 * 3600e3, true)`)
	b.press(`nav a[data-view='wall']`)
	b.shows(`document.querySelector('[data-id="gate"] img')?.naturalWidth > 300`)
	b.press(`[data-id='gate'] a`)
	b.shows(`document.querySelector("#live")?.getAttribute("aria-pressed") === "true" && Math.abs(Date.parse(document.querySelector("#still-time").dateTime) - truly()) < 600e3`)
	b.shows(`document.querySelector("#still").naturalWidth > 300 && document.querySelector("#no-still").hidden`)
	ask[bool](b, `(Date.now = truly, true)`)

	// Events, with pictures, each of which leads to its moment.
	b.press(`nav a[data-view='events']`)
	b.shows(`[...document.querySelectorAll("#events li")].some((li) => li.textContent.startsWith("Motion") && li.querySelector("img").naturalWidth > 100)`)
	b.shows(`[...document.querySelectorAll("#events li")].some((li) => li.textContent.includes("State: does not answergoes on") && li.clientHeight < 120)`)
	b.shows(`[...document.querySelectorAll("#events .box")].some((box) => !box.hidden && box.offsetWidth > 5)`)
	b.looks("events")
	ask[bool](b, `(document.querySelector("#kind").value = "vms.deviceCloudStatusUpdateEvent.v1", document.querySelector("#kind").dispatchEvent(new Event("change")), true)`)
	b.shows(`document.querySelectorAll("#events li").length > 0 && ![...document.querySelectorAll("#events li")].some((li) => li.textContent.startsWith("Motion"))`)

	// Health: what is wrong first, with what to do.
	b.press(`nav a[data-view='health']`)
	b.shows(`document.querySelector("#problems li")?.textContent.includes("gone") && document.querySelectorAll("#health-cameras tr").length === 2`)
	for _, figure := range []string{"Version", "Stills", "Events kept", "Disk", "Processors", "Memory", "Clock",
		"Service"} {
		b.shows(`[...document.querySelectorAll("#figures dt")].some((dt) => dt.textContent === "` + figure + `" && dt.nextSibling.textContent)`)
	}
	b.looks("health")
	require.NotEqual(t, "stolen", ask[string](b, `document.title`))
	require.Less(t, ask[float64](b, `performance.getEntriesByType("resource").filter((r) => !r.name.includes("Image.jpeg")).reduce((n, r) => n + r.transferSize, 0)`), 250_000.0)

	b.press("#leave")
	b.shows(`document.querySelector("#enter") && sessionStorage.getItem("token") === null`)

	// The first user begins with the bridge's code, in a browser, and is signed in in every tab.
	first := strings.TrimSpace(s.read(s.path("bridge/first-user.token")))
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.local+"/#code="+first))
	b.shows(`document.querySelector("#first-code")?.value === "` + first + `" && !location.hash.includes("code")`)
	b.types("#first-password", "hunter2hunter2\n")
	b.shows(`document.querySelector("#cameras img")?.naturalWidth > 300`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.local+"/"))
	b.shows(`document.querySelector("#cameras img")?.naturalWidth > 300 && sessionStorage.getItem("token") === null`)
	b.press("#leave")
	b.shows(`document.querySelector("#enter") && !document.querySelector("#first").open`)
	b.types("#user", "admin@localhost")
	b.types("#password", "hunter2hunter2\n")
	b.shows(`document.querySelector("#cameras img")?.naturalWidth > 300`)

	// Where else somebody is signed in is listed, and ended from here.
	ask[bool](b, `(async () => {
		const ask = (path, body) => fetch("g/aaa/" + path, {method: "POST", credentials: "omit", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
		const first = await (await ask("authenticate", {username: "admin@localhost", password: "hunter2hunter2"})).json();
		return (await ask("authorize", {token: first.token})).ok;
	})()`)
	b.press("#to-you")
	b.shows(`document.querySelectorAll("#sessions li").length === 2 && document.querySelectorAll("#sessions button:not([hidden])").length === 1 && document.querySelector("#you-name").textContent.includes("admin@localhost")`)
	require.True(t, ask[bool](b, `document.querySelector("#sessions li").textContent.includes("Chrome on Linux")`))
	b.looks("you")
	b.press("#sessions button:not([hidden])")
	b.shows(`document.querySelectorAll("#sessions li").length === 1 && document.querySelector("#you-done").textContent.includes("signed out") && document.activeElement.id === "leave"`)
	b.press("nav a[data-view=wall]")
	b.shows(`document.querySelector("#cameras img")?.naturalWidth > 300`)

	// Between a phone and a monitor no name of a view is broken.
	for _, width := range []int64{480, 481, 640, 720, 721, 900} {
		b.do(chromedp.EmulateViewport(width, 800))
		b.shows(`document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll("nav a")].every((a) => a.offsetHeight < 50)`)
	}
	b.do(chromedp.EmulateViewport(1280, 800))

	// Events say how far they are on their way to the service; one that it refused, as it has
	// another of somebody else, is sent again.
	refused := now.Add(-30 * time.Minute)
	others := command(t, "vmscloud", "token", "create", "--data", s.path("cloud"), "--kind", "user", "--account",
		s.account, "--scope", "report", "--quiet")
	other, err := client.New(client.Options{BaseURL: s.service, Token: client.Token(others)})
	require.NoError(t, err)
	defer other.Close()
	require.NoError(t, other.Report(t.Context(), moved(refused, refused.Add(time.Second))))
	motion(refused, refused.Add(2*time.Second))
	b.press("nav a[data-view=events]")
	b.shows(`[...document.querySelectorAll("#events .way")].some((p) => !p.hidden && p.textContent.includes("the service has it"))`)
	card := `[data-id='` + moved(refused, refused).NaturalID() + `'] .way`
	b.shows(`(window.way = document.querySelector("` + card + `")) && way.textContent.startsWith("refused by the service (409") && !way.lastChild.hidden`)
	b.looks("events-refused")
	b.press(card + " button")
	s.bridge.line("a refused event was let wait again by the page", time.Minute)
	b.do(chromedp.Navigate(s.local + "/#/schedule"))
	b.shows(`document.querySelector("#schedule-of")?.options.length === 3`)
	b.looks("schedule-of-long-names")

	// A link that was cut off leads to the camera all the same. Who was signed out elsewhere is
	// told so.
	b.do(chromedp.Navigate(s.local + "/#/camera/gate/2026-13-99T"))
	b.shows(`document.querySelector("#live")?.getAttribute("aria-pressed") === "true" && document.querySelector("#still").naturalWidth > 300`)
	ask[bool](b, `fetch("g/aaa/logout", {method: "POST"}).then((r) => r.ok)`)
	b.press(`nav a[data-view='events']`)
	b.shows(`document.querySelector("#refusal")?.textContent === "Your sign-in has ended: sign in again."`)

	for line := range strings.Lines(b.console()) {
		require.Contains(t, line, "the server responded with a status of 4",
			"the console says more than that something was refused or not there")
	}
}
