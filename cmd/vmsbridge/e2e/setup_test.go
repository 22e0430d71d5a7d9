package e2e

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"vmsbridge/agent/discover/onviftest"
	"vmsbridge/scripts/harness"
)

// emptyBridge starts a bridge in an empty folder, as somebody who has just unpacked it does.
func emptyBridge(t *testing.T) (dir, address string, p *program) {
	t.Helper()
	if _, err := os.Stat("/etc/vmsbridge/vmsbridge.yaml"); err == nil {
		t.Skip("this machine has a bridge's configuration: move /etc/vmsbridge/vmsbridge.yaml away to run this")
	}
	dir, port := t.TempDir(), harness.Port(t)
	cmd := exec.Command(filepath.Join(programs(t), "vmsbridge"), "run", "--listen", fmt.Sprintf("127.0.0.1:%d", port))
	cmd.Dir = dir
	p = startCommand(t, cmd)
	p.line("the page for people", 30*time.Second)
	return dir, fmt.Sprintf("https://127.0.0.1:%d", port), p
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(raw)
}

// begins makes the first user with the bridge's code.
func (b *browser) begins(dir, address string) {
	b.t.Helper()
	code, err := os.ReadFile(filepath.Join(dir, "data", "first-user.token"))
	require.NoError(b.t, err)
	b.do(chromedp.Navigate(address + "/#code=" + strings.TrimSpace(string(code))))
	b.types("#first-password", "hunter2hunter2\n")
}

