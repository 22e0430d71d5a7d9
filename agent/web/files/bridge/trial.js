// What is drawn is tried: on the pictures that come, by a detector beside the bridge's own, and on the motions that are kept.
import { follow, get, now as serverNow, stamp } from "./api.js";
import { $, board, dataOf, includePlaces, ink, keep, make, placesOf, put, svg } from "./dom.js";

const span = 60000, low = -5; // of the chart: milliseconds, and the power of ten at its foot
const pause = 700; // milliseconds without a change until it is tried
const mostEvents = 500;
const share = (v) => (100 * v).toLocaleString([], { maximumSignificantDigits: 2 }) + " %";
const times = (n, one, more) => n === 1 ? "1 " + one : n + " " + more;

// inside says whether a place lies in an outline, by the even-odd rule.
function inside(points, x, y) {
  let is = false;
  for (let i = 0, j = points.length - 1; i < points.length; j = i++) {
    const [a, b] = [points[i], points[j]];
    if ((a[1] > y) !== (b[1] > y) && x < (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0]) is = !is;
  }
  return is;
}
// spots are places all over a box.
const spots = ([l, t, r, b]) => Array.from({ length: 25 }, (_, i) => [l + (r - l) * (0.1 + 0.2 * (i % 5)), t + (b - t) * (0.1 + 0.2 * Math.floor(i / 5))]);

