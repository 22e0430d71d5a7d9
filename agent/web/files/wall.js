// The wall: the newest still of each camera, asked for only where it is on screen and only when it is another one.
import { get, mostActors, now, stamp } from "./api.js";
import { $, make, put, sites, stateOf, stencil } from "./dom.js";
import * as side from "./side.js";

const searchFrom = 20; // cameras; from as many on tiles are small in a large window
const wide = 800; // pixels: a still that is wider is asked for smaller
const motionTypes = "vms.motionDetectionEvent.v1,vms.motionInRegionDetectionEvent.v1";

export function wall(app, [site] = []) {
  stencil("t-wall");
  sites(app, site, () => { history.replaceState(null, "", $("site").value ? "#/of/" + encodeURIComponent($("site").value) : "#/"); choose(); });
  const tiles = new Map(), moving = new Map();
  let found = new Set(), timer, left = false;
  $("search-row").hidden = app.order.length < searchFrom;
  $("search-camera").value = app.sought?.q || "";
  $("search-camera").oninput = () => { clearTimeout(timer); timer = setTimeout(choose, 200); };
  const seen = new IntersectionObserver((list) => {
    for (const entry of list) {
      const tile = tiles.get(entry.target.dataset.id);
      tile.visible = entry.isIntersecting;
      show(tile);
    }
  }, { rootMargin: "100px" });

  function tileOf(c) {
    const name = make("strong"), state = make("span"), more = make("span", { className: "more" });
    const img = make("img", { alt: "", hidden: true, decoding: "async" }), none = make("span", { className: "none" });
    const lamp = make("span", { className: "lamp", text: "motion", hidden: true });
    const link = make("a", { href: "#/camera/" + encodeURIComponent(c.id) }, make("span", { className: "picture" }, none, img), make("span", { className: "caption" }, name, state, more));
    const tile = { c, li: make("li", { className: "tile" }, link, lamp), name, state, more, img, none, lamp, shown: "", visible: false };
    img.onload = () => { tile.wide ||= img.naturalWidth > wide; img.hidden = false; none.hidden = true; };
    img.onerror = () => { img.hidden = true; none.hidden = false; put(none, side.noStill); };
    tile.li.dataset.id = c.id;
    $("cameras").append(tile.li);
    tiles.set(c.id, tile);
    seen.observe(tile.li);
    return tile;
  }

  function show(tile) {
    const c = tile.c;
    if (tile.visible && c.lastPreview && tile.shown !== c.lastPreview) {
      tile.shown = c.lastPreview;
      tile.img.src = side.newest(c, tile.wide);
    }
  }

  function fill(c) {
    const tile = tiles.get(c.id) || tileOf(c);
    tile.c = c;
    put(tile.name, c.name || c.id);
    tile.img.alt = "newest still of " + (c.name || c.id);
    put(tile.state, stateOf(c), c.online ? "good" : c.state === "off" || c.state === "connecting" ? "dim" : "bad");
    const trouble = c.stuck ? "stands still" : c.tampered ? "its view was changed: " + c.tampered : !c.online && c.reason ? c.reason : "";
    const facts = side.facts(c).filter(Boolean).join(" · ");
    if (!tile.shown) put(tile.none, c.online ? "no still yet" : "no still");
    put(tile.more, trouble || facts, trouble ? "more bad" : "more");
    among(tile);
    show(tile);
  }

  // wanted is whether a camera is of the bridge that is chosen and has all words that are looked for, or was found by them.
  const wanted = (c) => {
    const text = [c.name, c.id, c.site].join("\n").toLowerCase(), words = $("search-camera").value.toLowerCase().split(/\s+/);
    return (!$("site").value || c.bridge === $("site").value) && (words.every((w) => text.includes(w)) || found.has(c.id));
  };
  // among hides the tiles of the others.
  function among(tile) { tile.li.hidden = !wanted(tile.c); }

  // choose shows what is wanted; where more cameras are than are listed, those are asked for.
  async function choose() {
    const q = $("search-camera").value.trim(), bridge = $("site").value;
    found = new Set();
    app.sought = app.more && (q || bridge) ? { ...(q ? { q } : {}), ...(bridge ? { bridgeId__in: bridge } : {}) } : undefined;
    const mine = app.sought;
    if (mine) {
      try {
        const ids = new Set(await side.seek(app));
        if (left || mine !== app.sought) return;
        if (q) found = ids;
        for (const id of ids) fill(app.cameras.get(id));
      } catch (e) { return app.fail(e); }
    }
    for (const tile of tiles.values()) among(tile);
    counted();
  }

  function counted() {
    const all = app.order.map((id) => app.cameras.get(id)).filter((c) => c && c.state !== "off" && wanted(c)), online = all.filter((c) => c.online).length;
    $("none-yet").hidden = app.order.length > 0 || !app.maySetUp;
    $("cameras").classList.toggle("many", app.order.length >= searchFrom);
    side.arming?.(app, app.order.map((id) => app.cameras.get(id)));
    put($("state"), all.length === 0 ? (app.order.length ? "No camera has these words." : "No camera is watched yet.") : `${online} of ${all.length} cameras online` + (app.more && !app.sought ? `; only the first ${app.first.toLocaleString("en")} of all are shown, by name: search finds the others` : ""), online === all.length ? "dim" : "warn");
  }

  function lamp(e) {
    if (!motionTypes.includes(e.type)) return;
    const set = moving.get(e.actorId) || new Set();
    e.endTimestamp ? set.delete(e.id) : set.add(e.id);
    moving.set(e.actorId, set);
    const tile = tiles.get(e.actorId);
    if (tile) tile.lamp.hidden = set.size === 0;
  }

  for (const id of app.order) fill(app.cameras.get(id));
  if (app.more && (site || app.sought)) choose();
  counted();
  const ids = app.order.slice(0, mostActors).map((id) => "camera:" + id);
  if (ids.length) {
    get("api/v3.0/events", { actor__in: ids.join(","), type__in: motionTypes, pageSize: 50, startTimestamp__gte: stamp(now() - 6 * 3600e3), startTimestamp__lte: stamp(now() + 3600e3) })
      .then((page) => page.results.filter((e) => !e.endTimestamp).forEach(lamp), app.fail);
  }
  // order takes away the tiles of cameras that have gone, and brings the others into their order.
  function order() {
    for (const [id, tile] of tiles) if (!app.order.includes(id)) { seen.unobserve(tile.li); tile.li.remove(); tiles.delete(id); }
    app.order.forEach((id, i) => {
      const tile = tiles.get(id);
      if (tile && $("cameras").children[i] !== tile.li) $("cameras").insertBefore(tile.li, $("cameras").children[i] || null);
    });
    counted();
  }
  return {
    order,
    cameras: (list) => { list.forEach(fill); counted(); },
    event: lamp,
    stop: () => { left = true; clearTimeout(timer); seen.disconnect(); },
  };
}
