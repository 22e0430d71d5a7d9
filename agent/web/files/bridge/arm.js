// Arming: whether motion makes events, until when, and the button by which an administrator switches that.
import { send } from "./api.js";
import { $, clock, put } from "./dom.js";

// armed says it of a camera.
export const armed = (c) => (c.disarmed ? "disarmed" : "armed") + (c.switched ? " by hand" : "") + (c.armingUntil ? " until " + clock(c.armingUntil) : "");

// arming shows it of the cameras of a view, and switches them all.
export function arming(app, list) {
  const of = list.filter((c) => c && c.state !== "off"), off = of.filter((c) => c.disarmed).length, button = $("arm");
  const text = new Set(of.map(armed)).size === 1 ? armed(of[0]) : of.length - off + " of " + of.length + " armed";
  put($("armed"), of.length === 0 || text === "armed" && !app.maySetUp ? "" : text[0].toUpperCase() + text.slice(1), off ? "warn" : "dim");
  button.hidden = of.length === 0 || !app.maySetUp;
  $("to-schedule").hidden = button.hidden;
  $("to-schedule").href = "#/schedule" + (of.length === 1 && $("camera-name") ? "/" + encodeURIComponent(of[0].id) : "");
  put(button, (off ? "Arm" : "Disarm") + (of.length > 1 ? " all" : ""));
  button.onclick = async () => {
    button.onclick = null; // a disabled button would lose the focus
    try {
      const now = await send("POST", "web/arm", { cameras: of.map((c) => c.id), armed: off > 0 });
      for (const s of now) {
        const c = app.cameras.get(s.camera);
        if (c) Object.assign(c, { disarmed: !s.armed, switched: s.byHand, armingUntil: s.until });
      }
    } catch (e) { app.fail(e); }
    app.again(of.map((c) => c.id));
  };
}
