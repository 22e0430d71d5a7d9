// What is wrong first, with what to do; then the figures.
import { file, get } from "./api.js";
import { $, bytes, clock, columns, duration, keep, make, put, rate, stateOf, stencil } from "./dom.js";

// What vouches for the time, in words.
const vouches = { kernel: "by the machine, which is synchronised", set: "since it was set", agreed: "the service shows the same", service: "by the service", assumed: "nothing speaks against it" };

export function health(app) {
  stencil("t-health");
  const rows = new Map(), figures = new Map(), problems = new Map();
  let left = false;

  async function look() {
    const r = await get("web/status"), now = Date.parse(r.time);
    if (left) return;
    put($("well"), r.problems.length === 0 ? "Everything is well." : r.problems.length === 1 ? "One thing needs attention." : r.problems.length + " things need attention.", r.problems.length ? "bad" : "good");
    keep($("problems"), problems, r.problems, (p) => p.kind + p.text, () => make("li", {}, make("strong"), make("p")), (li, p) => { put(li.children[0], p.text); put(li.children[1], p.hint || ""); });
    const kept = r.stills.oldest ? now - Date.parse(r.stills.oldest) : 0, aDay = kept > 600e3 && r.stills.bytes / kept * 86400e3;
    const m = r.machine || {}, ticks = r.clock || {};
    const list = [["Version", r.version + " on " + r.platform], ["Running for", duration(now - Date.parse(r.started))],
      ["Stills", r.stills.stills + ", " + bytes(r.stills.bytes) + " of " + bytes(r.stills.mostBytes)],
      kept && ["Stills go back", duration(kept)], aDay && ["Stills a day", bytes(aDay)],
      aDay && ["Room for stills of", duration(r.stills.mostBytes / aDay * 86400e3)],
      ["Events kept", String(r.journal.events) + ", " + bytes(r.journal.bytes)], ["Waiting for the service", r.outbox.waiting + (r.outbox.parked ? ", " + r.outbox.parked + " refused" : "")],
      r.disk.totalBytes && ["Disk", bytes(r.disk.freeBytes) + " free of " + bytes(r.disk.totalBytes)],
      m.cardUsedPercent && ["Life of the card", "up to " + m.cardUsedPercent + " % used"],
      m.processors && ["Processors", m.processors + ", load " + m.load.toFixed(1)],
      m.memoryBytes && ["Memory", m.memoryFreeBytes ? bytes(m.memoryFreeBytes) + " free of " + bytes(m.memoryBytes) : bytes(m.memoryBytes)],
      m.temperatureCelsius && ["Temperature", m.temperatureCelsius.toFixed(0) + " °C"],
      r.clock && ["Clock", ticks.true ? "right: " + (vouches[ticks.source] || ticks.source) : "not yet right: " + ticks.waitsFor],
      r.service && ["Service", r.service.url + ": " + (r.service.signedIn ? "signed in, tunnel " + r.service.tunnel : r.service.problem || "not signed in")],
      ...(r.sinks || []).map((h) => ["Events to " + (h.name || h.kind || "elsewhere"), h.problem || "well"])].filter(Boolean);
    keep($("figures"), figures, list, (f) => f[0], () => make("div", {}, make("dt"), make("dd")), (div, [name, value]) => { put(div.children[0], name); put(div.children[1], value); });
    keep($("health-cameras"), rows, r.cameras, (c) => c.id, () => make("tr", {}, ...Array.from({ length: 6 }, () => make("td"))), (tr, c) => {
      put(tr.children[0], c.name || c.id);
      put(tr.children[1], stateOf(c) + (c.online || !c.reason ? "" : ": " + c.reason), c.online ? "good" : c.state === "off" ? "dim" : "bad");
      put(tr.children[2], c.since ? clock(c.since) : "");
      put(tr.children[3], c.codec ? c.codec.toUpperCase() + " " + c.width + "×" + c.height + " " + (c.transport || "") + " " + rate(c) : "");
      put(tr.children[4], c.decoding ? (100 * c.decoding.processor).toFixed(1) + " %" : "");
      put(tr.children[5], c.lastPreview ? clock(c.lastPreview) : "none");
    });
    columns($("health-cameras"));
    app.wrong(r.problems.length);
  }
  $("help").hidden = !app.maySetUp;
  $("bundle").onclick = async () => {
    const button = $("bundle"), state = $("bundle-state");
    button.disabled = true;
    put(state, "Packing …");
    try {
      const blob = await file("web/support"), link = make("a", { href: URL.createObjectURL(blob), download: "vmsbridge-support.tar.gz" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
      put(state, "vmsbridge-support.tar.gz, " + bytes(blob.size) + ": it holds no picture, no password and no token.");
    } catch (e) { put(state, ""); app.fail(e); } finally { button.disabled = false; }
  };
  look().catch(app.fail);
  const beat = setInterval(() => { if (!document.hidden) look().catch(app.fail); }, 5000);
  return { event: () => {}, cameras: () => {}, stop: () => { left = true; clearInterval(beat); } };
}
