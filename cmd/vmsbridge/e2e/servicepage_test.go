package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"vmsbridge/scripts/harness"
	"vmsbridge/uplink/client"
	"vmsbridge/uplink/identity/identitytest"
	"vmsbridge/uplink/vms"
)

// lettered is a site whose service sends letters that lead to its own page.
func lettered(t *testing.T, cameras string, args ...string) (*site, *identitytest.SMTPServer) {
	t.Helper()
	mail := identitytest.StartSMTP(t, "starttls", "cloud", "password of the mail server")
	s := &site{t: t, dir: t.TempDir(), cloudPort: harness.Port(t)}
	s.write("mail-password", "password of the mail server")
	s.cloudArgs = append(args, "--public-url", fmt.Sprintf("http://127.0.0.1:%d", s.cloudPort), "--letters",
		s.write("letters.yaml", fmt.Sprintf("mail: {server: %q, user: cloud, password_file: mail-password, "+
			"from: Cameras <cameras@example.org>, ca_file: %q}\n", mail.Address(), mail.CAFile)))
	return newSiteWith(t, s, []string{"--email", "anna@example.org"}, cameras), mail
}

// TestTheServicesPage: somebody sets a password by a letter's link, sees the cameras of two
// bridges, their events, the users and the trail; whoever has fewer rights sees what they allow.
func TestTheServicesPage(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	const evil, password = `<script>document.title="stolen"</script>`, "hunter2hunter2"
	s, mail := lettered(t, strings.Replace(cameraYAML("gate", sceneCamera(t, "mjpeg"), "", "auto", "", ""),
		"Camera gate", strings.ReplaceAll(evil, `"`, `\"`), 1))
	s.startBridge()
	s.signUpAs("anna@example.org")
	second := command(t, "vmscloud", "token", "create", "--data", s.path("cloud"), "--kind", "bridge", "--quiet")
	other, err := client.New(client.Options{BaseURL: s.service, Token: func() (string, error) { return second, nil }})
	require.NoError(t, err)
	require.NoError(t, other.Register(t.Context(), vms.Registration{ID: "bridge-2", Name: "Depot",
		Cameras: []vms.RegisteredCamera{{ID: "yard", Name: "Yard"}}}))
	until(t, 60*time.Second, "motion", func() bool { return len(s.events("gate", vms.TypeMotion)) > 0 })

	// Nothing is shown before somebody signs in; what does not open is refused in words.
	b.do(chromedp.Navigate(s.service + "/"))
	b.shows(`document.querySelector("#enter") && document.querySelector("#top").hidden && !document.querySelector("#forgotten").hidden`)
	require.True(t, ask[bool](b, `document.querySelector("#new-here").hidden`), "without --sign-up")
	b.looks("service-sign-in")
	b.types("#user", "anna@example.org")
	b.types("#password", "not the password\n")
	b.shows(`document.querySelector("#refusal").textContent.includes("not right")`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.service+"/#/password?token=never-was"))
	b.types("#first-password", password+"\n")
	b.shows(`document.querySelector("#refusal").textContent.includes("does not open")`)

	// A letter is asked for, and its link leads in.
	ask[bool](b, `document.querySelector("#forgotten").open = true`)
	b.types("#forgot-email", "anna@example.org\n")
	b.shows(`document.querySelector("#told").textContent.includes("on its way")`)
	link := func() string {
		t.Helper()
		text := mail.Next(t).Text
		found := regexp.MustCompile(regexp.QuoteMeta(s.service) + `/#/password\?token=\S+`).FindString(text)
		require.NotEmpty(t, found, text)
		return found
	}
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link()))
	b.shows(`document.querySelector("#first-code")?.value.length > 20 && location.hash === "#/"`)
	b.looks("service-password")
	b.types("#first-password", password+"\n")

	// The wall, across bridges, with the state of each; one bridge alone.
	b.shows(`document.querySelector('[data-id="gate"] img')?.naturalWidth > 300`)
	b.shows(`document.querySelector("#title").textContent === "e2e" && document.querySelectorAll("#cameras li").length === 2`)
	require.Equal(t, evil, ask[string](b, `document.querySelector('[data-id="gate"] strong').textContent`))
	b.shows(`document.querySelector('[data-id="gate"] .more').textContent === "E2E" && !!document.querySelector('[data-id="gate"] .good') && !!document.querySelector('[data-id="yard"] .bad')`)
	b.looks("service-wall")
	ask[bool](b, `(window.src = document.querySelector('[data-id="gate"] img').src, true)`)
	b.shows(`document.querySelector('[data-id="gate"] img').src !== src`) // the next still comes
	choose := func(field, value string) {
		t.Helper()
		b.shows(fmt.Sprintf(`(document.querySelector("#%[1]s").value = %[2]q, document.querySelector("#%[1]s").value === %[2]q && (document.querySelector("#%[1]s").dispatchEvent(new Event("change")), true))`, field, value))
	}
	choose("site", "bridge-2")
	b.shows(`location.hash === "#/of/bridge-2" && document.querySelector('[data-id="gate"]').hidden && !document.querySelector('[data-id="yard"]').hidden`)
	choose("site", "")

	// One camera: its timeline, an earlier event, the still of that moment.
	b.press(`[data-id='gate'] a`)
	b.shows(`document.querySelector("#still")?.naturalWidth > 300 && location.hash === "#/camera/gate"`)
	b.press("#earlier-event")
	b.shows(`/^#.camera.gate.20/.test(location.hash) && document.querySelector("#still-what").textContent.includes("Motion")`)
	b.looks("service-camera")

	// Events across bridges, with pictures and filters; a link to them is them.
	b.press(`nav a[data-view='events']`)
	b.shows(`[...document.querySelectorAll("#events li")].some((li) => li.textContent.startsWith("Motion") && li.textContent.includes("E2E") && li.querySelector("img").naturalWidth > 100)`)
	b.looks("service-events")
	choose("site", "bridge-2")
	b.shows(`document.querySelectorAll("#events li").length === 0 || ![...document.querySelectorAll("#events li")].some((li) => li.textContent.startsWith("Motion"))`)
	b.shows(`location.hash.includes("site=bridge-2") && document.querySelector('#of option[value="gate"]').disabled`)

	// Bridges with their state; users with their rights; the trail.
	b.press(`nav a[data-view='bridges']`)
	b.shows(`document.querySelector('#bridges [data-id="bridge-1"]')?.textContent.includes("1 of 1 cameras online") && document.querySelector('#bridges [data-id="bridge-2"]').textContent.includes("0 of 1 cameras online")`)
	b.looks("service-bridges")
	b.press(`#bridges [data-id='bridge-1'] a`)
	b.shows(`location.hash === "#/of/bridge-1" && document.querySelector('[data-id="yard"]')?.hidden`)
	var ticket struct{ Token string }
	var made struct{ ID string }
	s.people("POST", "/g/aaa/authenticate", "", map[string]any{"username": "anna@example.org", "password": password},
		&ticket)
	session := keyOf(t, s.people("POST", "/g/aaa/authorize", "", map[string]any{"token": ticket.Token}, nil))
	s.people("PUT", "/g/user", session, map[string]any{"first_name": "Bo", "last_name": evil,
		"email": "bo@example.org", "is_view_preview_video": 1}, &made)
	s.people("POST", "/g/user", session, map[string]any{"id": made.ID,
		"camera_access": [][]string{{"M", "yard", "R"}}}, nil)
	b.press(`nav a[data-view='people']`)
	b.shows(`document.querySelectorAll("#people tr").length === 2 && document.querySelector('#people [data-id="` + made.ID + `"]').textContent.includes("previews")`)
	b.shows(`[...document.querySelectorAll("#people tr")].some((tr) => tr.textContent.includes("anna@example.org") && tr.textContent.includes("everything"))`)
	b.looks("service-people")
	b.press(`nav a[data-view='trail']`)
	b.shows(`[...document.querySelectorAll("#trail tr")].some((tr) => tr.textContent.includes("added user bo@example.org"))`)
	b.shows(`[...document.querySelectorAll("#trail tr")].some((tr) => tr.textContent.includes("camera access"))`)
	b.looks("service-trail")

	// Where else somebody is signed in is listed, and ended from here.
	b.press("#to-you")
	b.shows(`[...document.querySelectorAll("#sessions li")].some((li) => li.textContent.startsWith("Go-http-client") && (window.other = li.querySelector("button")))`)
	b.looks("service-you")
	ask[bool](b, `(other.click(), true)`)
	b.shows(`document.querySelectorAll("#sessions li").length === 1 && document.querySelector("#you-done").textContent.includes("signed out")`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.service+"/g/aaa/isauth", nil)
	require.NoError(t, err)
	r.AddCookie(&http.Cookie{Name: "auth_key", Value: session})
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusUnauthorized, res.StatusCode)

	b.seesMany(t, s, other)

	// Whoever may see less is shown less.
	b.press("#leave")
	b.shows(`!!document.querySelector("#enter")`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link()))
	b.types("#first-password", password+"\n")
	b.shows(`document.querySelectorAll("#cameras li").length === 1 && !!document.querySelector('[data-id="yard"]')`)
	for _, view := range []string{"people", "trail"} {
		b.shows(`document.querySelector("nav a[data-view=` + view + `]").hidden`)
		b.do(chromedp.Navigate(s.service + "/#/" + view))
		b.shows(`!!document.querySelector("#cameras")`)
	}
	require.NotContains(t, ask[string](b, `document.body.innerText`), "anna@")
	require.NotEqual(t, "stolen", ask[string](b, `document.title`))
	for line := range strings.Lines(b.console()) {
		require.Regexp(t, "the server responded with a status of (4|503)", line,
			"the console says more than that something was refused or not there")
	}
}

