// Setting cameras up: search the network, test one with a picture, name it, and it is watched. Only administrators come here. A
// password goes to the bridge with the test and never comes back.
import { get, send } from "./api.js";
import { $, make, put, stencil } from "./dom.js";

export function setup(app) {
  stencil("t-setup");
  let trial = "", picture = "", left = false;

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
    $("known").replaceChildren(...list.map((c) => row(c.name, c.address + (c.username ? " as " + c.username : "") + (c.enabled ? "" : ", switched off"))));
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
    $("keep").hidden = true;
    put($("trial-state"), "");
    if (picture) URL.revokeObjectURL(picture);
    picture = "";
  }
  $("try").oninput = forget;

  $("try").onsubmit = (s) => {
    s.preventDefault();
    forget();
    tries($("try").querySelector("button"), async () => {
      put($("trial-state"), "Asking the camera …");
      try {
        const t = await send("POST", "web/cameras:try", { address: $("address").value.trim(), username: $("camera-user").value, password: $("camera-password").value,
          allowInsecureBasic: $("in-clear").checked });
        if (left) return;
        trial = t.trial;
        picture = URL.createObjectURL(new Blob([Uint8Array.from(atob(t.picture), (c) => c.charCodeAt(0))], { type: "image/jpeg" }));
        $("trial-picture").src = picture;
        put($("trial-state"), "The camera answers.");
        put($("trial-facts"), [t.codec.toUpperCase() + " " + t.width + "×" + t.height, t.rate.toFixed(1) + " pictures a second", t.transport,
          t.by ? "found by " + (t.by === "ONVIF" ? t.by : "the usual path of " + t.by) : "", t.address, t.previewAddress && "a small stream for motion: " + t.previewAddress].filter(Boolean).join(" · "));
        if (!$("camera-name-new").value) $("camera-name-new").value = t.name;
        $("keep").hidden = false;
        $("camera-name-new").focus();
      } catch (e) { if (!left) put($("trial-state"), ""); throw e; }
    });
  };

  $("keep").onsubmit = (s) => {
    s.preventDefault();
    tries($("keep").querySelector("button"), async () => {
      const name = $("camera-name-new").value.trim();
      const made = await send("POST", "web/cameras", { trial, name });
      if (left) return;
      forget();
      $("try").reset();
      $("keep").reset();
      const see = make("a", { href: "#/camera/" + encodeURIComponent(made.id), text: "Look at it" });
      $("setup-done").replaceChildren(name + " was added. ", see, " or ", make("a", { href: "#/", text: "at all cameras" }), ".");
      see.focus();
      await known();
    });
  };

  known().catch((e) => { if (e.status === undefined) app.fail(e); else put($("setup-refusal"), e.message); });
  return { event: () => {}, cameras: () => {}, stop: () => { left = true; forget(); } };
}
