// Asking the server: sign-in, the interface, streams. Whoever signed in as a user is known by the browser's cookie, in all tabs; a
// token stays with its tab.
import * as side from "./side.js";

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
    return text.slice(0, 200) || "The server answered " + answer.status + ".";
  }
}

const post = (path, body, type) => fetch(path, { method: "POST", body, headers: type ? { "Content-Type": type } : {}, credentials: "same-origin" });
const json = (path, body) => post(path, JSON.stringify(body), "application/json");

// now is the server's time in milliseconds, as far as its answers tell (to the second): a phone's clock may be hours off.
export const now = () => Date.now() + ahead;
let ahead = 0;
function timed(answer) {
  const off = Date.parse(answer.headers.get("Date")) - Date.now();
  if (!Number.isNaN(off)) ahead = Math.abs(off) > 5000 ? off : 0;
}

// call asks the server; a session's token that ended is renewed once. What is not answered well is an Error with the answer's words
// and its status, or Refused where another sign-in is wanted.
async function call(path, options = {}, again = true) {
  const answer = await fetch(path, { cache: "no-store", credentials: "same-origin", ...options, headers: { Authorization: "Bearer " + bearer, ...options.headers } });
  timed(answer);
  if (answer.ok) return answer;
  if (answer.status === 401) {
    if (again && !byToken && await resume()) return call(path, options, false);
    throw new Refused(byToken ? "This token is not good any more. " + side.tokens : "Your sign-in has ended: sign in again.");
  }
  throw Object.assign(new Error(await words(answer)), { status: answer.status });
}

function address(path, query) {
  const url = new URL(path, document.baseURI);
  for (const [key, value] of Object.entries(query)) for (const v of [value].flat()) url.searchParams.append(key, v);
  return url;
}

// resume takes up the session that the browser has, if it has one.
export async function resume() {
  if (!byToken) {
    const answer = await post("oauth2/token", new URLSearchParams({ grant_type: "cookie", scope: "vms.all" }));
    if (!answer.ok) return false;
    bearer = (await answer.json()).access_token;
  }
  try { await call("api/v3.0/media/session", {}, false); } catch (e) {
    forget();
    throw e instanceof Refused ? new Refused("This token is not known here. " + side.tokens) : e;
  }
  return true;
}

// isUser says whether a user is signed in, and no token.
export const isUser = () => !byToken;

// authenticate is the first step of signing in: undefined, or what a code can be sent to where one is needed.
let ticket;
export async function authenticate(user, password) {
  if (!user || !password) throw new Refused("Give both a user name and a password.");
  const answer = await json("g/aaa/authenticate", { username: user, password });
  if (!answer.ok) throw new Refused(answer.status === 401 ? "The user name or the password is not right." : await words(answer));
  return entered(answer);
}

// entered is what comes of an answer that signs in, or says that a code is needed.
async function entered(answer) {
  const t = await answer.json();
  ticket = t.token;
  return t.two_factor_authentication_code || (ticket ? authorize() : resume().then(() => undefined));
}

export async function sendCode(type) {
  const answer = await json("g/aaa/two_factor_authenticate", { token: ticket, two_factor_authentication_type: type });
  if (!answer.ok) throw new Refused(await words(answer));
}

// authorize is the second step. After a wrong code another one may be given.
export async function authorize(code) {
  const answer = await json("g/aaa/authorize", code ? { token: ticket, two_factor_authentication_code: code } : { token: ticket });
  if (!answer.ok) throw Object.assign(new Refused(await words(answer)), { again: answer.status === 406 });
  await resume();
}

export async function withToken(token) {
  sessionStorage.setItem("token", token);
  bearer = token;
  byToken = true;
  await resume();
}

// begin sets a password with a code that can be used once, and signs in as authenticate does.
export async function begin(code, password) {
  const answer = await post("g/aaa/reset_password", new URLSearchParams({ token: code, password }));
  if (!answer.ok) throw new Refused("The code does not open: " + await words(answer) + " " + side.codes);
  return entered(answer);
}

