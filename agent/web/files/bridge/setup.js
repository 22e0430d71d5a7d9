// Setting cameras up: search the network, test one with a picture, name it, and it is watched; change or remove one. Only
// administrators come here. A password goes to the bridge with the test and never comes back.
import { get, send } from "./api.js";
import { $, make, put, stencil } from "./dom.js";

export function setup(app) {
  stencil("t-setup");
  let trial = "", picture = "", proposed = "", left = false, changed, dirty = false; // changed: the camera that is changed, undefined for a new one; proposed: a name that nobody typed

  // tries does one thing at a time for a button, and says what was wrong with it.
  async function tries(button, act) {
    put($("setup-refusal"), "");
    put($("setup-done"), "");
    button.disabled = true;
    try { await act(); } catch (e) {
      if (left) return;
      if (e.status === undefined) app.fail(e); else { put($("setup-refusal"), e.message); $("setup-refusal").scrollIntoView({ block: "nearest" }); }
    } finally { button.disabled = false; }
  }

  const row = (name, more, ...buttons) => make("li", {}, make("span", { className: "text" }, make("strong", { text: name }), make("span", { className: "dim", text: more })), ...buttons);

  async function known() {
    const list = await get("web/cameras");
    if (left) return;
    $("known-none").hidden = list.length > 0;
    $("known").replaceChildren(...list.map((c) => {
      const change = make("button", { type: "button", text: "Change", ariaLabel: "Change " + c.name });
      const remove = make("button", { type: "button", text: "Remove", ariaLabel: "Remove " + c.name });
      change.onclick = () => { begin(c); $("camera-name-new").focus(); $("add-title").scrollIntoView({ block: "nearest" }); };
      remove.onclick = () => ask(c, remove);
      const tune = make("a", { href: "#/tuning/" + encodeURIComponent(c.id), text: "Tune", ariaLabel: "Tune " + c.name });
      const li = row(c.name, c.address + (c.username ? " as " + c.username : "") + (c.enabled ? "" : ", switched off"), tune, change, remove);
      li.dataset.id = c.id;
      return li;
    }));
  }

  // begin turns the forms to a camera that is there, or to a new one.
  function begin(c) {
    changed = c;
    forget();
    dirty = false;
    put($("setup-refusal"), "");
    put($("setup-done"), "");
    $("try").reset();
    $("keep").reset();
    put($("add-title"), c ? "Change " + c.name : "Add a camera");
    put($("save"), c ? "Save" : "Add this camera");
    $("search-part").hidden = Boolean(c);
    for (const id of ["small-row", "enabled-row", "cancel"]) $(id).hidden = !c;
    $("camera-password").placeholder = c?.hasPassword ? "the one that it has" : "";
    if (!c) return;
    $("address").value = c.address;
    $("small-address").value = c.previewAddress;
    $("camera-user").value = c.username;
    $("in-clear").checked = c.allowInsecureBasic;
    $("camera-name-new").value = c.name;
    $("enabled").checked = c.enabled;
    $("keep").hidden = false;
  }

  // ask removes a camera, if that is meant.
  function ask(c, button) {
    put($("sure-title"), "Remove " + c.name + "?");
    $("sure").returnValue = "";
    $("sure").onclose = () => {
      if ($("sure").returnValue !== "yes") return button.focus();
      tries(button, async () => {
        await send("DELETE", "web/cameras/" + encodeURIComponent(c.id));
        await known();
        if (left) return;
        if (changed?.id === c.id) begin();
        put($("setup-done"), c.name + " was removed.");
        if (document.activeElement === document.body) $("address").focus();
      });
    };
    $("sure").showModal();
  }

  // addressOf is what the form wants of a device that answered: its host, or its ONVIF service where that is not at the usual port.
  function addressOf(d) {
    const odd = d.addresses.find((a) => { try { return new URL(a).port !== ""; } catch { return false; } });
    return odd || d.host || d.addresses[0] || "";
  }

  $("search").onclick = () => tries($("search"), async () => {
    put($("search-state"), "Searching …");
    $("found").replaceChildren();
    try {
      const list = await send("POST", "web/cameras:search");
      if (left) return;
      put($("search-state"), list.length ? (list.length === 1 ? "1 device" : list.length + " devices") + " answered. Which are yours?"
        : "No camera answered. ONVIF may be switched off in it: its address does as well.");
      $("found").replaceChildren(...list.map((d) => {
        const name = [d.name, d.hardware].filter(Boolean).join(" ") || "A camera";
        const use = make("button", { type: "button", text: "Use", ariaLabel: "Use " + name + " at " + d.host });
        use.onclick = () => { forget(); $("address").value = addressOf(d); $("camera-user").focus(); };
        return row(name, d.host, use);
      }));
    } catch (e) { if (!left) put($("search-state"), ""); throw e; }
  });

  // forget takes the last test away: what is saved is what was tested.
  function forget() {
    trial = "";
    $("keep").hidden = !changed;
    $("trial-figure").hidden = true;
    put($("trial-state"), "");
    if (picture) URL.revokeObjectURL(picture);
    picture = "";
  }
  $("try").oninput = () => { dirty = true; forget(); };
  $("cancel").onclick = () => { begin(); $("address").focus(); };

  $("try").onsubmit = (s) => {
    s.preventDefault();
    forget();
    tries($("try").querySelector("button"), async () => {
      put($("trial-state"), "Asking the camera …");
      try {
        const t = await send("POST", "web/cameras:try", { camera: changed?.id || "", previewAddress: changed ? $("small-address").value.trim() : "", address: $("address").value.trim(), username: $("camera-user").value, password: $("camera-password").value,
          allowInsecureBasic: $("in-clear").checked });
        if (left) return;
        trial = t.trial;
        picture = URL.createObjectURL(new Blob([Uint8Array.from(atob(t.picture), (c) => c.charCodeAt(0))], { type: "image/jpeg" }));
        $("trial-picture").src = picture;
        put($("trial-state"), "The camera answers.");
        put($("trial-facts"), [t.codec.toUpperCase() + " " + t.width + "×" + t.height, t.rate.toFixed(1) + " pictures a second", t.transport,
          t.by ? "found by " + (t.by === "ONVIF" ? t.by : "the usual path of " + t.by) : "", t.address, t.previewAddress && "a small stream for motion: " + t.previewAddress].filter(Boolean).join(" · "));
        $("trial-figure").hidden = false;
        if (!changed && [proposed, ""].includes($("camera-name-new").value)) $("camera-name-new").value = proposed = t.name;
        $("keep").hidden = false;
        $("camera-name-new").focus();
      } catch (e) { if (!left) put($("trial-state"), ""); throw e; }
    });
  };

  $("keep").onsubmit = (s) => {
    s.preventDefault();
    tries($("keep").querySelector("button"), async () => {
      const name = $("camera-name-new").value.trim();
      if (changed) {
        if (dirty && !trial) { put($("setup-refusal"), "Test it first: what is saved is what was tested."); return; }
        const c = changed;
        await send("PATCH", "web/cameras/" + encodeURIComponent(c.id), { name, enabled: $("enabled").checked, trial });
        await known();
        if (left || changed !== c) return; // whoever went on to another camera types there already
        begin();
        put($("setup-done"), name + " was changed.");
        [...$("known").children].find((li) => li.dataset.id === c.id)?.querySelector("button").focus();
        return;
      }
      const made = await send("POST", "web/cameras", { trial, name });
      await known();
      if (left || changed) return;
      begin();
      const see = make("a", { href: "#/camera/" + encodeURIComponent(made.id), text: "Look at it" });
      $("setup-done").replaceChildren(name + " was added. ", see, " or ", make("a", { href: "#/", text: "at all cameras" }), ".");
      see.focus();
    });
  };

  begin();
  known().catch((e) => { if (e.status === undefined) app.fail(e); else put($("setup-refusal"), e.message); });
  return { event: () => {}, cameras: () => {}, stop: () => { left = true; forget(); } };
}
