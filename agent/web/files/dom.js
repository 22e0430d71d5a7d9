// Small tools for the page. Text from outside goes in as text, never as HTML.

export const $ = (id) => document.getElementById(id);

export function make(tag, { text, ...rest } = {}, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(rest)) key in e ? (e[key] = value) : e.setAttribute(key, value);
  if (text !== undefined) e.textContent = text;
  e.append(...children);
  return e;
}

// svg makes a part of a drawing.
export function svg(tag, attributes = {}) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
}

// ink is a colour of the style sheet, where each has a light and a dark side: a probe resolves it.
const probe = make("span", { hidden: true });
export function ink(name) {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

// board makes a canvas as sharp as the screen is, of so many pixels of the style sheet.
export function board(canvas, width, height) {
  const scale = devicePixelRatio || 1, g = canvas.getContext("2d");
  if (canvas.width !== Math.round(width * scale)) { canvas.width = Math.round(width * scale); canvas.height = height * scale; }
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  return g;
}

// put changes a text only if it is another one, so that what a reader has selected stays.
export function put(e, text, className) {
  if (e.textContent !== text) e.textContent = text;
  if (className !== undefined && e.className !== className) e.className = className;
  return e;
}

// stencil puts a template's content into the page.
export function stencil(id) {
  const main = $("main");
  main.replaceChildren($(id).content.cloneNode(true));
  return main;
}

const kinds = { "vms.motionDetectionEvent.v1": "Motion", "vms.motionInRegionDetectionEvent.v1": "Motion in a region", "vms.tamperDetectionEvent.v1": "Tampering",
  "vms.deviceCloudStatusUpdateEvent.v1": "State", "vms.deviceOperationEvent.v1": "Operation", "vms.objectLineCrossEvent.v1": "Line crossed",
  "vms.objectIntrusionEvent.v1": "Intrusion", "vms.loiterDetectionEvent.v1": "Loitering", "vms.objectRemovalEvent.v1": "Object removed or left",
  "vms.deviceCreationEvent.v1": "Added", "vms.deviceUpdateEvent.v1": "Changed", "vms.deviceDeletionEvent.v1": "Removed" };
export const kindOf = (type) => kinds[type] || type.replace(/^vms\./, "").replace(/Event\.v\d+$/, "").replace(/([A-Z])/g, " $1").toLowerCase();
export const knownKinds = Object.entries(kinds);

// The words of vmsbridge status for a camera's state.
const states = { online: "online", connecting: "connecting", off: "switched off", unreachable: "does not answer", invalidCredentials: "refuses the password",
  deviceOffline: "does not answer", bridgeOffline: "its bridge is away", unknown: "not known yet" };
export const stateOf = (c) => states[c.state] || c.state.replace(/([A-Z])/g, " $1").toLowerCase();

export function duration(ms) {
  const s = Math.round(ms / 1000);
  return s < 60 ? (ms / 1000).toFixed(1) + " s" : s < 3600 ? Math.floor(s / 60) + " min " + (s % 60) + " s"
    : s < 172800 ? Math.floor(s / 3600) + " h " + Math.floor((s % 3600) / 60) + " min" : (s / 86400).toFixed(1) + " days";
}

// rate is how many pictures a second a camera sends, "" where that is not known.
export const rate = (c) => c.rate ? c.rate.toFixed(c.rate < 10 ? 1 : 0) + " fps" : "";

export function bytes(n) {
  for (const unit of ["B", "kB", "MB", "GB"]) { if (n < 1000) return n.toFixed(n < 10 && unit !== "B" ? 1 : 0) + " " + unit; n /= 1000; }
  return n.toFixed(1) + " TB";
}

const today = () => new Date().toDateString();
export const clock = (t) => { const d = new Date(t); return (d.toDateString() === today() ? "" : d.toLocaleDateString() + " ") + d.toLocaleTimeString(); };

// dataOf is the items of an event of a schema.
export const dataOf = (e, schema) => (e.data || []).filter((d) => d.type === "vms." + schema + ".v1");

// best is when the clearest picture of an event was taken, with its box.
export function best(e) {
  const size = (d) => (d.boundingBox[2] - d.boundingBox[0]) * (d.boundingBox[3] - d.boundingBox[1]);
  const found = dataOf(e, "objectDetection").sort((a, b) => size(b) - size(a))[0];
  return found ? { time: new Date(found.timestamp), box: found.boundingBox } : { time: new Date(Date.parse(e.startTimestamp) + 500) };
}

// placesOf is the regions, lines and areas that an event is about; includePlaces asks for them.
const places = ["motionRegion", "lineCrossLine", "intrusionArea", "loiterArea"];
export const placesOf = (e) => places.flatMap((schema) => dataOf(e, schema));
export const includePlaces = places.map((schema) => "data.vms." + schema + ".v1");

// what says in words what an event is, with its region, line or area, or its new state.
export function what(e) {
  const details = [...placesOf(e).map((d) => (d.name || d.id) + (d.line ? ", " + d.direction : "")), ...dataOf(e, "deviceCloudStatusUpdate").map((d) => d.newStatus ? stateOf({ state: d.newStatus.connectionStatus }) : "")];
  return [kindOf(e.type), ...details.filter(Boolean)].join(": ");
}

export const lasted = (e) => !e.endTimestamp ? "goes on" : e.span ? duration(Date.parse(e.endTimestamp) - Date.parse(e.startTimestamp)) : "";

// columns names each cell of a table's body by the head of its column: a phone shows rows one below the other, without the head.
export function columns(body) {
  const heads = [...body.closest("table").tHead.rows[0].cells].map((th) => th.textContent);
  for (const tr of body.rows) for (const [i, cell] of [...tr.cells].entries()) cell.dataset.column = heads[i];
}

// sites fills the choice of a bridge, where there is more than one.
export function sites(app, chosen, change) {
  $("site-row").hidden = app.sites.size < 2;
  $("site").append(...[...app.sites].map(([id, name]) => new Option(name || id, id)));
  if (app.sites.has(chosen)) $("site").value = chosen;
  $("site").onchange = change;
}

// keep brings a list in step with what there is, without making anew what stays.
export function keep(parent, held, list, key, build, fill) {
  const there = new Set(list.map(key));
  for (const [k, e] of held) if (!there.has(k)) { e.remove(); held.delete(k); }
  list.forEach((item, i) => {
    let e = held.get(key(item));
    if (!e) held.set(key(item), e = build());
    if (parent.children[i] !== e) parent.insertBefore(e, parent.children[i] || null);
    fill(e, item);
  });
}
