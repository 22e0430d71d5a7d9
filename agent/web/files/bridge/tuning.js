// Tuning a camera: masks, regions, lines and areas drawn over its newest still by mouse, touch or keyboard, and written into the
// configuration; trial.js tries it. Only administrators come here. What is not saved is kept for whoever comes back to the view.
import { get, imageAt, send } from "./api.js";
import { $, keep, make, put, stencil, svg } from "./dom.js";
import { trial } from "./trial.js";

const kinds = {
  masks: { one: "Mask", least: 3, what: "Never looked at, not by a region either." },
  regions: { one: "Region", least: 3, what: "Gets an event of its own when something moves inside." },
  lines: { one: "Line", least: 2, what: "Gets an event each time that something crosses it." },
  areas: { one: "Area", least: 3, what: "Gets an event while something is inside, or stays for long." },
};
const most = 64; // corners
const drafts = new Map(); // by camera

const read = (d) => ({ version: d.version, sensitivity: d.sensitivity, shapes: Object.keys(kinds).flatMap((kind) => d[kind].map((s) => kind === "masks" ? { kind, points: s } : { ...s, kind })) });

// written is what goes to the bridge; what is new gets an id made of its name.
function written(draft) {
  const out = { version: draft.version, sensitivity: draft.sensitivity };
  for (const kind of Object.keys(kinds)) {
    const list = draft.shapes.filter((s) => s.kind === kind), taken = new Set(list.map((s) => s.id));
    out[kind] = list.map(({ kind: _, ...s }) => {
      if (kind === "masks") return s.points;
      if (!s.id) {
        const first = s.name.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40).replace(/^-|-$/g, "") || kind.slice(0, -1);
        let id = first;
        for (let n = 2; taken.has(id); n++) id = first + "-" + n;
        taken.add(s.id = id);
      }
      return s;
    });
  }
  return out;
}

// crossed says whether two sides of an outline cross.
function crossed(points) {
  const turn = (a, b, c) => Math.sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
  const side = (i) => [points[i], points[(i + 1) % points.length]];
  for (let i = 0; i < points.length; i++) for (let j = i + 2; j < points.length; j++) {
    const [a, b] = side(i), [c, d] = side(j);
    if ((i || j < points.length - 1) && turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0) return true;
  }
  return false;
}

const within = (v) => Math.round(Math.min(Math.max(v, 0), 1) * 1000) / 1000;
const percent = (v) => Math.round(v * 1000) / 10 + " %";

