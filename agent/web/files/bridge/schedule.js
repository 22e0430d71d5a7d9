// The week of arming: at which times motion makes events, before all cameras or before one. It is written into the configuration.
// Only administrators come here.
import { get, send } from "./api.js";
import { $, make, put, stencil, svg } from "./dom.js";

const days = [["mon", "Mon"], ["tue", "Tue"], ["wed", "Wed"], ["thu", "Thu"], ["fri", "Fri"], ["sat", "Sat"], ["sun", "Sun"]];
const minutes = (clock) => { const [h, m] = clock.split(":"); return 60 * h + +m; };
const least = 15; // minutes that a bar is drawn wide

export function schedule(app, [id]) {
  stencil("t-schedule");
  let all, now = [], saved = "", left = false;
  const camera = () => all.cameras.find((c) => c.id === $("schedule-of").value);
  const written = () => camera() && !$("own").checked ? null : now;
  const dirty = () => Boolean(all) && JSON.stringify(written()) !== saved;

  // show fills the form with what is saved of whom the form is about.
  function show() {
    const c = camera();
    $("own-row").hidden = !c;
    $("own").checked = Boolean(c?.own);
    now = structuredClone(c?.own ? c.times : all.all.times);
    saved = JSON.stringify(written());
    put($("schedule-refusal"), "");
    rows();
  }

  // rows makes the fields of all times anew; a change within one of them goes by paint alone.
  function rows() {
    $("times").replaceChildren(...now.map((w, i) => {
      const set = (key, value) => { w[key] = value; paint(); };
      const chips = days.map(([day, name]) => {
        const box = make("input", { type: "checkbox", checked: w.days.includes(day) });
        box.onchange = () => set("days", days.map(([d]) => d).filter((d) => d === day ? box.checked : w.days.includes(d)));
        return make("label", { className: "chip" }, box, name);
      });
      // A field of the browser's knows no 24:00; as an end, 00:00 is the same.
      const clock = (key, name) => {
        const field = make("input", { type: "time", required: true, value: w[key] === "24:00" ? "00:00" : w[key] });
        field.oninput = () => set(key, key === "to" && field.value === "00:00" ? "24:00" : field.value);
        return make("label", { className: "inline" }, name + " ", field);
      };
      const remove = make("button", { type: "button", text: "Remove", ariaLabel: "Remove time " + (i + 1) });
      remove.onclick = () => { now.splice(i, 1); rows(); ($("times").children[Math.min(i, now.length - 1)]?.querySelector("button") || $("add-time")).focus(); };
      return make("fieldset", {}, make("legend", { text: "Time " + (i + 1), className: "dim" }), make("div", { className: "chips" }, ...chips),
        make("div", { className: "tools" }, clock("from", "From"), clock("to", "until"), make("span", { className: "dim" }), remove));
    }));
    paint();
  }

  // paint draws the week and says what is wrong.
  function paint() {
    const open = !camera() || $("own").checked, bars = [], week = new Uint8Array(7 * 1440);
    $("times").disabled = $("add-time").disabled = !open;
    now.forEach((w, i) => {
      const from = minutes(w.from || "00:00"), to = minutes(w.to || "00:00"), over = to <= from;
      put($("times").children[i].querySelector(".dim:not(legend)"), over && w.from !== w.to ? "the next day" : "");
      for (const day of w.days) {
        const at = days.findIndex(([d]) => d === day) * 1440;
        for (let m = from; m < (over ? to + 1440 : to); m++) week[(at + m) % week.length] = 1;
      }
    });
    const on = now.length ? week : week.fill(1);
    for (let d = 0; d < 7; d++) for (let m = 0, from; m < 1440; m = from) {
      const is = on[d * 1440 + m];
      for (from = m; from < 1440 && on[d * 1440 + from] === is; from++);
      if (is) bars.push(svg("rect", { x: m, y: d * 10 + 1, width: Math.max(from - m, least), height: 8 }));
    }
    $("week-bars").replaceChildren(...bars);
    const total = on.reduce((n, v) => n + v, 0);
    put($("week-says"), total === on.length ? "Armed at all times." : `Armed ${+(total / 60).toFixed(1)} of 168 hours a week.`);
    $("times-none").hidden = now.length > 0;
    $("schedule-save").disabled = !dirty();
    $("schedule-reset").hidden = !dirty();
    if (dirty()) put($("schedule-done"), "");
  }

  function take(d, said) {
    all = d;
    put($("schedule-zone"), `Times are those of the zone ${d.zone}; there it is ${d.clock} now, by the bridge's clock.`);
    show();
    put($("schedule-done"), said);
  }
  const refuse = (e) => { if (left) return; if (e.status === undefined) app.fail(e); else put($("schedule-refusal"), e.message); };
  const load = async (said = "") => { const d = await get("web/schedule"); if (!left) take(d, said); };

  $("schedule-of").onchange = () => { history.replaceState(null, "", "#/schedule" + ($("schedule-of").value ? "/" + encodeURIComponent($("schedule-of").value) : "")); show(); put($("schedule-done"), ""); };
  $("own").onchange = () => { if (!$("own").checked) now = structuredClone(all.all.times); rows(); };
  $("add-time").onclick = () => {
    now.push({ days: days.map(([d]) => d), from: "18:00", to: "07:00" });
    rows();
    $("times").lastChild.querySelector("input").focus();
  };
  $("schedule-reset").onclick = () => { put($("schedule-refusal"), ""); load("What is saved is shown again.").then(() => $("schedule-of").focus(), refuse); };
  $("schedule-form").onsubmit = async (s) => {
    s.preventDefault();
    put($("schedule-refusal"), "");
    const idle = now.findIndex((w) => w.days.length === 0), button = $("schedule-save");
    if (written() && idle >= 0) { put($("schedule-refusal"), `Time ${idle + 1} has no day: choose one, or remove the time.`); $("times").children[idle].querySelector("input").focus(); return; }
    button.disabled = true;
    try {
      const d = await send("PUT", "web/schedule", { version: all.version, camera: $("schedule-of").value, times: written() });
      if (left) return;
      take(d, "Saved: the bridge goes by it now.");
      $("schedule-done").tabIndex = -1;
      $("schedule-done").focus();
    } catch (e) { refuse(e); } finally { if (!left) paint(); }
  };
  const unload = (e) => { if (dirty()) e.preventDefault(); };
  addEventListener("beforeunload", unload);

  $("week-days").replaceChildren(...days.map(([, name]) => make("span", { text: name })));
  load().then(() => {
    if (left) return;
    $("schedule-of").append(...all.cameras.map((c) => new Option(c.name || c.id, c.id)));
    if (all.cameras.some((c) => c.id === id)) { $("schedule-of").value = id; show(); }
  }).catch(refuse);
  return { stays: true, event: () => {}, cameras: () => {}, stop: () => { left = true; removeEventListener("beforeunload", unload); } };
}