// opensAnAccount fills the form by the keyboard alone, and goes in by the letter's link, which
// opens once.
func (b *browser) opensAnAccount(s *site, mail *identitytest.SMTPServer) {
	b.t.Helper()
	b.do(chromedp.Navigate(s.service + "/"))
	b.shows(`document.querySelector("#new-here")?.hidden === false`)
	ask[bool](b, `(document.querySelector("#new-here summary").focus(), true)`)
	b.do(chromedp.KeyEvent("\r"))
	b.shows(`document.querySelector("#new-here").open`)
	b.looks("service-sign-up")
	for _, text := range []string{"Bea", "Müller", "Depot", "bea@example.org", "hunter2hunter2\r"} {
		b.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(text))
	}
	b.shows(`document.querySelector("#told").textContent.includes("on its way") && document.querySelector("#new-email").value === ""`)
	text := mail.Next(b.t).Text
	link := regexp.MustCompile(regexp.QuoteMeta(s.service) + `/#/registration\?\S+`).FindString(text)
	require.NotEmpty(b.t, link, text)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	b.shows(`document.querySelector("#confirm")?.hidden === false && document.activeElement.textContent === "Go on" && location.hash === "#/"`)
	b.looks("service-confirm")
	b.do(chromedp.KeyEvent("\r"))
	b.shows(`document.querySelector("#state")?.textContent === "No camera is watched yet." && document.querySelector("#title").textContent === "Depot"`)
	b.looks("service-empty")
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(link)) // it is for whoever got it, whoever is in
	b.shows(`document.activeElement?.textContent === "Go on"`)
	b.do(chromedp.KeyEvent("\r"))
	b.shows(`document.querySelector("#refusal").textContent.includes("does not open")`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.service+"/"))
	b.press("#leave")
	b.shows(`!!document.querySelector("#enter")`)
}

