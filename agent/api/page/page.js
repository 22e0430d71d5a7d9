// The page of the bridge: signs in, shows what is wrong, the cameras with their newest still, and the events.
//
// The token stays in sessionStorage: it is gone with the tab. Text from outside goes into the page as text, never as HTML.
"use strict";

const $ = (id) => document.getElementById(id);
const names = { motionDetectionEvent: "motion", motionInRegionDetectionEvent: "motion in a region", tamperDetectionEvent: "tampering", deviceCloudStatusUpdateEvent: "status" };
const include = ["data.vms.motionRegion.v1", "data.vms.deviceCloudStatusUpdate.v1"];
let cameras = [], olderToken = "", asked = 0;

// Refused is an answer that wants another sign-in.
class Refused extends Error {}

// api asks the interface. It throws Refused on 401, and an Error with the service's own words otherwise.
async function api(path, query = {}) {
  const url = new URL(path, location.href);
  for (const [key, value] of Object.entries(query)) for (const v of [value].flat()) url.searchParams.append(key, v);
  const answer = await fetch(url, { headers: { Authorization: "Bearer " + sessionStorage.getItem("token"), Accept: "application/json" }, credentials: "omit", cache: "no-store" });
  if (answer.status === 401) throw new Refused(await words(answer));
  if (!answer.ok) throw new Error(await words(answer));
  return answer;
}

// words is what an answer says for people.
async function words(answer) {
  const text = await answer.text();
  try {
    const body = JSON.parse(text);
    return body.message || body.error_description || body.detail || answer.statusText;
  } catch {
    return text.slice(0, 200) || "The bridge answered " + answer.status + ".";
  }
}

// signIn takes a token, or gets one for a user: authenticate, authorize, and the bearer token of the session that this makes.
async function signIn(user, password, token) {
  if (!token) {
    const post = (path, body, headers) => fetch(path, { method: "POST", headers, body, credentials: "same-origin" });
    const json = (body) => [JSON.stringify(body), { "Content-Type": "application/json" }];
    const first = await post("g/aaa/authenticate", ...json({ username: user, password }));
    if (!first.ok) throw new Refused(await words(first));
    const ticket = await first.json();
    if (ticket.two_factor_authentication_code) throw new Refused("This user signs in with a code, which the bridge cannot send. Use a token of the configuration.");
    const second = await post("g/aaa/authorize", ...json({ token: ticket.token }));
    if (!second.ok) throw new Refused(await words(second));
    const third = await post("oauth2/token", new URLSearchParams({ grant_type: "cookie" }));
    if (!third.ok) throw new Refused(await words(third));
    token = (await third.json()).access_token;
  }
  sessionStorage.setItem("token", token);
}

// signOut ends the session too, if there is one, and with it its token.
function signOut() {
  fetch("g/aaa/logout", { method: "POST", credentials: "same-origin" }).catch(() => {});
  outside();
}

function text(element, value, className) {
  element.textContent = value;
  if (className !== undefined) element.className = className;
  return element;
}

const make = (tag, value = "", className = "") => text(document.createElement(tag), value, className);

// health needs no sign-in: what is wrong stands first, whoever looks.
async function health() {
  try {
    const h = await (await fetch("healthz", { cache: "no-store" })).json();
    text($("state"), h.status === "ok" ? `well: ${h.cameras.online} of ${h.cameras.total} cameras online, ${h.outbox.waiting} events waiting for the service`
      : `degraded: ${h.cameras.online} of ${h.cameras.total} cameras online`, h.status);
    $("trouble").replaceChildren(...(h.problems || []).map((p) => make("li", p)));
  } catch {
    text($("state"), "the bridge does not answer", "away");
  }
}

// still shows the newest image before a time in an <img>, and its own time under it. The address of one shown before is let go.
async function still(img, camera, before, kind) {
  const answer = await api("api/v3.0/media/recordedImage.jpeg", { deviceId: camera, type: kind, timestamp__lt: before.toISOString().replace("Z", "+00:00") });
  const blob = await answer.blob();
  if (img.src) URL.revokeObjectURL(img.src);
  img.src = URL.createObjectURL(blob);
  return answer.headers.get("X-Vms-Timestamp");
}

async function showCameras() {
  cameras = (await (await api("api/v3.0/cameras", { include: "status" })).json()).results;
  const old = new Map([...$("cameras").children].map((f) => [f.dataset.id, f]));
  $("cameras").replaceChildren(...cameras.map((c) => old.get(c.id) || figure(c)));
  const chosen = $("of").value;
  $("of").replaceChildren(new Option("all", ""), ...cameras.map((c) => new Option(c.name || c.id, c.id, false, c.id === chosen)));
  await Promise.all(cameras.map(fill));
}

function figure(c) {
  const f = make("figure"), b = make("button", "no still yet"), caption = make("figcaption");
  f.dataset.id = c.id;
  b.onclick = () => view(c, new Date(), "now");
  f.append(b, caption);
  return f;
}

