// The page of the bridge: who is signed in, which view is shown, and the stream of changes that all views share.
import * as api from "./api.js";
import { camera } from "./camera.js";
import { $, put, stencil } from "./dom.js";
import { events } from "./events.js";
import { health } from "./health.js";
import { setup } from "./setup.js";
import { wall } from "./wall.js";

const views = { "": wall, camera, events, health, setup };
let view, stopChanges, followed = "", ready = false;

const app = {
  cameras: new Map(), order: [], maySetUp: false,
  fail(e) {
    if (e instanceof api.Refused) outside(e.message);
    else notice(e.message);
  },
  // follow has the stream ask for stills of a camera twice a second.
  follow(id) { if (followed !== id) { followed = id; if (ready) listen(); } },
  wrong(n) { $("wrong").hidden = n === 0; put($("wrong"), String(n)); $("wrong").setAttribute("aria-label", n + (n === 1 ? " problem" : " problems")); },
};

function notice(text = "") { $("notice").hidden = !text; put($("notice"), text); }

function listen() {
  stopChanges?.();
  stopChanges = undefined;
  if (document.hidden) return;
  stopChanges = api.changes(followed, (kind, data) => {
    switch (kind) {
      case "cameras": data.forEach((c) => app.cameras.set(c.id, { ...app.cameras.get(c.id), ...c })); view?.cameras(data.map((c) => app.cameras.get(c.id))); break;
      case "order": arrange(data); break;
      case "event": view?.event(data); break;
      case "up": notice(); break;
      case "down": notice("The bridge does not answer; trying again."); break;
      case "refused": outside("You were signed out."); break;
    }
  });
}

// arrange brings the cameras into the order of the configuration; those that are not in it any more go.
function arrange(order) {
  app.order = order;
  for (const id of app.cameras.keys()) if (!order.includes(id)) app.cameras.delete(id);
  view?.order?.();
}

function route() {
  if (!ready) return;
  const [, name = "", ...rest] = /^#?\/?([^/]*)\/?(.*)$/.exec(location.hash) || [];
  const parts = name === "events" ? [null, rest[0]?.replace(/^\?/, "")] : (rest[0] || "").split("/").map(decodeURIComponent);
  view?.stop();
  view = undefined;
  followed = "";
  const show = name === "setup" && !app.maySetUp ? wall : views[name] || wall;
  view = show(app, parts);
  document.title = (show === camera ? app.cameras.get(parts[0])?.name || parts[0] : show === setup ? "Set up" : name || "Cameras") + " · " + $("title").textContent;
  for (const a of document.querySelectorAll("nav a")) {
    if (a.dataset.view === (name || "wall") || name === "camera" && a.dataset.view === "wall") a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
  }
}

// inside shows the page to whoever is signed in.
async function inside() {
  const r = await api.get("web/status");
  app.cameras = new Map(r.cameras.map((c) => [c.id, c]));
  app.order = r.cameras.map((c) => c.id);
  app.maySetUp = r.maySetUp;
  $("to-setup").hidden = !r.maySetUp;
  if (r.maySetUp && r.cameras.length === 0 && location.hash.length < 3) history.replaceState(null, "", "#/setup");
  put($("title"), r.name || r.bridge || "vmsbridge");
  app.wrong(r.problems.length);
  $("top").hidden = false;
  ready = true;
  route();
  listen();
}

// outside shows the sign-in, with why.
async function outside(why = "") {
  ready = false;
  stopChanges?.();
  view?.stop();
  view = stopChanges = undefined;
  followed = "";
  api.forget();
  $("top").hidden = true;
  notice();
  document.title = "Sign in · vmsbridge";
  stencil("t-enter");
  put($("refusal"), why);
  const attempt = (form, act) => { $(form).onsubmit = async (s) => {
    s.preventDefault();
    const button = $(form).querySelector("button");
    button.disabled = true;
    try { if (await act() !== "more") await inside(); } catch (e) { if (!ready) put($("refusal"), e.message); else app.fail(e); } finally { button.disabled = false; }
  }; };
  attempt("enter", async () => {
    if (!await api.signIn($("user").value.trim(), $("password").value, $("code").value)) return;
    $("code-row").hidden = false;
    $("code").focus();
    put($("refusal"), "A code was sent to you. Give it here.");
    return "more";
  });
  attempt("begin", () => api.begin($("first-code").value.trim(), $("first-password").value));
  attempt("by-token", () => api.withToken($("token").value.trim()));
  const code = /^#code=(\w+)$/.exec(location.hash);
  if (code) { history.replaceState(null, "", "#/"); $("first-code").value = code[1]; $("first").open = true; $("first-password").focus(); } else if (await api.firstTime()) $("first").open = true;
}

$("leave").onclick = async () => { await api.signOut(); outside(); };
addEventListener("hashchange", route);
// A hidden tab costs nothing: its stream ends, and what was missed is listed when it is seen again.
document.addEventListener("visibilitychange", () => {
  if (!ready) return;
  if (document.hidden) { stopChanges?.(); stopChanges = undefined; } else { listen(); if (view && !location.hash.startsWith("#/camera")) route(); }
});
setInterval(() => {
  if (ready && !document.hidden) fetch("healthz", { cache: "no-store" }).then((a) => a.json()).then((h) => app.wrong(h.problems.length), () => {});
}, 30000);

// A link may carry a token, for whom it was made: it goes into the tab, and out of the address.
const token = /^#token=(.+)$/.exec(location.hash);
try {
  if (token) { history.replaceState(null, "", "#/"); await api.withToken(decodeURIComponent(token[1])); }
  if (token || await api.resume()) await inside(); else await outside();
} catch (e) {
  await outside(e instanceof api.Refused ? e.message : "The bridge does not answer: " + e.message);
}
