// What is shown stands in the hash of the URL, all of it: "#/tasks?state=working&older=10m". So a link can
// be sent, and the back button goes back.

// read takes the hash apart.
export function read(hash) {
  const [where, search] = hash.replace(/^#\/?/, "").split("?", 2);
  const segments = where.split("/").filter(Boolean).map(decode);
  return { view: segments[0] || "", rest: segments.slice(1), query: Object.fromEntries(new URLSearchParams(search || "")) };
}

function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

// link writes a hash. Empty parameters are left out.
export function link(segments, query) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query || {})) if (value) parameters.set(name, value);
  const text = parameters.toString();
  return "#/" + segments.map(encodeURIComponent).join("/") + (text ? "?" + text : "");
}

// withQuery is the same view with some parameters otherwise.
export const withQuery = (route, changed) => link([route.view, ...route.rest].filter(Boolean), { ...route.query, ...changed });
