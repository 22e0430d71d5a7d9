// What is the bridge's alone: its views, and where it has from what all views share.
import { follow, get, imageAt, send } from "./api.js";
import { armed, arming } from "./arm.js";
import { clock, rate } from "./dom.js";
import { health } from "./health.js";
import { schedule } from "./schedule.js";
import { setup } from "./setup.js";
import { tuning } from "./tuning.js";

export const name = "vmsbridge", called = "The bridge";
export const tokens = "Is it one of api.tokens in the configuration?";
export const codes = "A new start of the bridge makes a new one.";
export const first = ["First time here? Set the first user's password", "The bridge made a code when it started. It is in the file first-user.token in its data folder; the log says where. It can be used once."];
export const noStill = "this still is not there any more";
export const views = { health, schedule, setup, tuning };
export const liveEvery = 500; // milliseconds between two stills of a live view

// newest is the address of a camera's newest still, and facts what else a tile says of the camera. A still comes as it is kept
// unless it is wide: to make it smaller costs the bridge more than to send it.
export const newest = (c, wide) => imageAt(c.id, c.lastPreview, wide && 480);
export { arming };
export const facts = (c) => [c.disarmed && armed(c), c.lastPreview && "still of " + clock(c.lastPreview), c.codec && c.codec.toUpperCase() + " " + c.width + "×" + c.height,
  rate(c), c.decoding && (100 * c.decoding.processor).toFixed(1) + " % processor"];

// ways are how far events are on their way to the service, by id, for administrators; again sends one that was refused once more.
export const ways = (app, ids) => app.maySetUp ? send("POST", "web/events:way", { ids }) : Promise.resolve({});
export const again = (id) => send("POST", "web/events:retry", { ids: [id] });

// begin fills the page's state and says what the page is called.
export async function begin(app) {
  const r = await get("web/status");
  app.cameras = new Map(r.cameras.map((c) => [c.id, c]));
  app.order = r.cameras.map((c) => c.id);
  app.maySetUp = r.maySetUp;
  app.allow("setup", r.maySetUp);
  if (r.maySetUp && r.cameras.length === 0 && location.hash.length < 3) history.replaceState(null, "", "#/setup");
  app.wrong(r.problems.length);
  return r.name || r.bridge;
}

// changes follows the bridge; say hears of "cameras", "order" and "event" besides. The camera watch makes two stills a second.
export function changes(app, watch, say) {
  const beat = setInterval(() => fetch("healthz", { cache: "no-store" }).then((a) => a.json()).then((h) => app.wrong(h.problems.length), () => {}), 30000);
  const stop = follow((ask) => ask("web/changes" + (watch ? "?watch=" + encodeURIComponent(watch) : "")), say);
  return () => { clearInterval(beat); stop(); };
}