// TestFirstStart: from an empty folder to a camera's first motion, its change and its removal, by
// the page alone.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	const password = "hunter3-of-the-camera"
	stream, err := url.Parse(sceneCamera(t, "h264", "--user", "viewer", "--password", password))
	require.NoError(t, err)
	b := openBrowser(t)
	began := time.Now()
	dir, address, bridge := emptyBridge(t)
	yaml := filepath.Join(dir, "vmsbridge.yaml")
	before := read(t, yaml)
	b.begins(dir, address)
	require.Equal(t, "h2", ask[string](b, `performance.getEntriesByType("navigation")[0].nextHopProtocol`))

	// Without a camera, the page is where one is added.
	b.shows(`!!document.querySelector("#try") && location.hash === "#/setup" && !document.querySelector("#known-none").hidden`)
	b.looks("setup-empty")

	// What cannot be is refused in words, and nothing is written.
	for given, want := range map[[3]string]string{
		{"http://user:secret@127.0.0.1/", "", ""}:                        "into their own fields",
		{"127.0.0.1:" + fmt.Sprint(harness.Port(t)), "viewer", password}: "Is the port right?",
		{stream.Host, "", ""}:                                            "who you are",
		{"rtsp://" + stream.Host + "/cam", "viewer", "wrong"}:            "password",
		{"rtsp://" + stream.Host + "/nothing-there", "viewer", password}: "path",
		{"ftp://10.0.0.5/x", "viewer", password}:                         "rtsp://",
	} {
		ask[bool](b, `(document.querySelector("#try").reset(), true)`)
		b.types("#address", given[0])
		b.types("#camera-user", given[1])
		b.types("#camera-password", given[2]+"\n")
		b.shows(`document.querySelector("#setup-refusal").textContent.includes(` + fmt.Sprintf("%q", want) + `) && document.querySelector("#keep").hidden`)
	}
	require.Equal(t, before, read(t, yaml))

	b.finds(t)

	// The address alone: its stream is found at a usual path, its picture is shown, it gets a name.
	b.types("#address", stream.Host)
	b.types("#camera-user", "viewer")
	b.types("#camera-password", password+"\n")
	b.shows(`!document.querySelector("#keep").hidden && document.querySelector("#trial-picture").naturalWidth > 300`)
	b.shows(`document.querySelector("#trial-facts").textContent.includes("H264 640×360") && document.activeElement.id === "camera-name-new"`)
	// A name that nobody typed is not kept for another camera.
	require.NotContains(t, ask[string](b, `document.querySelector("#camera-name-new").value`), "ACME")
	b.looks("setup-tested")
	b.types("#camera-name-new", "Front <gate>\n")
	b.shows(`document.querySelector("#setup-done a")?.getAttribute("href") === "#/camera/front-gate" && document.querySelector("#known").textContent.includes("Front <gate>")`)
	now := read(t, yaml)
	require.True(t, strings.HasPrefix(now, before), "what was there is there: %s", now)
	require.Contains(t, now, `name: "Front \u003cgate\u003e"`)
	require.NotContains(t, now, password)
	secret := filepath.Join(dir, "secrets", "front-gate.password")
	info, err := os.Stat(secret)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	// It is watched at once: on the wall, and its first motion among the events.
	b.press(`nav a[data-view='wall']`)
	b.shows(`document.querySelector('[data-id="front-gate"] img')?.naturalWidth > 300 && !!document.querySelector('[data-id="front-gate"] .good')`)
	b.press(`nav a[data-view='events']`)
	b.shows(`[...document.querySelectorAll("#events li")].some((li) => li.textContent.startsWith("Motion") && li.querySelector("img").naturalWidth > 100)`)
	t.Logf("from an empty folder to the first motion on the page: %v", time.Since(began).Round(time.Second))

	// Who administers the machine needs no token for what the page shows.
	require.Contains(t, command(t, "vmsbridge", "events", "--config", yaml, "--type", "motion"), "front-gate")
	still := filepath.Join(t.TempDir(), "still.jpg")
	command(t, "vmsbridge", "image", "--config", yaml, "--camera", "front-gate", "-o", still)
	require.FileExists(t, still)

	// Health packs a support bundle, with the status in it and without the password.
	b.press(`nav a[data-view='health']`)
	b.press("#bundle")
	b.shows(`document.querySelector("#bundle-state").textContent.includes("kB")`)
	packed := ask[string](b, `fetch("oauth2/token", {method: "POST", body: new URLSearchParams({grant_type: "cookie", scope: "vms.all"})}).then((r) => r.json())
		.then((t) => fetch("web/support", {method: "POST", headers: {Authorization: "Bearer " + t.access_token}}))
		.then((r) => new Response(r.body.pipeThrough(new DecompressionStream("gzip"))).text())`)
	for _, want := range []string{"status.txt", "metrics.txt", "config.yaml", "front-gate"} {
		require.Contains(t, packed, want)
	}
	require.NotContains(t, packed, password)

	b.arms("front-gate")
	b.tunes(yaml, "front-gate")
	b.plans(yaml, "front-gate")

	// The same stream again is refused. The password is nowhere but in its file.
	b.press(`nav a[data-view='setup']`)
	b.types("#address", "rtsp://"+stream.Host+"/cam")
	b.types("#camera-user", "viewer")
	b.types("#camera-password", password+"\n")
	b.shows(`!document.querySelector("#keep").hidden`)
	b.types("#camera-name-new", "Again\n")
	b.shows(`document.querySelector("#setup-refusal").textContent.includes("watched already")`)
	require.NotContains(t, bridge.output(), password)
	_, err = os.Stat(filepath.Join(dir, "secrets", "again.password"))
	require.ErrorIs(t, err, os.ErrNotExist)

	// It gets another name; its own password tests it again, and goes nowhere else.
	press := func(button string) {
		b.press(`#known [data-id='front-gate'] button[aria-label^='` + button + `']`)
	}
	b.shows(`!!document.querySelector("#known [data-id='front-gate']")`)
	press("Change")
	b.shows(`document.querySelector("#address").value === "rtsp://` + stream.Host + `/cam" && document.querySelector("#camera-password").value === ""`)
	b.looks("setup-change")
	b.types("#camera-name-new", "Tor\n")
	b.shows(`document.querySelector("#setup-done").textContent === "Tor was changed."`)
	require.Contains(t, read(t, yaml), "name: Tor\n")
	press("Change")
	b.types("#address", "rtsp://127.0.0.1:1/elsewhere\n")
	b.shows(`document.querySelector("#setup-refusal").textContent.includes("password again")`)
	b.press("#save")
	b.shows(`document.querySelector("#setup-refusal").textContent.includes("Test it first")`)
	b.types("#address", "rtsp://"+stream.Host+"/cam\n")
	b.shows(`!document.querySelector("#trial-figure").hidden && document.querySelector("#trial-picture").naturalWidth > 300`)
	ask[bool](b, `(document.querySelector("#enabled").checked = false, true)`)
	b.press("#save")
	b.shows(`document.querySelector("#known").textContent.includes("switched off")`)
	require.Contains(t, read(t, yaml), "    enabled: false\n")
	require.Contains(t, read(t, yaml), "    password_file: secrets/front-gate.password\n")

	// It is removed after a question, from the wall of another tab, too.
	press("Remove")
	b.shows(`document.querySelector("#sure").open`)
	b.looks("setup-remove")
	b.press(`#sure button[value='no']`)
	b.shows(`!document.querySelector("#sure").open && document.activeElement.textContent === "Remove"`)
	press("Remove")
	b.press(`#sure button[value='yes']`)
	b.shows(`!document.querySelector("#known-none").hidden`)
	require.Equal(t, before+"cameras:\n\narm:\n  schedule: []\n",
		strings.Replace(read(t, yaml), "\ncameras:", "cameras:", 1))
	require.NoFileExists(t, secret)
	b.press(`nav a[data-view='wall']`)
	b.shows(`document.querySelectorAll("#cameras li").length === 0 && !document.querySelector("#none-yet").hidden`)

	// Who is not signed in sets nothing up.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for _, call := range [][2]string{{"GET", "/web/cameras"}, {"POST", "/web/cameras"}, {"POST", "/web/cameras:try"},
		{"POST", "/web/cameras:search"},
		{"PATCH", "/web/cameras/front-gate"}, {"DELETE", "/web/cameras/front-gate"}, {"POST", "/web/support"},
		{"GET", "/web/cameras/front-gate/motion"}, {"PUT", "/web/cameras/front-gate/motion"},
		{"POST", "/web/cameras/front-gate/motion:try"}, {"POST", "/web/arm"},
		{"GET", "/web/schedule"}, {"PUT", "/web/schedule"}} {
		r, err := http.NewRequestWithContext(t.Context(), call[0], address+call[1], strings.NewReader("{}"))
		require.NoError(t, err)
		res, err := client.Do(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusUnauthorized, res.StatusCode, call)
	}
}