// trial tries drawings of a camera; titleOf names a shape, and written makes of a drawing what the bridge takes.
export function trial(id, titleOf, written) {
  let draft, stop, timer, left = false, last, began = 0, motions = [], crossings = [], more = false, near = [], nearSince = 0;
  const samples = [], counts = new Map(), rows = new Map();
  const path = "web/cameras/" + encodeURIComponent(id) + "/motion:try";

  function begin() {
    stop?.();
    stop = undefined;
    if (left || document.hidden || !draft) return;
    const wire = written(draft), names = new Map();
    for (const list of ["regions", "lines", "areas"]) draft.shapes.filter((s) => s.kind === list).forEach((s, i) => names.set(list + "/" + wire[list][i].id, titleOf(s)));
    began = 0;
    counts.clear();
    put($("tried-says"), "");
    stop = follow((ask) => ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(wire) }).catch((e) => { if (e.status && !left) put($("activity-says"), e.message); throw e; }), (kind, look) => {
      if (kind === "look" && !left) hear(look, names);
    });
  }

  function hear(look, names) {
    const now = serverNow();
    if (look.waits) { put($("activity-says"), "No picture comes from the camera now."); $("moves").replaceChildren(); last = undefined; return; }
    const keen = last?.least !== look.least;
    last = look;
    if (look.nearSince) { near = look.near || []; nearSince = look.nearSince; }
    if (keen || look.nearSince) count();
    if (!look.learning && !began) began = now;
    samples.push({ t: now, share: look.learning ? 0 : look.share });
    while (samples[0].t < now - span) samples.shift();
    for (const f of look.found || []) { const name = names.get(f.list + "/" + f.id) || ""; counts.set(name, (counts.get(name) || 0) + 1); }
    put($("activity-says"), look.learning ? "It learns what the scene looks like." : `${share(look.share)} of the picture moves; what is to count must be some ${share(look.least)}, for a quarter of a second.`);
    if (began) put($("tried-says"), `Tried since ${new Date(began).toLocaleTimeString()}, beside the bridge's own detector and without events: ` +
      [times(counts.get("") || 0, "motion", "motions"), ...[...counts].filter(([name]) => name).map(([name, n]) => `${name}: ${n}`)].join(", ") + ".");
    $("moves").replaceChildren(...($("boxes").checked ? look.boxes || [] : []).map(([l, t, r, b]) => svg("rect", { class: "box", x: l, y: t, width: r - l, height: b - t })));
    draw(now);
  }

  function draw(now) {
    const canvas = $("activity"), width = canvas.clientWidth, height = 96, g = board(canvas, width, height);
    const y = (v) => height - (Math.max(Math.log10(v || 1e-9), low) - low) / -low * (height - 6), x = (t) => width - (now - t) / span * width;
    g.font = "11px system-ui";
    g.fillStyle = ink("--dim");
    for (const v of [0.0001, 0.001, 0.01, 0.1]) { g.globalAlpha = 0.35; g.fillRect(0, y(v), width, 1); g.globalAlpha = 1; g.fillText(100 * v + " %", 4, y(v) - 2); }
    for (const s of samples) { g.fillStyle = ink(s.share >= last.least ? "--motion" : "--dim"); g.fillRect(x(s.t) - 2, y(s.share), 3, height); }
    g.fillStyle = ink("--warn");
    g.fillRect(0, y(last.least), width, 2);
    const label = "needed: " + share(last.least), long = g.measureText(label).width;
    g.fillStyle = ink("--card");
    g.fillRect(width / 2 - long / 2 - 4, y(last.least) - 7, long + 8, 15);
    g.fillStyle = ink("--warn");
    g.fillText(label, width / 2 - long / 2, y(last.least) + 4);
  }

  // list asks for what is kept of the hours that are chosen.
  async function list() {
    const since = { actor: "camera:" + id, pageSize: mostEvents, startTimestamp__gte: stamp(serverNow() - $("past-hours").value * 3600e3), startTimestamp__lte: stamp(serverNow() + 60e3) };
    const [moved, crossed] = await Promise.all([get("api/v3.0/events", { ...since, type__in: "vms.motionDetectionEvent.v1", include: "data.vms.objectDetection.v1" }),
      get("api/v3.0/events", { ...since, type__in: "vms.objectLineCrossEvent.v1", include: includePlaces.join(",") })]);
    if (left) return;
    motions = moved.results.map((e) => dataOf(e, "objectDetection").map((d) => d.boundingBox)).filter((boxes) => boxes.length);
    more = moved.results.length === mostEvents;
    crossings = crossed.results.flatMap(placesOf);
    count();
  }

  function count() {
    if (left || !draft) return;
    const n = motions.length, of = (test) => motions.filter(test).length, masks = draft.shapes.filter((s) => s.kind === "masks");
    const said = [(more ? "The newest " : "") + times(n, "motion", "motions") + " with boxes."];
    if (n && masks.length) said.push(`${of((boxes) => boxes.every((b) => spots(b).every(([x, y]) => masks.some((m) => inside(m.points, x, y)))))} of ${n} lie wholly behind the masks: they would not have come.`);
    for (const s of draft.shapes) {
      if (n && s.kind === "regions") said.push(`${titleOf(s)}: ${of((boxes) => boxes.some((b) => spots(b).some(([x, y]) => inside(s.points, x, y))))} of ${n} reach into it.`);
      if (n && s.kind === "areas") said.push(`${titleOf(s)}: in ${of((boxes) => boxes.some(([l, , r, b]) => inside(s.points, (l + r) / 2, b)))} of ${n} something stood in it, by the middle of a box's lower edge.`);
      if (s.kind === "lines") said.push(`${titleOf(s)}: what would have crossed it cannot be told from boxes; see what moves now.` + (s.id ? ` As it was saved, it was crossed ${times(crossings.filter((c) => c.id === s.id).length, "time", "times")}.` : ""));
    }
    const size = ([l, t, r, b]) => (r - l) * (b - t), missed = last ? of((boxes) => boxes.every((b) => size(b) < last.least)) : 0;
    if (missed) said.push(`${missed} of ${n} show only what is smaller than ${share(last.least)}: at this sensitivity they would not have come.`);
    if (last && nearSince) {
      const since = Math.max(nearSince, serverNow() - $("past-hours").value * 3600e3), small = near.filter(([t, s]) => t >= since && s >= last.least).length;
      said.push(`Since ${new Date(since).toLocaleString([], { dateStyle: "short", timeStyle: "short" })} ${small ? `some ${times(small, "more motion", "more motions")} would have come: so often` : "none more would have come: never"} ${share(last.least)} of the picture moved for a quarter of a second without being enough for the sensitivity that is saved. What was too faint for that one to see is not counted; what moves now shows it.`);
    }
    keep($("past"), rows, said.map((text, i) => [i, text]), ([i]) => i, () => make("li"), (li, [, text]) => put(li, text));
  }

  // While the tab is hidden nothing is tried, and nothing asked.
  const seen = () => { if (document.hidden) { stop?.(); stop = undefined; } else begin(); };
  document.addEventListener("visibilitychange", seen);
  const failed = (e) => { if (!left) put($("past").firstChild || $("activity-says"), e.message); };
  $("past-hours").onchange = () => list().catch(failed);
  list().catch(failed);
  return {
    // change tries another drawing, once it stays for a moment.
    change: (d) => {
      draft = d;
      clearTimeout(timer);
      timer = setTimeout(() => { begin(); count(); }, stop ? pause : 0);
    },
    stop: () => { left = true; clearTimeout(timer); stop?.(); document.removeEventListener("visibilitychange", seen); },
  };
}
