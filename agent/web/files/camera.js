// One camera: the still of any moment ("the last one before"), a timeline to move along, a live view by stills.
import { get, imageBefore, now as serverNow, stamp, still } from "./api.js";
import { $, board, dataOf, includePlaces, ink, placesOf, put, stateOf, stencil, svg, what } from "./dom.js";
import * as side from "./side.js";

const shownTypes = ["vms.motionDetectionEvent.v1", "vms.motionInRegionDetectionEvent.v1", "vms.tamperDetectionEvent.v1", "vms.objectLineCrossEvent.v1",
  "vms.objectIntrusionEvent.v1", "vms.loiterDetectionEvent.v1", "vms.objectRemovalEvent.v1"];
const include = ["data.vms.objectDetection.v1", ...includePlaces, "data.vms.displayOverlay.boundingBox.v1"];
const maxSpan = 14 * 86400, minSpan = 60, mostPages = 10; // of 500 events

export function camera(app, [id, when]) {
  stencil("t-camera");
  const line = $("timeline"), canvas = $("bars"), img = $("still");
  if (Number.isNaN(Date.parse(when))) when = ""; // of a link that was cut off
  let at = when ? Date.parse(when) : serverNow(), span = 3600, live = !when, current, asking, events = [], media = { results: [], gaps: [] };
  let middle = at, loaded = [0, 0], timer, following = false, loading, whole = false, missing = 0; // what is being loaded, and whether all of it was; before when events are left out

  // One that is not among those that are listed first is asked for.
  let sought = app.more && !app.cameras.has(id), left = false;
  if (sought) { app.sought = { id__in: id }; side.seek(app).then(() => { sought = false; if (!left) head(); }, app.fail); }
  const cam = () => app.cameras.get(id);
  function head() {
    const c = cam();
    put($("camera-name"), c ? c.name || c.id : sought ? id : "There is no camera " + id);
    if (c) put($("camera-state"), stateOf(c) + (c.online || !c.reason ? "" : ": " + c.reason), c.online ? "good" : "bad");
    img.alt = "still of " + (c?.name || id);
    side.arming?.(app, [c]);
    $("tune").hidden = !c || !side.views.tuning || !app.maySetUp;
    $("tune").href = "#/tuning/" + encodeURIComponent(id);
  }

  // show asks for a still; an answer that a later question has overtaken is dropped.
  async function show(query, keep) {
    asking?.abort();
    const mine = asking = new AbortController();
    try {
      const s = await still({ deviceId: id, type: "preview", ...query }, mine.signal);
      if (mine !== asking) return;
      const old = img.src;
      img.src = URL.createObjectURL(s.blob);
      if (old.startsWith("blob:")) URL.revokeObjectURL(old);
      current = s;
      if (!keep) { at = s.time.getTime(); address(); }
      $("no-still").hidden = true;
      say();
    } catch (e) {
      if (e.name === "AbortError" || mine !== asking) return;
      if (e.status === 404 || e.status === 503) { put($("no-still"), e.message); $("no-still").hidden = false; current = undefined; say(); } else app.fail(e);
    }
  }

  function say() {
    const t = current ? current.time : new Date(at);
    put($("still-time"), t.toLocaleDateString() + " " + t.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 1 }));
    $("still-time").dateTime = t.toISOString();
    const now = events.filter((e) => Date.parse(e.startTimestamp) <= +t + 1000 && (!e.endTimestamp || Date.parse(e.endTimestamp) >= +t - 1000));
    put($("still-what"), now.map(what).join(", "));
    marks(now, +t);
    const download = $("download");
    if (current) { download.href = imageBefore(id, +t); download.download = id + "_" + t.toISOString().replaceAll(":", "-") + ".jpg"; } else download.removeAttribute("href");
    $("live").setAttribute("aria-pressed", String(live));
    const gap = media.gaps.find((g) => Date.parse(g.startTimestamp) <= at && (!g.endTimestamp || at <= Date.parse(g.endTimestamp)));
    put($("gap"), gap ? "No pictures from " + new Date(gap.startTimestamp).toLocaleString() + (gap.endTimestamp ? " to " + new Date(gap.endTimestamp).toLocaleString() : " on") + ": " + gap.reason : middle - span * 500 < missing ? "There is more motion before " + new Date(missing).toLocaleString() + " than is shown: choose a shorter span." : "");
    line.setAttribute("aria-valuemin", 0);
    line.setAttribute("aria-valuemax", span);
    line.setAttribute("aria-valuenow", Math.round(Math.min(Math.max((at - middle) / 1000 + span / 2, 0), span)));
    line.setAttribute("aria-valuetext", t.toLocaleString() + (now.length ? ", " + now.map(what).join(", ") : ""));
    draw();
  }

  // marks draws boxes, regions, areas and crossed lines over the still.
  function marks(now, t) {
    const all = [];
    if ($("draw").checked) for (const e of now) {
      for (const r of placesOf(e)) if (r.area || r.line) all.push(svg(r.area ? "polygon" : "polyline", { class: r.area ? "region" : "crossed", points: (r.area || r.line).map((p) => p.join(",")).join(" ") }));
      const near = dataOf(e, "displayOverlay.boundingBox").flatMap((d) => d.overlays).filter((o) => Math.abs(Date.parse(o.timestamp) - t) < 1500);
      for (const { boundingBox: [l, u, r, b] } of near) all.push(svg("rect", { class: "box", x: l, y: u, width: r - l, height: b - u }));
    }
    $("marks").replaceChildren(...all);
  }

  function draw() {
    const width = line.clientWidth, g = board(canvas, width, 64), from = middle - span * 500, x = (t) => (t - from) / (span * 1000) * width;
    const bar = (a, b, y, h, least) => g.fillRect(x(a), y, Math.max(x(b) - x(a), least), h);
    g.fillStyle = ink("--dim");
    for (const r of media.results) bar(Date.parse(r.startTimestamp), Date.parse(r.endTimestamp), 44, 5, 1);
    g.fillStyle = ink("--bad");
    for (const gap of media.gaps) { const b = gap.endTimestamp ? Date.parse(gap.endTimestamp) : serverNow(); for (let p = Math.max(x(Date.parse(gap.startTimestamp)), 0); p < Math.min(x(b), width); p += 6) g.fillRect(p, 44, 3, 5); }
    for (const e of events) {
      g.fillStyle = ink(e.type.includes("tamper") ? "--warn" : "--motion");
      bar(Date.parse(e.startTimestamp), e.endTimestamp ? Date.parse(e.endTimestamp) : serverNow(), e.type.includes("InRegion") ? 30 : 14, 12, 2);
    }
    g.fillStyle = ink("--dim");
    g.font = "11px system-ui";
    const step = [10, 60, 300, 600, 1800, 3600, 10800, 43200, 86400, 172800].find((s) => width / (span / s) > 70) || 172800, zone = new Date().getTimezoneOffset() * 60;
    for (let t = Math.ceil((from / 1000 - zone) / step) * step + zone; t < from / 1000 + span; t += step) {
      const d = new Date(t * 1000);
      g.fillRect(x(t * 1000), 50, 1, 4);
      g.fillText(step >= 43200 ? d.toLocaleDateString() : d.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", ...(step < 60 ? { second: "2-digit" } : {}) }), x(t * 1000) + 3, 61);
    }
    g.fillStyle = ink("--ink");
    g.fillRect(Math.round(x(at)) - 1, 0, 2, 50);
  }

  // address makes the page's address that of the moment, so that a link to it can be sent.
  function address() { history.replaceState(null, "", "#/camera/" + encodeURIComponent(id) + "/" + new Date(at).toISOString()); }

  // load brings what the timeline shows, with as much again on both sides; or what is new of it. The newest events come first.
  async function load(news) {
    const from = middle - span * 1000, to = middle + span * 1000;
    if (!news && from >= loaded[0] && to <= loaded[1]) return;
    const mine = loaded = [from - span * 500, to + span * 500], since = mine[0] - 3600e3, known = new Map(news ? events.map((e) => [e.id, e]) : []);
    let query = { actor: "camera:" + id, type__in: shownTypes.join(","), startTimestamp__gte: stamp(since), startTimestamp__lte: stamp(mine[1]), pageSize: 500, include: include.join(",") };
    const stills = get("api/v3.0/media", { deviceId: id, type: "preview", mediaType: "image", startTimestamp__gte: stamp(mine[0]), endTimestamp__lte: stamp(Math.min(mine[1], serverNow() + 1000)) })
      .catch((e) => { if (e.status === 404 || e.status === 503) return { results: [], gaps: [] }; throw e; });
    loading = mine;
    whole &&= news;
    try {
      for (let pages = 1; query; pages++) {
        const [page, kept] = await Promise.all([get("api/v3.0/events", query), stills]);
        if (left || mine !== loaded) return;
        for (const e of page.results) known.set(e.id, e);
        events = [...known.values()].filter((e) => !e.endTimestamp || Date.parse(e.endTimestamp) >= since).sort((a, b) => a.startTimestamp < b.startTimestamp ? -1 : 1);
        media = kept;
        query = !news && page.nextPageToken && pages < mostPages && { pageToken: page.nextPageToken };
        if (!news && !query) missing = page.nextPageToken ? Date.parse(page.results.at(-1).startTimestamp) : 0;
        say();
      }
      whole = true;
    } catch (e) {
      if (!news && mine === loaded) loaded = [0, 0];
      throw e;
    } finally { if (loading === mine) loading = undefined; }
  }

  function go(t, query) {
    setLive(false);
    at = Math.min(t, serverNow());
    if (Math.abs(at - middle) > span * 450) middle = at;
    clearTimeout(timer);
    timer = setTimeout(() => load().catch(app.fail), 150);
    draw();
    address();
    return show(query || { timestamp__lte: stamp(at) }, !query);
  }
  const stepStill = (forward) => go(at, current ? { pageToken: forward ? current.next : current.prev } : { [forward ? "timestamp__gt" : "timestamp__lt"]: stamp(at) });
  async function stepEvent(forward) {
    let list = events.map((e) => Date.parse(e.startTimestamp) + 500);
    let next = forward ? list.find((t) => t > at + 600) : list.findLast((t) => t < at - 600);
    if (next === undefined) {
      const page = await get("api/v3.0/events", { actor: "camera:" + id, type__in: shownTypes.join(","), pageSize: 1, sort: forward ? "+startTimestamp" : "-startTimestamp",
        startTimestamp__gte: stamp(forward ? at + 100 : at - 90 * 86400e3), startTimestamp__lte: stamp(forward ? serverNow() : at - 1100) });
      if (left) return undefined;
      if (page.results.length === 0) return put($("gap"), forward ? "No later event." : "No earlier event.");
      next = Date.parse(page.results[0].startTimestamp) + 500;
    }
    return go(next);
  }
  function zoom(factor) {
    span = Math.min(Math.max(span * factor, minSpan), maxSpan);
    middle = at;
    $("zoom").value = String(span);
    load().catch(app.fail);
    draw();
  }

  function setLive(on) {
    if (live === on && following === on) return;
    live = on;
    following = on;
    app.follow(on ? id : "");
    if (on) { history.replaceState(null, "", "#/camera/" + encodeURIComponent(id)); newest(); }
    $("live").setAttribute("aria-pressed", String(on));
  }
  function newest() {
    at = middle = serverNow();
    return show({ timestamp__lte: stamp(at + 60e3) }, true);
  }
  // A live view asks for the newest still again and again, the next one when the last has come.
  // Where there is none, it asks seldom.
  let waits = false, next = 0;
  const beat = setInterval(() => {
    if (!live || document.hidden || waits || Date.now() < next) return;
    waits = true;
    newest().finally(() => { waits = false; if (!current) next = Date.now() + 5000; });
  }, side.liveEvery);
  const refill = setInterval(() => { if (live && !loading && !document.hidden) load(whole).catch(app.fail); }, 20000);

  let drag;
  line.onpointerdown = (p) => { drag = { x: p.clientX, at, moved: false }; line.setPointerCapture(p.pointerId); };
  line.onpointermove = (p) => {
    if (!drag) return;
    if (Math.abs(p.clientX - drag.x) > 3) drag.moved = true;
    if (drag.moved) { middle = at = drag.at - (p.clientX - drag.x) / line.clientWidth * span * 1000; go(at); }
  };
  line.onpointerup = (p) => {
    if (drag && !drag.moved) { const box = line.getBoundingClientRect(); go(middle + ((p.clientX - box.left) / box.width - 0.5) * span * 1000); }
    drag = undefined;
  };
  line.addEventListener("wheel", (w) => { w.preventDefault(); if (w.ctrlKey || w.shiftKey) zoom(w.deltaY > 0 ? 1.5 : 1 / 1.5); else { middle = at + w.deltaY / 1000 * span * 100; go(middle); } }, { passive: false });
  line.onkeydown = (k) => {
    const act = { ArrowLeft: () => k.shiftKey ? stepEvent(false) : stepStill(false), ArrowRight: () => k.shiftKey ? stepEvent(true) : stepStill(true), PageUp: () => go(at - span * 250),
      PageDown: () => go(at + span * 250), Home: () => go(middle - span * 499), End: () => setLive(true), "+": () => zoom(0.5), "-": () => zoom(2) }[k.key];
    if (act) { k.preventDefault(); Promise.resolve(act()).catch(app.fail); }
  };
  img.onload = () => { if (img.parentElement) img.parentElement.style.aspectRatio = img.naturalWidth + " / " + img.naturalHeight; };
  $("earlier").onclick = () => stepStill(false);
  $("later").onclick = () => stepStill(true);
  $("earlier-event").onclick = () => stepEvent(false).catch(app.fail);
  $("later-event").onclick = () => stepEvent(true).catch(app.fail);
  $("live").onclick = () => setLive(!live);
  $("draw").onchange = say;
  $("zoom").onchange = () => { span = +$("zoom").value; middle = at; load().catch(app.fail); draw(); };
  const sized = new ResizeObserver(draw);
  sized.observe(line);

  head();
  load().catch(app.fail);
  if (live) setLive(true); else show({ timestamp__lte: stamp(at) }, true);
  return {
    stays: true, cameras: head,
    event: (e) => {
      if (e.actorId !== id || !shownTypes.includes(e.type)) return;
      const i = events.findIndex((old) => old.id === e.id);
      if (i >= 0) events[i] = e; else events.push(e);
      if (live) say(); else draw();
    },
    stop: () => { left = true; clearInterval(beat); clearInterval(refill); clearTimeout(timer); sized.disconnect(); asking?.abort(); app.follow(""); if (img.src.startsWith("blob:")) URL.revokeObjectURL(img.src); },
  };
}
