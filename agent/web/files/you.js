// Who is signed in: at which devices, each to be ended, and which of them need no code.
import { get, send } from "./api.js";
import { $, clock, keep, make, put, stencil } from "./dom.js";

// device is a browser's or program's name of itself in words that people use.
export function device(agent) {
  const browser = [["Edg", "Edge"], ["OPR", "Opera"], ["Firefox", "Firefox"], ["Chrome", "Chrome"], ["Safari", "Safari"]].find(([sign]) => agent.includes(sign + "/"))?.[1];
  const system = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "CrOS", "Linux"].find((sign) => agent.includes(sign));
  return browser && system ? browser + " on " + system : agent || "A device of which nothing is known";
}

// when reads the times of /g/: 20060102150405.000, in UTC.
const when = (t) => clock(t.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/, "$1-$2-$3T$4:$5:$6") + "Z");

export function you(app) {
  stencil("t-you");
  let left = false;
  const kinds = {
    sessions: { path: "g/user/sessions", key: "session_id", verb: "End", done: "was signed out.", held: new Map(),
      facts: (s) => [s.is_current && "this one", s.ip_address, "last used " + when(s.last_used), "since " + when(s.created)] },
    devices: { path: "g/user/authenticated_clients", key: "client_id", verb: "Forget", done: "needs a code the next time.", held: new Map(),
      facts: (d) => [d.is_current && "this one", d.last_used && "last used " + when(d.last_used), "since " + when(d.created)] },
  };

  async function list(id) {
    const kind = kinds[id], all = await get(kind.path);
    if (left) return;
    if (id === "devices") $("devices-part").hidden = all.length === 0;
    keep($(id), kind.held, all, (s) => s.id, () => make("li", {}, make("span", { className: "text" }, make("strong"), make("span", { className: "dim" })), make("button", { type: "button", text: kind.verb })), (li, s) => {
      const [text, button] = li.children, name = device(s.name);
      put(text.children[0], name);
      put(text.children[1], kind.facts(s).filter(Boolean).join(" · "));
      li.dataset.id = s.id;
      button.ariaLabel = kind.verb + " " + name + ", " + text.children[1].textContent;
      button.hidden = id === "sessions" && Boolean(s.is_current); // that is what signing out is for
      button.onclick = async () => {
        button.disabled = true;
        const next = li.nextElementSibling || li.previousElementSibling;
        try {
          await send("DELETE", kind.path, { [kind.key]: s.id });
          await list(id);
          if (left) return;
          put($("you-done"), name + " " + kind.done);
          (next?.querySelector("button:not([hidden])") || $("leave")).focus();
        } catch (e) { app.fail(e); } finally { button.disabled = false; }
      };
    });
  }

  get("g/user").then((u) => { if (!left) put($("you-name"), [[u.first_name, u.last_name].filter(Boolean).join(" "), u.email].filter(Boolean).join(" · ")); }, app.fail);
  for (const id of Object.keys(kinds)) list(id).catch(app.fail);
  return { event: () => {}, cameras: () => {}, stop: () => { left = true; } };
}
