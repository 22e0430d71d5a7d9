// The audit trail: who changed what, when and from where; the newest first.
import { get } from "./api.js";
import { $, columns, make, put, stencil } from "./dom.js";

const done = { create: "added", update: "changed", delete: "deleted", sign_in: "signed in", sign_out: "signed out", switch_account: "went into", password: "set the password of",
  lock: "locked out", unlock: "let in again", activate: "activated", refuse: "refused" };
const own = { password: "set a new password", update: "changed their own record" };
const of = { user: "user", account: "account", token: "token", camera: "camera", bridge: "bridge" };
const most = 100;

export function trail(app) {
  stencil("t-trail");
  let before = 0, left = false;

  function row(e) {
    const self = e.user_id && e.user_id === e.target_id;
    const what = [self && own[e.action] || done[e.action] || e.action.replaceAll("_", " "), self ? "" : [of[e.target_type] || e.target_type, e.target_name || e.target_id].join(" ")].filter(Boolean).join(" ");
    return make("tr", {}, make("td", {}, make("time", { dateTime: e.time, text: new Date(e.time).toLocaleString() })), make("td", { text: e.user_email || (self ? "" : "the service") }),
      make("td", { text: what }), make("td", { text: e.fields.map((f) => f.replace(/^is_/, "").replaceAll("_", " ")).join(", ") }), make("td", { text: e.ip_address }));
  }

  async function list() {
    const page = await get("g/audit/list", { limit: most, ...(before ? { before } : {}) });
    if (left) return;
    before = page.at(-1)?.seq || 0;
    $("trail").append(...page.map(row));
    columns($("trail"));
    $("more").hidden = page.length < most;
    put($("trail-state"), $("trail").children.length === 0 ? "Nothing was changed yet." : "");
  }
  $("more").onclick = () => list().catch(app.fail);
  list().catch(app.fail);
  return { event: () => {}, cameras: () => {}, stop: () => { left = true; } };
}