// finds searches the network, in which a camera answers, and tests that camera by the answer alone.
func (b *browser) finds(t *testing.T) {
	t.Helper()
	port := harness.Port(t)
	device := fmt.Sprintf("Yard <b> C-%d", port) // among those of others that may answer
	cam := onviftest.New(t, 2)
	host, ok := cam.Everywhere(t, "Yard%20%3Cb%3E", fmt.Sprintf("C-%d", port))
	if !ok {
		t.Log("no network interface can multicast: the search is left out")
		return
	}
	sim := start(t, "camsim", "--listen", fmt.Sprintf("0.0.0.0:%d", port), "--path", "/cam", "--codec", "mjpeg",
		"--user", onviftest.User, "--password", onviftest.Password)
	sim.line("rtsp://", 60*time.Second)
	cam.Answers["GetStreamUri"] = onviftest.SOAP(fmt.Sprintf(
		"<tr2:GetStreamUriResponse><tr2:Uri>rtsp://%s:%d/cam</tr2:Uri></tr2:GetStreamUriResponse>", host, port))
	b.press("#search")
	b.shows(`document.querySelector("#search-state").textContent.includes("answered")`)
	require.Contains(t, ask[string](b, `document.querySelector("#found").textContent`), device)
	b.looks("setup-found")
	b.press(`#found button[aria-label^='Use ` + device + `']`)
	b.shows(`document.querySelector("#address").value.startsWith("http://` + host + `:") && document.activeElement.id === "camera-user"`)
	b.types("#camera-user", onviftest.User)
	b.types("#camera-password", onviftest.Password+"\n")
	b.shows(`!document.querySelector("#keep").hidden && document.querySelector("#trial-picture").naturalWidth > 300`)
	ask[bool](b, `(document.querySelector("#try").reset(), true)`)
}
