// Signing in, and what leads there: a code to begin with, a link of a letter, a password that was forgotten.
import * as api from "./api.js";
import { $, put, stencil } from "./dom.js";
import * as side from "./side.js";

// enter shows the sign-in, with why; inside is called once somebody is signed in, and fail hears what went wrong after that.
export async function enter(why, inside, fail) {
  document.title = "Sign in · " + side.name;
  stencil("t-enter");
  put($("refusal"), why);
  put($("first-summary"), side.first[0]);
  put($("first-words"), side.first[1]);
  let waits = false; // for a code

  // attempt does what a form is for, and goes in unless there is more to do.
  const attempt = (form, act) => { $(form).onsubmit = async (s) => {
    s.preventDefault();
    const button = $(form).querySelector("button:not([type])");
    put($("told"), "");
    button.disabled = true;
    try {
      if (await act() === "more") return;
    } catch (e) {
      if (e.again) $("code").select(); else code(undefined);
      return put($("refusal"), e.message);
    } finally { button.disabled = false; }
    await inside().catch(fail);
  }; };

  // code asks for one, sent to one of those, or forgets that it did.
  function code(to) {
    waits = Boolean(to);
    $("factor").hidden = !to;
    $("code-row").hidden = true;
    $("code").value = "";
    if (!to) return;
    put($("refusal"), "");
    for (const type of ["email", "sms"]) {
      const button = $("code-" + type), known = to[type]?.includes("*");
      button.hidden = !known;
      put(button, type === "email" ? "by mail to " + to.email : "by SMS to " + to.sms);
      button.onclick = async () => {
        try { await api.sendCode(type); } catch (e) { return put($("refusal"), e.message); }
        put($("told"), "A code was sent to you. Give it here.");
        $("code-row").hidden = false;
        $("code").focus();
      };
    }
    [$("code-email"), $("code-sms")].find((b) => !b.hidden)?.focus();
    return "more";
  }

  attempt("enter", async () => waits ? api.authorize($("code").value.trim()) : code(await api.authenticate($("user").value.trim(), $("password").value)));
  attempt("begin", async () => code(await api.begin($("first-code").value.trim(), $("first-password").value)));
  attempt("by-token", () => api.withToken($("token").value.trim()));
  const letter = (form, path, body, told) => attempt(form, async () => {
    await api.plead(path, body());
    $(form).reset();
    put($("refusal"), "");
    put($("told"), told);
    return "more";
  });
  letter("forgot", "forgot_password", () => ({ email: $("forgot-email").value.trim() }), "If somebody has this address, a letter with a link is on its way.");
  letter("sign-up", "create_account", () => ({ email: $("new-email").value.trim(), password: $("new-password").value, name: $("new-account").value.trim(),
    first_name: $("new-first").value.trim(), last_name: $("new-last").value.trim() }), "A letter with a link is on its way: it opens the account.");

  // A link brings a code or a token, which goes out of the address at once.
  const asked = new URLSearchParams(location.hash.split("?")[1]), begins = /^#code=(\w+)$/.exec(location.hash)?.[1] || /^#\/password\?/.test(location.hash) && asked.get("token");
  const confirms = /^#\/registration\?/.test(location.hash);
  if (begins || confirms) history.replaceState(null, "", "#/");
  if (begins) { $("first-code").value = begins; $("first").open = true; $("first-password").focus(); }
  if (confirms) {
    attempt("confirm", async () => code(await api.validate(asked.get("id") || "", asked.get("token") || "")));
    for (const id of ["enter", "confirm"]) $(id).hidden = id === "enter";
    put($("enter-title"), "Welcome");
    $("confirm").querySelector("button").focus();
  }
  const doors = await api.doors().catch(() => ({}));
  if (!$("forgotten")) return; // somebody is in already
  $("forgotten").hidden = !doors.letters;
  $("new-here").hidden = !(doors.letters && doors.signUp);
  if (doors.firstUser) $("first").open = true;
}
