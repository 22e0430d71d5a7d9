package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// slides drags something by a finger, dx and dy pixels far.
func (b *browser) slides(x, y, dx, dy float64) {
	b.t.Helper()
	finger := 0.0
	touch := func(kind input.DispatchTouchEventType, at ...*input.TouchPoint) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, input.DispatchTouchEvent,
				input.DispatchTouchEventParams{Type: kind, TouchPoints: append([]*input.TouchPoint{}, at...)})
			return err
		})
	}
	b.do(touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: x, Y: y, ID: &finger}),
		touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: x + dx/2, Y: y + dy/2, ID: &finger}),
		touch(input.DispatchTouchEventTypeTouchMove, &input.TouchPoint{X: x + dx, Y: y + dy, ID: &finger}),
		touch(input.DispatchTouchEventTypeTouchEnd))
}

// tunes draws over the picture of a camera as its administrator does, by keyboard and mouse, and
// saves it into the YAML, which has a comment in the camera's section.
func (b *browser) tunes(yaml, id string) {
	b.t.Helper()
	// What is tried, and what moved, is noted for the end.
	ask[bool](b, `(window.tries = [], window.moved = false, window.plainly = fetch, window.fetch = (u, o) => { if (String(u).includes("motion:try")) tries.push(o.signal); return plainly(u, o); },
		new MutationObserver(() => { moved ||= !!document.querySelector("#moves rect"); }).observe(document.body, {childList: true, subtree: true}), true)`)
	b.do(chromedp.Navigate(ask[string](b, `location.origin`) + "/#/camera/" + id))
	b.shows(`!document.querySelector("#tune").hidden && document.querySelector("#still").naturalWidth > 300`)
	b.press("#tune")
	b.shows(`document.querySelector("#draw-still")?.naturalWidth > 300 && document.querySelector("#tuning-save").disabled`)
	b.shows(`!document.querySelector("#drawn-none").hidden`)
	b.looks("tuning-empty")

	// A mask: its first corner has the focus and goes with the arrow keys; one more comes and goes.
	b.press("#add-masks")
	corner := func(n int, at string) string {
		return fmt.Sprintf(`document.activeElement.ariaLabel === "Corner %d of Mask 1: %s"`, n, at)
	}
	b.shows(corner(1, "35 % across, 35 % down"))
	b.do(chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowUp, chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.shows(corner(1, "34 % across, 34.8 % down"))
	b.do(chromedp.KeyEvent("+"))
	b.shows(corner(2, "49.5 % across, 34.9 % down") + ` && document.querySelectorAll("#corners .corner").length === 5`)
	b.do(chromedp.KeyEvent(kb.Delete))
	b.shows(corner(1, "34 % across, 34.8 % down") + ` && document.querySelectorAll("#corners .corner").length === 4`)
	b.do(chromedp.KeyEvent(kb.Delete))
	b.shows(`document.querySelectorAll("#corners .corner").length === 3`)
	b.do(chromedp.KeyEvent(kb.Delete))
	b.shows(`document.querySelector("#draw-said").textContent.includes("needs 3 corners")`)
	b.press("#undo")
	b.shows(`document.querySelectorAll("#corners .corner").length === 4`)

	// A region with a name, one of its corners drawn by the mouse; a line that counts one way.
	b.press("#add-regions")
	b.types("#chosen-name", `<b>Door</b> "1"`)
	b.shows(`document.querySelector("#drawn").textContent.includes('<b>Door</b> "1"')`)
	const corner3 = `document.querySelector("#corners [data-key='corner 2']").getBoundingClientRect()`
	x, y := ask[float64](b, corner3+".x + 5"), ask[float64](b, corner3+".y + 5")
	width := ask[float64](b, `document.querySelector("#drawing").clientWidth`)
	b.do(chromedp.MouseEvent(chromedp.MousePressed, x, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, x+width/10, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, x+width/10, y, chromedp.ButtonLeft))
	b.shows(`/: 7[45][0-9.]* % across, 65 % down/.test(document.querySelector("#corners [data-key='corner 2']").ariaLabel)`)
	// The same corner by a finger, on a phone, taken at its edge: it goes as far as the finger.
	b.do(chromedp.EmulateViewport(390, 800, chromedp.EmulateTouch))
	b.shows(`(document.querySelector("#drawing").scrollIntoView({block: "center"}), document.querySelector("#drawing").clientWidth < 390)`)
	x, y = ask[float64](b, corner3+".x + 3"), ask[float64](b, corner3+".y + 14")
	const across = `+/: ([0-9.]+) % across/.exec(document.querySelector("#corners [data-key='corner 2']").ariaLabel)[1]`
	stood := ask[float64](b, across)
	b.slides(x, y, -ask[float64](b, `document.querySelector("#drawing").clientWidth`)/10, 30)
	b.shows(`/, 7[0-9.]* % down/.test(document.querySelector("#corners [data-key='corner 2']").ariaLabel)`)
	require.InDelta(b.t, stood-10, ask[float64](b, across), 0.5)
	b.do(chromedp.EmulateViewport(1280, 800))
	b.press("#add-lines")
	b.shows(`document.querySelectorAll("#shapes .way").length === 2`)
	ask[bool](b, `(document.querySelector("#chosen-way").value = "a-to-b", document.querySelector("#chosen-way").dispatchEvent(new Event("input")), true)`)
	b.shows(`document.querySelectorAll("#shapes .way").length === 1`)

	// It is tried on what was, and on what comes: with all that is drawn by now.
	b.shows(`/^[1-9][0-9]* motions? with boxes/.test(document.querySelector("#past").textContent) && document.querySelector("#past").textContent.includes("reach into it") &&
		document.querySelector("#past").textContent.includes("cannot be told") &&
		/Since .* (none|some [0-9]+) more .*sensitivity that is saved/.test(document.querySelector("#past").textContent)`)
	b.shows(`/ % of the picture moves/.test(document.querySelector("#activity-says").textContent) && document.querySelector("#tried-says").textContent.startsWith("Tried since")`)
	b.looks("tuning")
	b.press("#add-areas")

	// Sides that cross are refused before anything is written.
	before := read(b.t, yaml)
	b.press("#drawn li:nth-child(1) button")
	ask[bool](b, `(document.querySelector("#corners [data-key='corner 0']").focus(), true)`)
	for range 40 {
		b.do(chromedp.KeyEvent(kb.ArrowRight))
	}
	b.press("#tuning-save")
	b.shows(`document.querySelector("#tuning-refusal").textContent.includes("Mask 1 cross")`)
	require.Equal(b.t, before, read(b.t, yaml))
	b.press("#undo")
	b.shows(`document.querySelector("#corners [data-key='corner 0']").ariaLabel.includes("34 % across")`)

	// What is drawn is still there for whoever looked at something else. It is saved, and all else
	// of the file stays.
	b.press(`nav a[data-view='health']`)
	b.shows(`!!document.querySelector("#figures")`)
	b.do(chromedp.Navigate(ask[string](b, `location.origin`) + "/#/tuning/" + id))
	b.shows(`document.querySelectorAll("#drawn li").length === 4 && document.querySelector("#tuning-done").textContent.includes("not saved yet")`)
	b.press("#tuning-save")
	b.shows(`document.querySelector("#tuning-done").textContent.startsWith("Saved") && document.querySelector("#tuning-save").disabled`)
	now := read(b.t, yaml)
	require.Contains(b.t, now, "    motion:\n      masks:\n"+
		"        - [[0.34, 0.348], [0.65, 0.35], [0.65, 0.65], [0.35, 0.65]]\n"+
		"      regions:\n        - id: b-door-b-1\n")
	require.Contains(b.t, now, "          direction: a-to-b\n      areas:\n        - id: area-1\n"+
		"          name: \"Area 1\"\n")
	require.Equal(b.t, before, now[:strings.Index(now, "    motion:\n")], "all else is as it was")

	// What the file says meanwhile is not overwritten.
	b.press("#drawn li:nth-child(1) button")
	b.press("#chosen-remove")
	b.shows(`document.querySelectorAll("#drawn li").length === 3`)
	require.NoError(b.t, os.WriteFile(yaml, []byte(strings.Replace(now, "area-1", "area-one", 1)), 0o600))
	b.press("#tuning-save")
	b.shows(`document.querySelector("#tuning-refusal").textContent.includes("Somebody else")`)
	b.press("#tuning-reset")
	b.shows(`document.querySelectorAll("#drawn li").length === 4 && document.querySelector("#tuning-refusal").textContent === ""`)
	b.press("#drawn li:nth-child(1) button")
	b.press("#chosen-remove")
	b.press("#tuning-save")
	b.shows(`document.querySelector("#tuning-done").textContent.startsWith("Saved")`)
	require.NotContains(b.t, read(b.t, yaml), "[0.34, 0.348]")
	require.Contains(b.t, read(b.t, yaml), "area-one")

	// What moves is drawn over the picture. A hidden tab tries nothing; one that is seen again
	// does.
	b.shows(`moved && tries.length > 1 && !tries.at(-1).aborted`)
	ask[bool](b, `(window.before = tries.length, Object.defineProperty(document, "hidden", {get: () => true, configurable: true}), document.dispatchEvent(new Event("visibilitychange")), true)`)
	b.shows(`tries.length === before && tries.every((t) => t.aborted)`)
	ask[bool](b, `(delete document.hidden, document.dispatchEvent(new Event("visibilitychange")), true)`)
	b.shows(`tries.length > before && !tries.at(-1).aborted`)
	b.press("nav a[data-view='health']")
	b.shows(`tries.every((t) => t.aborted)`)
}