// TestACodeOfTheServicesPage: somebody opens an account by the page; and where a user needs a
// second factor, the page sends a code, and takes the right one alone.
func TestACodeOfTheServicesPage(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	s, mail := lettered(t, "", "--sign-up")
	b.opensAnAccount(s, mail)
	session := s.signUpAs("anna@example.org")
	code := func() string {
		t.Helper()
		found := regexp.MustCompile(`your code is (\d{4})`).FindStringSubmatch(mail.Next(t).Text)
		require.NotNil(t, found)
		return found[1]
	}
	s.people("POST", "/g/aaa/two_factor_authenticate/update", session, map[string]any{
		"two_factor_authentication_type": "email", "password": "hunter2hunter2",
		"update_json": map[string]any{"is_two_factor_authentication_enabled": 1}}, nil)
	s.people("POST", "/g/aaa/two_factor_authenticate/verify", session,
		map[string]any{"two_factor_authentication_code": code()}, nil)

	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.service+"/"))
	b.types("#user", "anna@example.org")
	b.types("#password", "hunter2hunter2\n")
	b.shows(`!document.querySelector("#factor").hidden && document.activeElement.id === "code-email" && document.querySelector("#code-sms").hidden`)
	b.looks("service-code")
	b.press("#code-email")
	right := code()
	b.shows(`!document.querySelector("#code-row").hidden`)
	wrong := "0000"
	if right == wrong {
		wrong = "1111"
	}
	b.types("#code", wrong+"\n")
	b.shows(`document.querySelector("#refusal").textContent.length > 0 && document.querySelector("#cameras") === null`)
	b.types("#code", right+"\n")
	b.shows(`!!document.querySelector("#cameras") && !document.querySelector("#top").hidden`)
}

