// The users of the account, and what each of them may do.
import { get } from "./api.js";
import { $, clock, columns, make, put, stencil } from "./dom.js";

const rights = { administrator: "everything", viewLiveVideo: "live", viewPreviewVideo: "previews", viewHistoricVideo: "recordings", downloadVideo: "download",
  editNoBillingDeviceSettings: "change cameras", editAllCameraSettings: "set cameras up", addEditBridgesCameras: "add bridges and cameras", turnCamerasOnOff: "switch cameras",
  editMotionAreas: "motion areas", editUsers: "users", editAdminUsers: "administrators", editAccounts: "accounts", editSharing: "sharing", viewAuditLog: "audit trail" };
const states = { active: ["may sign in", "good"], pending: ["has no password yet", "dim"], blocked: ["is shut out", "bad"] };

export function people(app) {
  stencil("t-people");
  let next = "", left = false;

  function row(u) {
    const [state, look] = states[u.status?.loginStatus] || [u.status?.loginStatus || "", ""], p = u.permissions || {};
    const may = p.administrator ? [rights.administrator] : Object.keys(rights).filter((k) => p[k]).map((k) => rights[k]);
    const tr = make("tr", {}, make("th", { scope: "row", text: [u.firstName, u.lastName].filter(Boolean).join(" ") || u.email }), make("td", { text: u.email }), make("td", { text: state, className: look }),
      make("td", {}, ...may.map((text) => make("span", { className: "right", text }))), make("td", { text: u.loginDetails?.lastLogin ? clock(u.loginDetails.lastLogin) : "never" }));
    tr.dataset.id = u.id;
    return tr;
  }

  async function list() {
    const page = await get("api/v3.0/users", { include: "status,loginDetails,permissions", sort: "+email", pageSize: 100, ...(next ? { pageToken: next } : {}) });
    if (left) return;
    next = page.nextPageToken;
    $("people").append(...page.results.map(row));
    columns($("people"));
    $("more").hidden = !next;
    put($("people-state"), page.totalSize + (page.totalSize === 1 ? " user" : " users"));
  }
  $("more").onclick = () => list().catch(app.fail);
  list().catch(app.fail);
  return { event: () => {}, cameras: () => {}, stop: () => { left = true; } };
}
