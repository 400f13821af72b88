// The admin API, asked relative to where the page is, so that both may stand below a path of a proxy.

const patience = 15_000; // milliseconds
const tokenKey = "berth-token"; // in sessionStorage: gone with the tab

// Fault is why something could not be told or done. code is the API's, or "unreachable", "slow",
// "unauthorized", "not_served".
export class Fault extends Error {
  constructor(status, code, message, details) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export const token = {
  get: () => { try { return sessionStorage.getItem(tokenKey) || ""; } catch { return ""; } },
  set: (value) => { try { if (value) sessionStorage.setItem(tokenKey, value); else sessionStorage.removeItem(tokenKey); } catch { /* asked for again */ } },
};

// ask reads.
export const ask = (path, signal) => send("GET", path, undefined, signal);

// order changes something.
export const order = (method, path, body) => send(method, path, body || {});

// path joins segments, and parameters that are not empty.
export function path(segments, parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters || {})) if (value) query.set(name, value);
  const text = query.toString();
  return segments.map(encodeURIComponent).join("/") + (text ? "?" + text : "");
}

// taskSegment is a task's id as a segment: "." and ".." would be taken out of the path, however they are escaped.
export const taskSegment = (id) => (/^~*\.{1,2}$/.test(id) ? "~" + id : id);

async function send(method, where, body, signal) {
  const headers = { Accept: "application/json" };
  if (token.get()) headers.Authorization = "Bearer " + token.get();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const slow = AbortSignal.timeout(patience);
  let response, text;
  try {
    response = await fetch("v1/" + where, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store", credentials: "omit", redirect: "error", signal: signal ? AbortSignal.any([signal, slow]) : slow,
    });
    text = await response.text();
  } catch (error) {
    if (signal && signal.aborted) throw error;
    if (slow.aborted) throw new Fault(0, "slow", `berth has not answered within ${patience / 1000} s.`);
    throw new Fault(0, "unreachable", "Nothing answers at this address.");
  }
  return judge(response, text);
}

function judge(response, text) {
  let value = null;
  try { value = JSON.parse(text); } catch { /* an answer that is none of the API's */ }
  if (response.ok && value !== null) return value;
  const error = value && value.error;
  if (response.status === 401) throw new Fault(401, "unauthorized", "A token is asked for.");
  if (error) throw new Fault(response.status, error.code, error.message, error.details);
  if (response.status === 404 || response.status === 405) throw new Fault(response.status, "not_served", "This berth does not tell of that: its version may be older than this page.");
  throw new Fault(response.status, "failed", `The answer was ${response.status}: ${text.slice(0, 200).trim()}`);
}