// seesMany looks at more cameras than the wall shows, and more than one question about events may
// name: the wall says so and finds the others, and events are listed in their order, whosever they
// are.
func (b *browser) seesMany(t *testing.T, s *site, c *client.Client) {
	t.Helper()
	many := vms.Registration{ID: "many", Name: "Many"}
	for i := range 5001 {
		many.Cameras = append(many.Cameras,
			vms.RegisteredCamera{ID: fmt.Sprintf("m%04d", i), Name: fmt.Sprintf("M %04d", i)})
	}
	require.NoError(t, c.Register(t.Context(), many))
	// Of three cameras in three questions, one after the other in time.
	began := time.Now().AddDate(0, 0, -1)
	began = time.Date(began.Year(), began.Month(), began.Day(), 12, 0, 0, 0, time.Local)
	for i := range 60 {
		at := began.Add(time.Duration(i) * time.Minute)
		ev := vms.Event{Type: vms.TypeMotion, StartTimestamp: vms.At(at), EndTimestamp: vms.Ptr(at.Add(time.Second)),
			Span: true, AccountID: s.account, ActorID: fmt.Sprintf("m%04d", i%3*1000), ActorAccountID: s.account,
			ActorType: vms.ActorCamera, CreatorID: vms.CreatorMotion}
		ev.SetData(vms.CreatorDetails(vms.CreatorMotion, vms.CreatorInfo{ID: vms.CreatorMotion}))
		ev.ID = ev.NaturalID()
		require.NoError(t, c.Report(t.Context(), ev))
	}
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.service+"/"))
	b.shows(`document.querySelector("#state")?.textContent.includes("only the first 5,000 of all are shown, by name")`)
	// gate, M 0000 to M 4998 are; the two behind them and the yard are found, and stay when the
	// list is looked at again. One of them opens from there, and by a link.
	b.shows(`!document.querySelector('[data-id="m4999"]') && !document.querySelector('[data-id="yard"]')`)
	const visible = `[...document.querySelectorAll("#cameras li:not([hidden])")].map((li) => li.dataset.id).join()`
	b.types("#search-camera", "M 4999")
	b.shows(visible + ` === "m4999" && document.querySelector("#state").textContent.startsWith("0 of 1 cameras")`)
	b.looks("service-found")
	ask[bool](b, `(window.plainly = fetch, window.again = 0, window.fetch = async (u, o) => { const a = await plainly(u, o); if (String(u).includes("q=M")) again++; return a; }, true)`)
	b.shows(`again > 0 && ` + visible + ` === "m4999"`)
	b.press(`[data-id='m4999'] a`)
	b.shows(`document.querySelector("#camera-name")?.textContent === "M 4999"`)
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.service+"/#/camera/yard"))
	b.shows(`document.querySelector("#camera-name")?.textContent === "Yard" && document.querySelector("#camera-state").textContent !== ""`)
	b.press(`nav a[data-view='wall']`)
	choose := `(document.querySelector("#site").value = "bridge-2", document.querySelector("#site").dispatchEvent(new Event("change")), true)`
	b.shows(`document.querySelectorAll("#cameras li").length > 4999`)
	ask[bool](b, choose)
	b.shows(visible + ` === "yard"`)
	b.types("#search-camera", "no such words")
	b.shows(visible + ` === "" && document.querySelector("#state").textContent === "No camera has these words."`)
	b.do(chromedp.Navigate(s.service + "/#/events/?day=" + began.Format(time.DateOnly)))
	b.shows(`document.querySelectorAll("#events li").length === 48 && document.querySelector("#count").textContent === "60 events"`)
	b.press("#more")
	b.shows(`document.querySelectorAll("#events li").length === 60 && document.querySelector("#more").hidden`)
	ids := ask[[]string](b, `[...document.querySelectorAll("#events li")].map((li) => li.dataset.id)`)
	for i, id := range ids {
		require.True(t, strings.HasPrefix(id, fmt.Sprintf("m%04d-", (59-i)%3*1000)), "%d: %s", i, id)
	}
}
