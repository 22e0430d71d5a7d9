// The page: who is signed in, which view is shown, and the stream of changes that all views share. What differs between the bridge's
// page and the service's is in side.js.
import * as api from "./api.js";
import { camera } from "./camera.js";
import { $, put } from "./dom.js";
import { enter } from "./enter.js";
import { events } from "./events.js";
import * as side from "./side.js";
import { wall } from "./wall.js";
import { you } from "./you.js";

const views = { "": wall, of: wall, camera, events, you, ...side.views };
let view, stopChanges, followed = "", ready = false;
$("views").append($("t-nav").content);
put($("title"), side.name);

const linkTo = (name) => document.querySelector('#top a[data-view="' + CSS.escape(name) + '"]');
const app = {
  cameras: new Map(), order: [], sites: new Map(), maySetUp: false,
  fail(e) {
    if (e instanceof api.Refused) outside(e.message);
    else notice(e.message);
  },
  // follow has the stream ask for stills of a camera twice a second.
  follow(id) { if (followed !== id) { followed = id; if (ready) listen(); } },
  // again has the view show these cameras as they are now.
  again(ids) { view?.cameras(ids.map((id) => app.cameras.get(id)).filter(Boolean)); },
  // allow shows a view's link or hides it.
  allow(name, may) { linkTo(name).hidden = !may; },
  wrong(n) { $("wrong").hidden = n === 0; put($("wrong"), String(n)); $("wrong").setAttribute("aria-label", n + (n === 1 ? " problem" : " problems")); },
};

function notice(text = "") { $("notice").hidden = !text; put($("notice"), text); }

function listen() {
  stopChanges?.();
  stopChanges = undefined;
  if (document.hidden) return;
  stopChanges = side.changes(app, followed, (kind, data) => {
    switch (kind) {
      case "cameras": data.forEach((c) => app.cameras.set(c.id, { decoding: app.cameras.get(c.id)?.decoding, ...c })); app.again(data.map((c) => c.id)); break;
      case "order": arrange(data); break;
      case "event": view?.event(data); break;
      case "up": notice(); break;
      case "down": notice(side.called + " does not answer; trying again."); break;
      case "refused": outside("You were signed out."); break;
    }
  });
}

// arrange brings the cameras into the order that they have now; those that are not in it any more go.
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
  const show = linkTo(name)?.hidden ? wall : views[name] || wall;
  view = show(app, parts);
  document.title = (app.cameras.get(parts[0])?.name || (show === camera ? parts[0] : linkTo(name)?.firstChild.textContent.trim()) || "Cameras") + " · " + $("title").textContent;
  const current = show !== wall && linkTo(name) ? name : "wall";
  for (const a of document.querySelectorAll("#top a[data-view]")) if (a.dataset.view === current) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
}

// inside shows the page to whoever is signed in.
async function inside() {
  put($("title"), await side.begin(app) || side.name);
  app.allow("you", api.isUser());
  $("top").hidden = false;
  ready = true;
  route();
  listen();
}

// outside shows the sign-in, with why.
function outside(why = "") {
  ready = false;
  stopChanges?.();
  view?.stop();
  view = stopChanges = undefined;
  followed = "";
  api.forget();
  $("top").hidden = true;
  notice();
  return enter(why, inside, app.fail);
}

$("leave").onclick = async () => { stopChanges?.(); await api.signOut(); outside(); };
addEventListener("hashchange", () => { if (ready) route(); else if (/^#(code=|\/password\?|\/registration\?)/.test(location.hash)) outside(); });
// A hidden tab costs nothing: its stream ends, and what was missed is listed when it is seen again.
document.addEventListener("visibilitychange", () => {
  if (!ready) return;
  if (document.hidden) { stopChanges?.(); stopChanges = undefined; } else { listen(); if (view && !view.stays) route(); }
});

// A link may carry a token, for whom it was made: it goes into the tab, and out of the address. A link of a letter is for whoever
// got it, whoever is signed in here.
const token = /^#token=(.+)$/.exec(location.hash);
try {
  if (token) { history.replaceState(null, "", "#/"); await api.withToken(decodeURIComponent(token[1])); }
  const letter = /^#\/(password|registration)\?/.test(location.hash);
  if (token || !letter && await api.resume()) await inside(); else await outside();
} catch (e) {
  await outside(e instanceof api.Refused ? e.message : side.called + " does not answer: " + e.message);
}
