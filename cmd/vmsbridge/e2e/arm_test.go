package e2e

import (
	"os"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// arms disarms the one camera on the wall and arms it in its own view, without losing the focus.
func (b *browser) arms(id string) {
	b.t.Helper()
	b.press(`nav a[data-view='wall']`)
	b.shows(`document.querySelector("#armed")?.textContent === "Armed" && document.querySelector("#arm").textContent === "Disarm"`)
	ask[bool](b, `(document.querySelector("#arm").focus(), true)`)
	b.press("#arm")
	b.shows(`document.querySelector("#armed").textContent === "Disarmed by hand" && document.querySelector("#arm").textContent === "Arm"`)
	b.shows(`document.querySelector("[data-id='` + id + `'] .more").textContent.includes("disarmed by hand")`)
	require.Equal(b.t, "arm", ask[string](b, `document.activeElement.id`))
	b.looks("wall-disarmed")
	b.press("[data-id='" + id + "'] a")
	b.shows(`!!document.querySelector("#still") && document.querySelector("#armed").textContent === "Disarmed by hand"`)
	b.looks("camera-disarmed")
	b.press("#arm")
	b.shows(`document.querySelector("#armed").textContent === "Armed" && document.querySelector("#arm").textContent === "Disarm"`)
	// What the stream tells next takes nothing of it back.
	b.press(`nav a[data-view='wall']`)
	b.shows(`!document.querySelector("[data-id='` + id + `'] .more").textContent.includes("disarmed")`)
}

// plans gives all cameras, and one, times of the week, which the YAML has and the bridge goes by at
// once; what cannot be written is refused, with the reason.
func (b *browser) plans(yaml, id string) {
	b.t.Helper()
	b.press(`nav a[data-view='wall']`)
	b.press("#to-schedule")
	b.shows(`document.querySelector("#week-says")?.textContent === "Armed at all times." && document.querySelector("#schedule-save").disabled`)
	b.looks("schedule-empty")
	before := read(b.t, yaml)

	// By the keyboard: one more time, not on Mondays; a time without a day is refused.
	ask[bool](b, `(document.querySelector("#add-time").focus(), true)`)
	b.do(chromedp.KeyEvent("\r"))
	b.shows(`document.activeElement.type === "checkbox" && document.querySelector("#week-says").textContent === "Armed 91 of 168 hours a week."`)
	b.do(chromedp.KeyEvent(" "))
	b.shows(`document.querySelector("#week-says").textContent === "Armed 78 of 168 hours a week." && document.querySelectorAll("#week-bars rect").length === 12`)
	b.looks("schedule")
	b.press("#add-time")
	ask[bool](b, `(document.querySelectorAll("#times fieldset")[1].querySelectorAll("input:checked").forEach((c) => c.click()), true)`)
	b.press("#schedule-save")
	b.shows(`document.querySelector("#schedule-refusal").textContent.startsWith("Time 2 has no day")`)
	require.Equal(b.t, before, read(b.t, yaml))
	b.press(`#times fieldset:nth-of-type(2) button`)
	b.press("#schedule-save")
	b.shows(`document.querySelector("#schedule-done").textContent.startsWith("Saved")`)
	nights := "\narm:\n  schedule:\n    - \"tue-sun 18:00-07:00\"\n"
	require.Equal(b.t, before+nights, read(b.t, yaml))

	// One camera has an hour of another day, and is disarmed until then.
	day := strings.ToLower(time.Now().AddDate(0, 0, 3).Format("Mon"))
	b.do(chromedp.Navigate(ask[string](b, `location.origin`) + "/#/camera/" + id))
	b.press("#to-schedule")
	b.shows(`document.querySelector("#schedule-of")?.value === "` + id + `" && !document.querySelector("#own").checked && document.querySelector("#times").disabled`)
	b.press("#own")
	b.shows(`!document.querySelector("#times").disabled`)
	ask[bool](b, `((row) => {
		row.querySelectorAll("input[type=checkbox]").forEach((c, i) => { if (c.checked !== (["mon", "tue", "wed", "thu", "fri", "sat", "sun"][i] === "`+day+`")) c.click(); });
		row.querySelectorAll("input[type=time]").forEach((f, i) => { f.value = ["23:00", "00:00"][i]; f.dispatchEvent(new Event("input")); });
	})(document.querySelector("#times fieldset")), true`)
	b.shows(`document.querySelector("#week-says").textContent === "Armed 1 of 168 hours a week."`)
	b.press("#schedule-save")
	b.shows(`document.querySelector("#schedule-done").textContent.startsWith("Saved")`)
	own := read(b.t, yaml)
	require.Contains(b.t, own, "    arm:\n      schedule:\n        - \""+day+" 23:00-24:00\"\n")
	b.press(`nav a[data-view='wall']`)
	b.shows(`document.querySelector("[data-id='` + id + `'] .more").textContent.includes("disarmed until")`)

	// What the page cannot write says why; what it can is taken back.
	require.NoError(b.t, os.WriteFile(yaml, []byte(strings.Replace(own, "arm:\n      schedule:\n        - \""+day+
		" 23:00-24:00\"\n", "arm: {schedule: ["+day+" 23:00-24:00]}\n", 1)), 0o600))
	b.do(chromedp.Navigate(ask[string](b, `location.origin`) + "/#/schedule/" + id))
	b.shows(`document.querySelector("#own")?.checked && !document.querySelector("#own-row").hidden`)
	b.press("#times button")
	b.shows(`!document.querySelector("#times-none").hidden`)
	b.press("#schedule-save")
	b.shows(`document.querySelector("#schedule-refusal").textContent.includes("written in braces")`)
	require.NoError(b.t, os.WriteFile(yaml, []byte(own), 0o600))
	b.press("#own")
	b.press("#schedule-save")
	b.shows(`document.querySelector("#schedule-done").textContent.startsWith("Saved") && document.querySelector("#schedule-refusal").textContent === ""`)
	ask[bool](b, `(document.querySelector("#schedule-of").value = "", document.querySelector("#schedule-of").dispatchEvent(new Event("change")), true)`)
	b.press("#times button")
	b.press("#schedule-save")
	b.shows(`document.querySelector("#schedule-done").textContent.startsWith("Saved")`)
	require.Equal(b.t, before+"\narm:\n  schedule: []\n", read(b.t, yaml))
	b.press(`nav a[data-view='wall']`)
	b.shows(`!document.querySelector("[data-id='` + id + `'] .more").textContent.includes("disarmed")`)
}
