package e2e

import "github.com/stretchr/testify/require"

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
