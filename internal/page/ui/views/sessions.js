// Sessions and subscriptions.
import { h } from "../dom.js";
import { ask, path } from "../api.js";
import { form, pager, partial, poolNames, section, table, upstreamLink } from "../parts.js";
import { age, code, count, number, text, when } from "../format.js";

export const title = () => "Sessions";

export async function load(route, signal) {
  const { pool, upstream, caller, cursor } = route.query;
  const [sessions, streams] = await Promise.all([
    ask(path(["sessions"], { pool, upstream, caller, cursor }), signal),
    ask(path(["subscriptions"]), signal)]);
  return { sessions, streams };
}

const columns = [
  { head: "Session", cell: (s) => code(s.id), class: "wide" },
  { head: "Instance", cell: (s) => [upstreamLink(s.pool, s.upstream), s.moved ? h("span", { class: "why" }, `moved from ${s.moved}`) : null] },
  { head: "Caller", cell: (s) => code(s.caller) }, { head: "Protocol", cell: (s) => text(s.version) },
  { head: "Age", numeric: true, cell: (s) => age(s.made) }, { head: "Expires if unused", cell: (s) => when(s.expires) },
  { head: "Movable", cell: (s) => s.movable ? "yes" : "no" },
];

const streamColumns = [
  { head: "Stream", cell: (s) => s.kind === "listen" ? "subscription" : "of a session" }, { head: "Pool", cell: (s) => text(s.pool) },
  { head: "Caller", cell: (s) => code(s.caller) }, { head: "Open for", numeric: true, cell: (s) => age(s.since) },
  { head: "Tasks", numeric: true, cell: (s) => count(s.tasks) }, { head: "Instances heard", cell: (s) => text((s.legs || []).join(", ")), class: "wide" },
  { head: "Events sent", numeric: true, cell: (s) => count(s.events) },
];

// rest says how many streams there are, where not all are shown.
function rest({ subscriptions, total }) {
  const shown = (subscriptions || []).length;
  return shown && total > shown ? h("p", { class: "quiet", "data-key": "rest" }, `The ${number(shown)} that ${shown === 1 ? "stands" : "stand"} longest, of ${number(total)}.`) : null;
}

export function show({ sessions, streams }, { route, status }) {
  return [
    section("Sessions",
      form(route, [{ name: "pool", label: "Pool", options: poolNames(status) }, { name: "upstream", label: "Instance", hint: "its name" }, { name: "caller", label: "Caller", hint: "a digest" }]),
      partial(sessions),
      table("Sessions", columns, sessions.sessions || [], (s) => `${s.pool} ${s.id}`, "There are no such sessions."),
      pager(route, sessions, (sessions.sessions || []).length, "sessions")),
    section("Streams at this berth", partial(streams),
      table("Streams", streamColumns, streams.subscriptions || [], (s) => [s.pool, s.kind, s.caller, s.since, s.legs].join(" "), "No client listens at this berth."), rest(streams)),
  ];
}