async function fill(c) {
  const f = [...$("cameras").children].find((e) => e.dataset.id === c.id);
  const [b, caption] = f.children, status = (c.status && c.status.connectionStatus) || "unknown";
  const line = make("span", status, status === "online" ? "ok" : "away");
  caption.replaceChildren(make("strong", c.name || c.id), " ", line);
  try {
    const img = b.querySelector("img") || make("img");
    const at = await still(img, c.id, new Date(), "preview");
    img.alt = "newest still of " + (c.name || c.id);
    if (!img.parentNode) b.replaceChildren(img);
    if (at) caption.append(" ", make("span", new Date(at).toLocaleTimeString(), "dim"));
  } catch (e) {
    if (e instanceof Refused) throw e;
    text(b, e.message);
  }
}

// showEvents lists the newest first; older ones are added below. An answer that a later question has overtaken is dropped.
async function showEvents(older) {
  const turn = ++asked, of = $("of").value;
  const actors = (of ? [of] : cameras.map((c) => c.id)).map((id) => "camera:" + id);
  if (actors.length === 0) return;
  const query = older ? { pageToken: olderToken } : {
    actor__in: actors.join(","), sort: "-startTimestamp", pageSize: 50, include: include.join(","),
    startTimestamp__gte: new Date(Date.now() - $("since").value * 3600e3).toISOString().replace("Z", "+00:00"),
    startTimestamp__lte: new Date(Date.now() + 3600e3).toISOString().replace("Z", "+00:00"),
  };
  const page = await (await api("api/v3.0/events", query)).json();
  if (turn !== asked) return;
  olderToken = page.nextPageToken;
  $("more").hidden = !olderToken;
  text($("count"), page.totalSize + (page.totalSize === 1 ? " event" : " events"), "dim");
  const rows = page.results.map(row);
  if (older) $("events").append(...rows);
  else $("events").replaceChildren(...rows);
}

function row(e) {
  const r = make("tr"), began = new Date(e.startTimestamp), camera = cameras.find((c) => c.id === e.actorId) || { id: e.actorId };
  const lasted = !e.endTimestamp ? "goes on" : e.span ? duration(new Date(e.endTimestamp) - began) : "";
  r.append(make("td", began.toLocaleString()), make("td", lasted, e.endTimestamp ? "" : "away"), make("td", camera.name || camera.id), make("td", what(e)));
  r.tabIndex = 0;
  r.onclick = () => view(camera, new Date(began.getTime() + 500), what(e));
  r.onkeydown = (k) => { if (k.key === "Enter") r.onclick(); };
  return r;
}

// what says in words what an event is, with its region or its new state.
function what(e) {
  const short = e.type.replace(/^vms\./, "").replace(/\.v\d+$/, "");
  const details = (e.data || []).map((d) => d.newStatus ? d.newStatus.connectionStatus : d.name || d.id).filter(Boolean);
  return [names[short] || short, ...details].join(": ");
}

function duration(ms) {
  const s = Math.round(ms / 1000);
  return s < 60 ? (ms / 1000).toFixed(1) + " s" : s < 3600 ? Math.floor(s / 60) + " min " + (s % 60) + " s" : Math.floor(s / 3600) + " h " + Math.floor((s % 3600) / 60) + " min";
}

// view shows the full-resolution still just before a time, or the preview where there is none.
async function view(camera, at, why) {
  const img = $("picture"), name = camera.name || camera.id;
  text($("caption"), name + ", " + why);
  img.removeAttribute("src");
  img.alt = "still of " + name;
  $("viewer").showModal();
  for (const kind of ["main", "preview"]) {
    try {
      const taken = await still(img, camera.id, at, kind);
      text($("caption"), [name, why, taken ? new Date(taken).toLocaleString() : ""].filter(Boolean).join(", "));
      return;
    } catch (e) {
      if (e instanceof Refused) return outside(e.message);
      text($("caption"), name + ": " + e.message);
    }
  }
}

// outside shows the sign-in, with why.
function outside(why = "") {
  sessionStorage.removeItem("token");
  $("viewer").close();
  $("inside").hidden = $("leave").hidden = true;
  $("enter").hidden = false;
  text($("refusal"), why);
  for (const id of ["cameras", "events"]) $(id).replaceChildren();
}

// refresh brings everything up to date; without a token, what needs none.
async function refresh(events = true) {
  await health();
  if (!sessionStorage.getItem("token")) return outside($("refusal").textContent);
  try {
    await showCameras();
    if (events) await showEvents(false);
    $("enter").hidden = true;
    $("inside").hidden = $("leave").hidden = false;
  } catch (e) {
    if (e instanceof Refused) outside(e.message);
    else text($("state"), e.message, "away");
  }
}

$("enter").onsubmit = async (e) => {
  e.preventDefault();
  try {
    await signIn($("user").value, $("password").value, $("token").value.trim());
    $("password").value = $("token").value = "";
    text($("refusal"), "");
    await refresh();
  } catch (problem) {
    outside(problem.message);
  }
};
$("leave").onclick = signOut;
$("close").onclick = () => $("viewer").close();
$("of").onchange = $("since").onchange = () => showEvents(false).catch((e) => outside(e.message));
$("more").onclick = () => showEvents(true).catch((e) => outside(e.message));
refresh();
// Events are listed anew only while their top is in sight: what somebody scrolled to or loaded stays.
setInterval(() => { if (!document.hidden && !$("viewer").open) refresh(window.scrollY < 300 && $("events").childElementCount <= 50); }, 5000);