export function tuning(app, [id]) {
  stencil("t-tuning");
  let draft, kept = "", saved = "", lastKey = "", chosen = -1, left = false, shown = "", drag;
  const past = [], rows = new Map(), groups = new Map(), handles = new Map();
  const img = $("draw-still"), area = $("drawing");
  const cam = () => app.cameras.get(id);
  const text = () => JSON.stringify(draft);
  const dirty = () => draft && kept !== saved;
  const titleOf = (s) => s.name || kinds[s.kind].one + " " + (draft.shapes.filter((o) => o.kind === s.kind).indexOf(s) + 1);

  function head() {
    const c = cam();
    put($("tuning-title"), "Tuning of " + (c?.name || id));
    $("tuning-camera").href = "#/camera/" + encodeURIComponent(id);
    img.alt = "newest still of " + (c?.name || id);
    if (!c?.lastPreview || c.lastPreview === shown) return;
    shown = c.lastPreview;
    img.src = imageAt(id, shown);
  }
  const tried = trial(id, titleOf, written);
  img.onload = () => {
    if (left) return;
    $("draw-none").hidden = true;
    $("draw-frame").style.aspectRatio = img.naturalWidth + " / " + img.naturalHeight;
    $("draw-frame").style.maxWidth = "calc(72vh * " + img.naturalWidth / img.naturalHeight + ")";
    paint();
  };

  // changed takes a change into the picture and what can be undone; those in a row of one key are undone together.
  function changed(key) {
    const now = text();
    if (now === kept) return;
    if (key !== lastKey) past.push(kept);
    lastKey = key;
    kept = now;
    put($("tuning-done"), "");
    put($("draw-said"), "");
    paint();
    tried.change(draft);
  }

  function choose(i) {
    chosen = i;
    lastKey = "";
    const s = draft.shapes[i];
    $("chosen").hidden = !s;
    if (s) {
      $("chosen-name-row").hidden = s.kind === "masks";
      $("chosen-way-row").hidden = s.kind !== "lines";
      $("chosen-keen-row").hidden = s.kind !== "regions";
      $("chosen-intrusion-row").hidden = $("chosen-loiter-row").hidden = s.kind !== "areas";
      $("chosen-name").value = s.name || "";
      $("chosen-way").value = s.direction || "any";
      $("chosen-keen").value = s.sensitivity || "";
      $("chosen-intrusion").checked = Boolean(s.intrusion);
      $("chosen-loiter").value = s.loiter || "";
      put($("chosen-what"), kinds[s.kind].what);
    }
    paint();
  }

  // paint draws everything in its place; nothing that is there is made anew.
  function paint() {
    if (!draft || left) return;
    const w = img.naturalWidth || 1600, h = img.naturalHeight || 900, at = ([x, y]) => x * w + "," + y * h;
    $("shapes").setAttribute("viewBox", `0 0 ${w} ${h}`);
    keep($("shapes"), groups, draft.shapes.map((s, i) => [s, i]), ([, i]) => i, () => svg("g"), (g, [s, i]) => {
      g.dataset.at = i;
      g.setAttribute("class", s.kind + (i === chosen ? " chosen" : "") + (s.kind !== "lines" && crossed(s.points) ? " wrong" : ""));
      const line = s.points.map(at).join(" ");
      g.replaceChildren(...(s.kind === "lines" ? [svg("polyline", { points: line, class: "grip" }), svg("polyline", { points: line }), ...way(s, w, h)] : [svg("polygon", { points: line })]));
    });
    const s = draft.shapes[chosen], n = s ? s.points.length : 0, list = [];
    for (let i = 0; i < n; i++) {
      list.push({ key: "corner " + i, i, x: s.points[i][0], y: s.points[i][1] });
      if (n < most && (i + 1 < n || s.kind !== "lines")) { const [a, b] = [s.points[i], s.points[(i + 1) % n]]; list.push({ key: "between " + i, i, between: true, x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2 }); }
    }
    // All of a shape is taken at its middle, a line beside it: there is where it gets one more corner.
    const mean = (axis) => s.kind === "lines" ? 0.25 * s.points[n - 2][axis] + 0.75 * s.points[n - 1][axis] : s.points.reduce((v, p) => v + p[axis], 0) / n;
    if (s) list.push({ key: "all", all: true, x: mean(0), y: mean(1) });
    keep($("corners"), handles, list, (c) => c.key, () => make("button", { type: "button" }), (b, c) => {
      b.className = c.all ? "all" : c.between ? "between" : "corner";
      b.tabIndex = c.between ? -1 : 0;
      b.style.left = 100 * c.x + "%";
      b.style.top = 100 * c.y + "%";
      b.dataset.key = c.key;
      put(b, c.all ? "✥" : c.between ? "+" : "");
      b.ariaLabel = c.all ? "Move all of " + titleOf(s) : c.between ? "One more corner behind corner " + (c.i + 1) : `Corner ${c.i + 1} of ${titleOf(s)}: ${percent(c.x)} across, ${percent(c.y)} down`;
    });
    $("drawn-none").hidden = draft.shapes.length > 0;
    keep($("drawn"), rows, draft.shapes.map((o, i) => [o, i]), ([, i]) => i, () => make("li", {}, make("button", { type: "button" }, make("span", { className: "swatch" }), make("span"), make("span", { className: "dim" }))), (li, [o, i]) => {
      const [b] = li.children;
      b.onclick = () => choose(chosen === i ? -1 : i);
      b.ariaPressed = String(i === chosen);
      b.children[0].className = "swatch " + o.kind;
      put(b.children[1], titleOf(o));
      put(b.children[2], o.kind === "masks" ? "" : kinds[o.kind].one.toLowerCase());
    });
    if (s) { put($("chosen-title"), titleOf(s)); put($("chosen-remove"), "Remove " + titleOf(s)); }
    $("keen").value = draft.sensitivity;
    put($("keen-value"), String(draft.sensitivity));
    $("undo").disabled = past.length === 0;
    $("tuning-save").disabled = !dirty();
    $("tuning-reset").hidden = !dirty();
  }

  // way draws which way of a line counts, on its middle part: A is on the left of who goes from its first point to its last.
  function way(s, w, h) {
    const m = Math.floor((s.points.length - 1) / 2), [ax, ay] = [s.points[m][0] * w, s.points[m][1] * h], [bx, by] = [s.points[m + 1][0] * w, s.points[m + 1][1] * h];
    const long = Math.hypot(bx - ax, by - ay) || 1, [nx, ny] = [(by - ay) / long, (ax - bx) / long], x = ax + (bx - ax) * 0.3, y = ay + (by - ay) * 0.3, size = Math.max(w, h) * 0.035;
    const arrow = (k) => svg("polyline", { class: "way", points: [[x - nx * k * size * 1.2, y - ny * k * size * 1.2], [x + nx * k * size * 1.2, y + ny * k * size * 1.2],
      [x + (nx * k + ny * 0.5) * size * 0.7, y + (ny * k - nx * 0.5) * size * 0.7], [x + nx * k * size * 1.2, y + ny * k * size * 1.2], [x + (nx * k - ny * 0.5) * size * 0.7, y + (ny * k + nx * 0.5) * size * 0.7]].map((p) => p.join(",")).join(" ") });
    const letter = (t, k) => { const e = svg("text", { x: x + nx * k * size * 2, y: y + ny * k * size * 2, "font-size": size }); e.textContent = t; return e; };
    return [...(s.direction !== "b-to-a" ? [arrow(-1)] : []), ...(s.direction !== "a-to-b" ? [arrow(1)] : []), letter("A", 1), letter("B", -1)];
  }

  // move brings a corner, or all of a shape, so far; a shape stays in the picture.
  function move(s, key, dx, dy) {
    const list = key === "all" ? s.points : [s.points[+key.split(" ")[1]]];
    for (const [axis, d] of [[0, dx], [1, dy]]) {
      const all = list.map((p) => p[axis]), bound = Math.min(Math.max(d, -Math.min(...all)), 1 - Math.max(...all));
      for (const p of list) p[axis] = within(p[axis] + bound);
    }
  }
  function split(s, i) {
    const [a, b] = [s.points[i], s.points[(i + 1) % s.points.length]];
    s.points.splice(i + 1, 0, [within((a[0] + b[0]) / 2), within((a[1] + b[1]) / 2)]);
  }
  const focus = (key) => handles.get(key)?.focus();

  const place = (p) => { const box = area.getBoundingClientRect(); return [(p.clientX - box.left) / box.width, (p.clientY - box.top) / box.height]; };
  area.onpointerdown = (p) => {
    if (p.button || !draft) return;
    let key = p.target.closest("button")?.dataset.key;
    const shape = p.target.closest("g");
    lastKey = "";
    if (!key) {
      if (!shape) return choose(-1);
      if (+shape.dataset.at !== chosen) return choose(+shape.dataset.at);
      key = "all";
    } else if (key.startsWith("between")) {
      const i = +key.split(" ")[1];
      split(draft.shapes[chosen], i);
      changed("drag");
      key = "corner " + (i + 1);
    }
    p.preventDefault();
    focus(key);
    // What is taken stays as far from the finger as it was.
    const n = key === "all" ? 0 : +key.split(" ")[1], [x, y] = place(p), [cx, cy] = draft.shapes[chosen].points[n];
    drag = { key, n, off: [x - cx, y - cy] };
    area.setPointerCapture(p.pointerId);
  };
  area.onpointermove = (p) => {
    if (!drag) return;
    const s = draft.shapes[chosen], [x, y] = place(p), [cx, cy] = s.points[drag.n];
    move(s, drag.key, x - drag.off[0] - cx, y - drag.off[1] - cy);
    changed("drag");
  };
  area.onpointerup = area.onpointercancel = () => { drag = undefined; lastKey = ""; };
  $("corners").onkeydown = (k) => {
    const key = k.target.dataset.key, s = draft.shapes[chosen], i = +key.split(" ")[1], step = k.shiftKey ? 0.002 : 0.01;
    const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[k.key];
    if (by) {
      move(s, key, ...by);
      changed("keys " + key);
      put($("draw-said"), k.target.ariaLabel);
    } else if (k.key === "+" && key !== "all" && s.points.length < most && (s.kind !== "lines" || i + 1 < s.points.length)) {
      split(s, i);
      changed("");
      focus("corner " + (i + 1));
    } else if ((k.key === "Delete" || k.key === "Backspace") && key !== "all") {
      if (s.points.length <= kinds[s.kind].least) { put($("draw-said"), `${titleOf(s)} needs ${kinds[s.kind].least} corners; the button Remove takes all of it away.`); return; }
      s.points.splice(i, 1);
      changed("");
      focus("corner " + Math.max(i - 1, 0));
    } else if (k.key === "Escape") { const row = rows.get(chosen); choose(-1); row?.querySelector("button").focus(); } else return;
    k.preventDefault();
  };

  for (const kind of Object.keys(kinds)) {
    $("add-" + kind).onclick = () => {
      if (!draft) return;
      const same = draft.shapes.filter((s) => s.kind === kind).length, off = within(0.03 * (same % 8));
      const points = (kind === "lines" ? [[0.3, 0.5], [0.7, 0.5]] : [[0.35, 0.35], [0.65, 0.35], [0.65, 0.65], [0.35, 0.65]]).map(([x, y]) => [within(x + off), within(y + off)]);
      const more = { masks: {}, regions: {}, lines: { direction: "any" }, areas: { intrusion: true } }[kind];
      const end = draft.shapes.findLastIndex((s) => Object.keys(kinds).indexOf(s.kind) <= Object.keys(kinds).indexOf(kind));
      draft.shapes.splice(end + 1, 0, { kind, points, ...(kind === "masks" ? {} : { name: kinds[kind].one + " " + (same + 1) }), ...more });
      lastKey = "";
      changed("");
      choose(end + 1);
      focus("corner 0");
    };
  }
  $("undo").onclick = () => {
    kept = past.pop();
    draft = JSON.parse(kept);
    tried.change(draft);
    put($("tuning-done"), "");
    choose(chosen < draft.shapes.length ? chosen : -1);
    if (past.length === 0) $("tuning-title").focus();
  };
  $("chosen-remove").onclick = () => {
    draft.shapes.splice(chosen, 1);
    lastKey = "";
    changed("");
    const next = rows.get(Math.min(chosen, draft.shapes.length - 1));
    choose(-1);
    (next?.isConnected ? next.querySelector("button") : $("add-masks")).focus();
  };
  const field = (name, key, value) => { $(name).oninput = () => { const s = draft.shapes[chosen]; if (!s) return; s[key] = value($(name)); changed(name); }; };
  field("chosen-name", "name", (f) => f.value);
  field("chosen-way", "direction", (f) => f.value);
  field("chosen-keen", "sensitivity", (f) => +f.value);
  field("chosen-intrusion", "intrusion", (f) => f.checked);
  field("chosen-loiter", "loiter", (f) => +f.value);
  $("keen").oninput = () => { draft.sensitivity = +$("keen").value; changed("keen"); };

  const refuse = (e) => { if (left) return; if (e.status === undefined) app.fail(e); else put($("tuning-refusal"), e.message); };
  function take(d, said) {
    draft = read(d);
    saved = kept = text();
    past.length = 0;
    put($("tuning-done"), said);
  }
  const load = async (said = "") => {
    const d = await get("web/cameras/" + encodeURIComponent(id) + "/motion");
    if (left) return;
    take(d, said);
    const old = drafts.get(id);
    drafts.delete(id);
    if (old && old.version === draft.version) { past.push(saved); draft = old; kept = text(); put($("tuning-done"), "This was drawn before, and is not saved yet."); }
    choose(-1);
    tried.change(draft);
  };
  $("tuning-reset").onclick = () => { put($("tuning-refusal"), ""); load("What is saved is shown again.").then(() => $("keen").focus(), refuse); };
  $("tuning-form").onsubmit = async (e) => {
    e.preventDefault();
    put($("tuning-refusal"), "");
    const bad = draft.shapes.find((s) => s.kind !== "lines" && crossed(s.points));
    if (bad) { put($("tuning-refusal"), `The sides of ${titleOf(bad)} cross each other: move a corner.`); choose(draft.shapes.indexOf(bad)); return; }
    const idle = draft.shapes.find((s) => s.kind === "areas" && !s.intrusion && !s.loiter);
    if (idle) { put($("tuning-refusal"), `${titleOf(idle)} looks for nothing: give it a time, or an event as soon as something is inside.`); choose(draft.shapes.indexOf(idle)); return; }
    $("tuning-save").disabled = true;
    try {
      const d = await send("PUT", "web/cameras/" + encodeURIComponent(id) + "/motion", written(draft));
      if (left) return;
      take(d, "Saved: the bridge looks this way now.");
      tried.change(draft);
      choose(chosen < draft.shapes.length ? chosen : -1);
      if (document.activeElement === document.body) $("keen").focus();
    } catch (e) { refuse(e); } finally { if (!left) paint(); }
  };
  const unload = (e) => { if (dirty()) e.preventDefault(); };
  addEventListener("beforeunload", unload);

  $("tuning-title").tabIndex = -1;
  head();
  app.follow(id);
  load().catch(refuse);
  return {
    stays: true, event: () => {}, cameras: head,
    stop: () => { left = true; tried.stop(); app.follow(""); removeEventListener("beforeunload", unload); if (dirty()) drafts.set(id, draft); },
  };
}
