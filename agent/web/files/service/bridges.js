// The bridges of the account: how each is, and how its cameras are. Those that are not well stand first.
import { get } from "./api.js";
import { $, keep, make, put, stateOf, stencil } from "./dom.js";

export function bridges(app) {
  stencil("t-bridges");
  const rows = new Map();

  function build() {
    const name = make("a"), id = make("span", { className: "dim" }), state = make("span"), cameras = make("span");
    return make("li", {}, make("span", { className: "text" }, make("strong", {}, name), id), state, cameras);
  }

  function fill(li, b) {
    const [text, state, cameras] = li.children, [strong, id] = text.children, link = strong.firstChild;
    const counts = b.resourceStatusCounts?.cameras || {}, n = b.resourceCounts?.cameras || 0, off = counts.off || 0, online = counts.online || 0;
    const status = b.status?.connectionStatus || "unknown";
    put(link, b.name || b.id);
    link.href = "#/of/" + encodeURIComponent(b.id);
    put(id, [b.id, b.networkInfo?.ipAddress].filter(Boolean).join(" · "));
    put(state, status === "bridgeOffline" ? "away" : stateOf({ state: status }), status === "online" ? "good" : "bad");
    put(cameras, n === 0 ? "no cameras" : `${online} of ${n} cameras online` + (off ? `, ${off} switched off` : ""), online + off === n ? "dim" : "warn");
    li.dataset.id = b.id;
  }

  async function look() {
    let list = [], page;
    do {
      page = await get("api/v3.0/bridges", { include: "status,networkInfo,resourceCounts,resourceStatusCounts", sort: "+name", pageSize: 500, ...(page?.nextPageToken ? { pageToken: page.nextPageToken } : {}) });
      list.push(...page.results);
    } while (page.nextPageToken && list.length < 5000);
    if (!$("bridges")) return;
    const online = list.filter((b) => b.status?.connectionStatus === "online").length, words = $("search-bridge").value.trim().toLowerCase();
    put($("bridges-state"), list.length === 0 ? "No bridge has registered yet. vmscloud token create --kind bridge makes what one signs in with." : `${online} of ${list.length} bridges online` + (page.nextPageToken ? "; only these are shown, there are more" : ""),
      online === list.length ? "dim" : "warn");
    $("search-row").hidden = list.length < 6;
    list = list.filter((b) => !words || (b.name + "\n" + b.id).toLowerCase().includes(words)).sort((a, b) => (a.status?.connectionStatus === "online") - (b.status?.connectionStatus === "online"));
    keep($("bridges"), rows, list, (b) => b.id, build, fill);
  }
  $("search-bridge").oninput = () => look().catch(app.fail);
  look().catch(app.fail);
  const beat = setInterval(() => { if (!document.hidden) look().catch(app.fail); }, 10000);
  return { event: () => {}, cameras: () => {}, stop: () => clearInterval(beat) };
}
