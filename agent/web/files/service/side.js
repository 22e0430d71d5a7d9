// What is the service's alone: its views, and where it has from what all views share.
import { follow, get, imageBefore, may, now, send, stamp } from "./api.js";
import { bridges } from "./bridges.js";
import { people } from "./people.js";
import { trail } from "./trail.js";

export const name = "vmscloud", called = "The service";
export const tokens = "vmscloud token list shows those that there are.";
export const codes = "vmscloud user link makes another one.";
export const first = ["You have a link or a code? Set your password", "The code stands in the letter that you got, or was printed by vmscloud. It can be used once."];
export const noStill = "no still can be had now";
export const views = { bridges, people, trail };
export const liveEvery = 2000; // milliseconds between two stills of a live view: they come from the site
const lookEvery = 15000, mostPages = 10;

export const newest = (c) => imageBefore(c.id, c.lastPreview, 480);
export const facts = (c) => [c.site];

// all follows the pages of a list; more says that there are others.
async function all(path, query) {
  const found = [];
  found.more = true;
  for (let page, token, n = 0; n < mostPages && found.more; n++) {
    page = await get(path, { ...query, pageSize: 500, ...(token ? { pageToken: token } : {}) });
    found.push(...page.results);
    token = page.nextPageToken;
    found.more = Boolean(token);
  }
  return found;
}

// look asks for all bridges and cameras, in the order of their names, those of a bridge together. A still is wanted of each camera
// that is online, the newest one from now on.
async function look(app) {
  const [sites, list, sought] = await Promise.all([all("api/v3.0/bridges", { sort: "+name" }), all("api/v3.0/cameras", { include: "status", sort: "+name" }), more(app)]);
  app.sites = new Map(sites.map((b) => [b.id, b.name || b.id]));
  app.more = list.more;
  app.first = list.length;
  const at = [...app.sites.keys()], there = new Set(list.map((c) => c.id));
  return list.concat(sought.filter((c) => !there.has(c.id))).map((c) => shown(app, c)).sort((a, b) => at.indexOf(a.bridge) - at.indexOf(b.bridge));
}

function shown(app, c) {
  const state = c.status?.connectionStatus || "unknown", online = state === "online";
  return { id: c.id, name: c.name, bridge: c.bridgeId, site: app.sites.get(c.bridgeId) || c.bridgeId, state, online, ...(online ? { lastPreview: stamp(now()) } : {}) };
}

// more asks for the cameras that somebody looks for, which may be others than those that are listed first.
const more = async (app) => app.sought ? (await get("api/v3.0/cameras", { ...app.sought, include: "status", sort: "+name", pageSize: 500 })).results : [];

// seek takes up the cameras that app.sought chooses, and returns their ids.
export async function seek(app) {
  const list = (await more(app)).map((c) => shown(app, c));
  for (const c of list) { if (!app.cameras.has(c.id)) app.order.push(c.id); app.cameras.set(c.id, c); }
  return list.map((c) => c.id);
}

// begin fills the page's state and says what the page is called: the account. What somebody may not see has no link.
export async function begin(app) {
  const [cameras, account, users, audit] = await Promise.all([look(app), get("api/v3.0/accounts/self").catch(() => ({})),
    may("api/v3.0/users", { pageSize: 1 }), may("g/audit/list", { limit: 1 })]);
  app.cameras = new Map(cameras.map((c) => [c.id, c]));
  app.order = cameras.map((c) => c.id);
  app.allow("people", users);
  app.allow("trail", audit);
  return account.name;
}

// changes looks at the cameras now and then and follows new events; say hears of "cameras", "order" and "event".
export function changes(app, _, say) {
  let id = "", stopped = false;
  const again = async () => {
    const list = await look(app), order = list.map((c) => c.id);
    if (stopped) return;
    say("cameras", list);
    if (order.join() !== app.order.join()) say("order", order);
  };
  const beat = setInterval(() => again().catch(() => {}), lookEvery); // the stream tells of trouble
  const drop = () => { if (id) send("DELETE", "api/v3.0/eventSubscriptions/" + id, undefined, { keepalive: true }).catch(() => {}); id = ""; };
  addEventListener("pagehide", drop);
  const stop = follow(async (ask) => {
    if (!id) id = (await send("POST", "api/v3.0/eventSubscriptions", { deliveryConfig: { type: "serverSentEvents.v1" }, filters: [{}] })).id;
    if (stopped) drop();
    try { return await ask("api/v3.0/eventSubscriptions/" + id + "/stream"); } catch (e) { if (e.status) id = ""; throw e; }
  }, (kind, data) => {
    if (!kind.startsWith("vms.")) return say(kind, data);
    say("event", data);
    // What moves is worth another look at once.
    const c = app.cameras.get(data.actorId);
    if (data.actorType === "camera" && c?.online) say("cameras", [{ ...c, lastPreview: stamp(now()) }]);
  });
  return () => { stopped = true; clearInterval(beat); removeEventListener("pagehide", drop); stop(); drop(); };
}
