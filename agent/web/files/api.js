// Asking the bridge: sign-in, the interface, the stream of changes. Whoever signed in as a user is known by the browser's cookie,
// in all tabs; a token of the configuration stays with its tab.

let bearer = sessionStorage.getItem("token") || "";
let byToken = bearer !== "";

// Refused is an answer that wants another sign-in.
export class Refused extends Error {}

// words is what an answer says for people.
async function words(answer) {
  const text = await answer.text();
  try {
    const body = JSON.parse(text);
    return body.message || body.error_description || answer.statusText;
  } catch {
    return text.slice(0, 200) || "The bridge answered " + answer.status + ".";
  }
}

const post = (path, body, type) => fetch(path, { method: "POST", body, headers: type ? { "Content-Type": type } : {}, credentials: "same-origin" });
const json = (path, body) => post(path, JSON.stringify(body), "application/json");

// resume takes up the session that the browser has, if it has one.
export async function resume() {
  if (!byToken) {
    const answer = await post("oauth2/token", new URLSearchParams({ grant_type: "cookie", scope: "vms.all" }));
    if (!answer.ok) return false;
    bearer = (await answer.json()).access_token;
  }
  const session = await fetch("api/v3.0/media/session", { headers: auth(), credentials: "same-origin", cache: "no-store" });
  if (session.status === 401) { forget(); throw new Refused("This token is not known here. Is it one of api.tokens in the configuration?"); }
  if (!session.ok) { const why = await words(session); forget(); throw new Error(why); }
  return true;
}

// signIn signs a user in. It answers true if a code is needed that was not given.
let ticket;
export async function signIn(user, password, code) {
  if (!user || !password) throw new Refused("Give both a user name and a password.");
  if (!code || !ticket) {
    const first = await json("g/aaa/authenticate", { username: user, password });
    if (!first.ok) throw new Refused(first.status === 429 ? await words(first) : "The user name or the password is not right: " + await words(first));
    ticket = await first.json();
    if (ticket.two_factor_authentication_code) return true;
  }
  const second = await json("g/aaa/authorize", code ? { token: ticket.token, two_factor_authentication_code: code } : { token: ticket.token });
  ticket = undefined;
  if (!second.ok) throw new Refused(await words(second));
  return !await resume();
}

export async function withToken(token) {
  sessionStorage.setItem("token", token);
  bearer = token;
  byToken = true;
  await resume();
}

// begin sets the first user's password with the bridge's code, and signs in.
export async function begin(code, password) {
  const answer = await post("g/aaa/reset_password", new URLSearchParams({ token: code, password }));
  if (!answer.ok) throw new Refused("The code does not open: " + await words(answer) + " A new start of the bridge makes a new one.");
  return signIn("admin@localhost", password);
}

export const firstTime = async () => (await fetch("web/begin", { cache: "no-store" })).json().then((b) => b.firstUser, () => false);

export function forget() {
  sessionStorage.removeItem("token");
  bearer = "";
  byToken = false;
}

export async function signOut() {
  forget();
  await post("g/aaa/logout").catch(() => {});
}

const auth = () => ({ Authorization: "Bearer " + bearer });

// get asks for JSON. A session's token that ended is renewed once.
export async function get(path, query = {}, again = true) {
  const url = new URL(path, document.baseURI);
  for (const [key, value] of Object.entries(query)) for (const v of [value].flat()) url.searchParams.append(key, v);
  const answer = await fetch(url, { headers: { ...auth(), Accept: "application/json" }, credentials: "same-origin", cache: "no-store" });
  if (answer.status === 401) {
    if (again && !byToken && await resume()) return get(path, query, false);
    throw new Refused(await words(answer));
  }
  if (!answer.ok) throw Object.assign(new Error(await words(answer)), { status: answer.status });
  return answer.json();
}

// file asks for something that is kept as a file.
export async function file(path, again = true) {
  const answer = await fetch(path, { method: "POST", headers: auth(), credentials: "same-origin", cache: "no-store" });
  if (answer.status === 401) {
    if (again && !byToken && await resume()) return file(path, false);
    throw new Refused(await words(answer));
  }
  if (!answer.ok) throw Object.assign(new Error(await words(answer)), { status: answer.status });
  return answer.blob();
}

// send changes something: method and path, and what goes with it as JSON. A session's token that ended is renewed once.
export async function send(method, path, body, again = true) {
  const answer = await fetch(path, { method, headers: { ...auth(), Accept: "application/json", ...(body ? { "Content-Type": "application/json" } : {}) },
    body: body && JSON.stringify(body), credentials: "same-origin", cache: "no-store" });
  if (answer.status === 401) {
    if (again && !byToken && await resume()) return send(method, path, body, false);
    throw new Refused(await words(answer));
  }
  if (!answer.ok) throw Object.assign(new Error(await words(answer)), { status: answer.status });
  return answer.json();
}

// still fetches a picture: its address for an <img>, when it was taken, and the tokens of its neighbours. Whoever has it lets go of
// the address by URL.revokeObjectURL.
export async function still(query, signal) {
  const url = new URL("api/v3.0/media/recordedImage.jpeg", document.baseURI);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  const answer = await fetch(url, { headers: auth(), credentials: "same-origin", signal });
  if (answer.status === 401) throw new Refused(await words(answer));
  if (!answer.ok) throw Object.assign(new Error(await words(answer)), { status: answer.status });
  const header = (name) => answer.headers.get("X-Vms-" + name);
  return { blob: await answer.blob(), time: new Date(header("Timestamp")), next: header("NextToken"), prev: header("PrevToken") };
}

export const stamp = (t) => new Date(t).toISOString().replace("Z", "+00:00");

// imageAt is the address of the still of exactly a time, which a browser may keep.
export const imageAt = (camera, t, width, kind = "preview") => "api/v3.0/media/recordedImage.jpeg?" + new URLSearchParams({
  deviceId: camera, type: kind, timestamp: stamp(t), ...(width ? { targetWidth: width } : {}) });

// imageBefore is that of the last still at or before a time.
export const imageBefore = (camera, t, width, kind = "preview") => "api/v3.0/media/recordedImage.jpeg?" + new URLSearchParams({
  deviceId: camera, type: kind, timestamp__lte: stamp(t), ...(width ? { targetWidth: width } : {}) });

// changes follows the bridge until stop is called; it comes back by itself. say hears of "cameras", "order", "event", "up" and "down".
export function changes(watch, say) {
  let control, stopped = false, wait = 1000;
  const run = async () => {
    while (!stopped) {
      control = new AbortController();
      try {
        const answer = await fetch("web/changes" + (watch ? "?watch=" + encodeURIComponent(watch) : ""), { headers: auth(), signal: control.signal, cache: "no-store" });
        if (answer.status === 401) { if (byToken || !await resume()) return say("refused"); continue; }
        if (!answer.ok) throw new Error(await words(answer));
        say("up");
        wait = 1000;
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let rest = ""; ;) {
          const { value, done } = await reader.read();
          if (done) break;
          rest += value;
          for (let at; (at = rest.indexOf("\n\n")) >= 0; rest = rest.slice(at + 2)) {
            const message = /^event: (\w+)\ndata: (.*)$/s.exec(rest.slice(0, at));
            if (message) say(message[1], JSON.parse(message[2]));
          }
        }
      } catch {
        if (stopped) return;
      }
      if (stopped) return;
      say("down");
      await new Promise((done) => setTimeout(done, wait));
      wait = Math.min(wait * 2, 15000);
    }
  };
  run();
  return () => { stopped = true; control?.abort(); };
}
