// Events as cards with a picture, newest first. New ones are put on top; nothing that is there is made anew.
import { get, imageBefore, mostActors, now, stamp } from "./api.js";
import * as side from "./side.js";
import { $, best, clock, includePlaces, knownKinds, lasted, make, placesOf, put, sites, stencil, what } from "./dom.js";

const include = ["data.vms.objectDetection.v1", ...includePlaces, "data.vms.deviceCloudStatusUpdate.v1", "data.vms.creatorDetails.v1"];

const pageSize = 48, mostWays = 500, fields = ["site", "of", "kind", "day", "from", "to"];

export function events(app, [, query]) {
  stencil("t-events");
  const cards = new Map();
  let feeds = [], turn = 0;
  const asked = new URLSearchParams(query || "");
  $("of").append(...app.order.map((id) => new Option(app.cameras.get(id).name || id, id)));
  $("kind").append(...knownKinds.map(([type, name]) => new Option(name, type)));
  for (const name of fields.slice(1)) if (asked.has(name)) $(name).value = asked.get(name);
  sites(app, asked.get("site"), () => { cameras(); anew(); });

  // cameras offers those of the bridge that is chosen.
  function cameras() {
    for (const o of $("of").options) o.hidden = o.disabled = Boolean(o.value) && !of(app.cameras.get(o.value));
    if ($("of").selectedOptions[0]?.disabled) $("of").value = "";
  }
  const of = (c) => c && (!$("site").value || c.bridge === $("site").value);

  // bounds are the times that the filters name, in the reader's own time zone.
  function bounds() {
    const day = $("day").value;
    if (!day) return [new Date(now() - 30 * 86400e3), new Date(now() + 3600e3)];
    return [new Date(day + "T" + ($("from").value || "00:00")), new Date(new Date(day + "T" + ($("to").value || "23:59")).getTime() + 59999)];
  }
  const regionsOf = (e) => placesOf(e).map((d) => d.name || d.id);

  function fits(e) {
    const [from, to] = bounds(), began = new Date(e.startTimestamp);
    return e.actorType === "camera" && of(app.cameras.get(e.actorId)) && (!$("of").value || e.actorId === $("of").value) && (!$("kind").value || e.type === $("kind").value) && began >= from && began <= to;
  }
  const inRegion = (e) => !$("region").value || regionsOf(e).includes($("region").value);

  function card(e) {
    const name = make("strong"), length = make("span", { className: "dim" }), more = make("span", { className: "more" });
    const picture = make("span", { className: "picture" }), link = make("a", {}, picture, make("span", { className: "caption" }, name, length, more));
    const way = make("span"), resend = make("button", { type: "button", text: "Send again" });
    const made = { e, li: make("li", { className: "tile" }, link, make("p", { className: "way", hidden: true }, way, resend)), name, length, more, picture, link, way, resend };
    resend.onclick = () => { resend.disabled = true; side.again(made.e.id).then(look).catch(app.fail).finally(() => { resend.disabled = false; }); };
    made.li.dataset.id = e.id;
    return made;
  }

  function fill(made, e) {
    made.e = e;
    const { time, box } = best(e), camera = app.cameras.get(e.actorId);
    put(made.name, what(e));
    put(made.length, lasted(e), e.endTimestamp ? "dim" : "good");
    put(made.more, [camera?.name || e.actorId, app.sites.get(camera?.bridge)].filter(Boolean).join(" · ") + " · " + clock(e.startTimestamp));
    made.link.href = "#/camera/" + encodeURIComponent(e.actorId) + "/" + time.toISOString();
    made.li.hidden = !inRegion(e);
    if (e.type.startsWith("vms.device")) { made.picture.hidden = true; return; }
    if (!made.img) {
      made.img = make("img", { loading: "lazy", decoding: "async", alt: "" });
      made.img.onerror = () => { made.img.hidden = true; made.box.hidden = true; if (!made.none) made.picture.append(made.none = make("span", { className: "none", text: "no still of it is kept" })); };
      made.box = make("span", { className: "box", hidden: true });
      made.picture.append(made.img, made.box);
    }
    const src = imageBefore(e.actorId, time, 320);
    if (made.src !== src) { made.src = src; made.img.src = src; made.img.hidden = false; made.none?.remove(); made.none = undefined; }
    made.box.hidden = !box;
    made.img.onload = () => {
      if (!box) return;
      // The picture stands in the middle of a 16:9 frame.
      const w = made.picture.clientWidth, h = made.picture.clientHeight, scale = Math.min(w / made.img.naturalWidth, h / made.img.naturalHeight);
      const iw = made.img.naturalWidth * scale / w, ih = made.img.naturalHeight * scale / h, l = (1 - iw) / 2, u = (1 - ih) / 2;
      Object.assign(made.box.style, { left: 100 * (l + box[0] * iw) + "%", top: 100 * (u + box[1] * ih) + "%", width: 100 * (box[2] - box[0]) * iw + "%", height: 100 * (box[3] - box[1]) * ih + "%" });
    };
    for (const name of regionsOf(e)) if (![...$("region").options].some((o) => o.value === name)) $("region").append(new Option(name, name));
  }

  // look says of the cards how far their events are on their way to the service.
  async function look() {
    const ids = [...cards.keys()].slice(-mostWays), ways = await side.ways(app, ids);
    for (const id of ids) {
      const made = cards.get(id), way = ways[id];
      if (!made || !way && made.way.parentElement.hidden) continue;
      made.way.parentElement.hidden = !way;
      made.resend.hidden = way?.state !== "refused";
      put(made.way, !way ? "" : { waiting: "waits for the service", accepted: "the service has it", refused: way.reason || "refused by the service" }[way.state], way?.state === "refused" ? "bad" : "dim");
    }
  }

  function place(e, top) {
    let made = cards.get(e.id);
    if (!made) { made = card(e); cards.set(e.id, made); top ? $("events").prepend(made.li) : $("events").append(made.li); }
    fill(made, e);
  }

  // list shows the newest events, or more of the older ones. A question names some cameras at most: where there are more, each
  // part of them has a feed of its own, and what is shown is the newest of all.
  async function list(more) {
    const mine = ++turn, [from, to] = bounds(), chosen = $("of").value, among = chosen ? [chosen] : app.order.filter((id) => of(app.cameras.get(id)));
    if (among.length === 0) return put($("count"), "There is no camera yet.");
    const wanted = { startTimestamp__gte: stamp(from), startTimestamp__lte: stamp(to), ...($("kind").value ? { type__in: $("kind").value } : {}) };
    const parts = more ? feeds : Array.from({ length: Math.ceil(among.length / mostActors) }, (_, i) => ({ size: 0, waiting: [],
      query: { ...wanted, pageSize, actor__in: among.slice(i * mostActors, (i + 1) * mostActors).map((id) => "camera:" + id).join(",") } }));
    const fetchPart = async (part) => {
      const page = await get("api/v3.0/events", { include: include.join(","), ...part.query });
      part.query = page.nextPageToken && { pageToken: page.nextPageToken };
      part.waiting = page.results;
      part.size = page.totalSize;
    };
    const next = [];
    while (next.length < pageSize) {
      for (const part of parts) if (part.waiting.length === 0 && part.query) await fetchPart(part);
      if (mine !== turn) return;
      const newest = parts.filter((part) => part.waiting.length).reduce((a, b) => a && a.waiting[0].startTimestamp >= b.waiting[0].startTimestamp ? a : b, undefined);
      if (!newest) break;
      next.push(newest.waiting.shift());
    }
    if (!more) { feeds = parts; cards.clear(); $("events").replaceChildren(); }
    $("more").hidden = !feeds.some((part) => part.waiting.length || part.query);
    const size = feeds.reduce((sum, part) => sum + part.size, 0);
    put($("count"), size === 0 ? "No events here." : size + (size === 1 ? " event" : " events"));
    for (const e of next) place(e, false);
    if (side.ways) look().catch(app.fail);
  }

  $("filters").onsubmit = (s) => s.preventDefault();
  function anew() {
    const set = new URLSearchParams(fields.filter((n) => $(n).value && $(n).value !== $(n).defaultValue).map((n) => [n, $(n).value]));
    history.replaceState(null, "", "#/events" + (set.size ? "/?" + set : ""));
    list(false).catch(app.fail);
  }
  for (const name of fields.slice(1)) $(name).onchange = anew;
  $("region").onchange = () => { for (const made of cards.values()) made.li.hidden = !inRegion(made.e); };
  let busy;
  $("more").onclick = () => { busy ||= list(true).catch(app.fail).finally(() => { busy = undefined; }); };
  cameras();
  list(false).catch(app.fail);
  const beat = side.ways && setInterval(() => { if (!document.hidden) look().catch(app.fail); }, 10000);
  return { event: (e) => { if (fits(e)) place(e, true); }, cameras: () => {}, stop: () => { turn++; clearInterval(beat); } };
}