// validate confirms an account that somebody opened, and signs in as authenticate does.
export async function validate(id, token) {
  const answer = await json("g/aaa/validate_account", { id, token });
  if (!answer.ok) throw new Refused("The link does not open: " + await words(answer));
  return entered(answer);
}

// plead asks for a letter, by forgot_password or create_account.
export async function plead(path, body) {
  const answer = await json("g/aaa/" + path, body);
  if (!answer.ok) throw new Refused(await words(answer));
}

// doors says which ways in there are beside signing in.
export const doors = async () => { const answer = await fetch("web/begin", { cache: "no-store" }); return answer.ok ? answer.json() : {}; };

export function forget() {
  sessionStorage.removeItem("token");
  bearer = "";
  byToken = false;
}

export async function signOut() {
  forget();
  await post("g/aaa/logout").catch(() => {});
}

// get asks for JSON.
export const get = async (path, query = {}) => (await call(address(path, query), { headers: { Accept: "application/json" } })).json();

// may says whether something may be asked for.
export const may = (path, query = {}) => call(address(path, query), {}, false).then(() => true, () => false);

// file asks for something that is kept as a file.
export const file = async (path) => (await call(path, { method: "POST" })).blob();

// send changes something: method and path, and what goes with it as JSON.
export async function send(method, path, body, more) {
  const answer = await call(path, { ...more, method, headers: { Accept: "application/json", ...(body ? { "Content-Type": "application/json" } : {}) }, body: body && JSON.stringify(body) });
  return answer.status === 204 ? undefined : answer.json();
}

// still fetches a picture: its address for an <img>, when it was taken, and the tokens of its neighbours. Whoever has it lets go of
// the address by URL.revokeObjectURL.
export async function still(query, signal) {
  const answer = await call(address("api/v3.0/media/recordedImage.jpeg", query), { signal, cache: "default" });
  const header = (name) => answer.headers.get("X-Vms-" + name);
  return { blob: await answer.blob(), time: new Date(header("Timestamp")), next: header("NextToken"), prev: header("PrevToken") };
}

// mostActors is how many cameras one question about events may name.
export const mostActors = 500;

export const stamp = (t) => new Date(t).toISOString().replace("Z", "+00:00");

// imageAt is the address of the still of exactly a time, which a browser may keep.
export const imageAt = (camera, t, width, kind = "preview") => "api/v3.0/media/recordedImage.jpeg?" + new URLSearchParams({
  deviceId: camera, type: kind, timestamp: stamp(t), ...(width ? { targetWidth: width } : {}) });

// imageBefore is that of the last still at or before a time.
export const imageBefore = (camera, t, width, kind = "preview") => "api/v3.0/media/recordedImage.jpeg?" + new URLSearchParams({
  deviceId: camera, type: kind, timestamp__lte: stamp(t), ...(width ? { targetWidth: width } : {}) });

// follow reads a stream of server-sent events until stop is called; it comes back by itself. open asks for the stream by way of
// what it is given: path, and options of fetch. say hears each message by its name with its data, and "up", "down" and "refused".
export function follow(open, say) {
  let control, stopped = false, wait = 1000;
  const run = async () => {
    while (!stopped) {
      control = new AbortController();
      try {
        const answer = await open((path, options) => call(path, { signal: control.signal, ...options }));
        say("up");
        wait = 1000;
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let rest = ""; ;) {
          const { value, done } = await reader.read();
          if (done) break;
          rest += value;
          for (let at; (at = rest.indexOf("\n\n")) >= 0; rest = rest.slice(at + 2)) {
            const message = Object.fromEntries(rest.slice(0, at).split("\n").map((l) => [l.slice(0, l.indexOf(":")), l.slice(l.indexOf(":") + 2)]));
            if (message.data) say(message.event || "message", JSON.parse(message.data));
          }
        }
      } catch (e) {
        if (stopped) return;
        if (e instanceof Refused) return say("refused");
      }
      control.abort(); // nothing is left of what ended by itself
      if (stopped) return;
      say("down");
      await new Promise((done) => setTimeout(done, wait));
      wait = Math.min(wait * 2, 15000);
    }
  };
  run();
  return () => { stopped = true; control?.abort(); };
}
