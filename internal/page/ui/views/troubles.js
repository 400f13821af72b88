// The five numbers that say that something is wrong, and what each is made of.
import { h } from "../dom.js";
import { ask, path } from "../api.js";
import { link } from "../route.js";
import { section, table, taskLink } from "../parts.js";
import { code, count, text, when } from "../format.js";

export const labels = { orphans: "Orphans", holder_lost: "Holder lost", unknown_ids: "Unknown ids", refusals: "Refusals", store_outages: "Store outages" };

const meanings = {
  orphans: "Tasks of berth's own whose holder died. Another berth goes on with them, or ends them, within two leases of the holder.",
  holder_lost: "Tasks that failed because their holder died and nobody could go on with their calls. A rule's on_orphan says what may be run again.",
  unknown_ids: "Requests about tasks or sessions that no instance and no berth knows: expired, mistyped, or lost with an instance.",
  refusals: "Requests that berth itself refused: no room, a limit, an owner that does not answer, nobody allowed.",
  store_outages: "Times in which the store did not answer. Requests about what berth remembers go on; what needs the store is told to come back.",
};

export const title = (route) => labels[route.rest[0]] || "Troubles";

export const load = async (route, signal) => route.rest[0] ? (await ask(path(["troubles", route.rest[0]]), signal)).events || [] : [];

export function show(events, { route, status }) {
  const kind = route.rest[0];
  if (!kind) {
    return section("Troubles", table("The five numbers", [
      { head: "What", cell: (t) => h("a", { href: link(["troubles", t.kind]) }, labels[t.kind] || t.kind) },
      { head: "Last 5 min", numeric: true, cell: (t) => count(t.recent) }, { head: "Since berths began", numeric: true, cell: (t) => count(t.count) },
      { head: "Last", cell: (t) => when(t.last, "never") }, { head: "Meaning", cell: (t) => meanings[t.kind], class: "wide" },
    ], status && status.troubles || [], (t) => t.kind, "This berth does not tell."));
  }
  return [
    section(labels[kind] || kind, h("p", { "data-key": "meaning" }, meanings[kind]),
      h("p", { class: "quiet", "data-key": "where" }, "The last 200 at the berth that answers here, the newest first. The number above is of all berths."),
      table(labels[kind] || kind, columns, events, (e) => [e.at, e.what, e.id, e.caller].join(" "), "None at this berth since it began.")),
  ];
}

const columns = [
  { head: "When", cell: (e) => when(e.at) }, { head: "What", cell: (e) => text(e.what) }, { head: "Pool", cell: (e) => text(e.pool) },
  { head: "Task", cell: (e) => e.id ? taskLink(e) : text(""), class: "wide" }, { head: "Caller", cell: (e) => code(e.caller) },
  { head: "Detail", cell: (e) => text(e.detail), class: "wide" },
];
