// Berths: the processes on this store, and one with what it sees.
import { h } from "../dom.js";
import { ask, path } from "../api.js";
import { link } from "../route.js";
import { berthLink, facts, hostOf, partial, section, table, upstreamLink } from "../parts.js";
import { age, code, count, mark, number, span, state, text, when } from "../format.js";
import { labels } from "./troubles.js";

export const title = (route) => route.rest[0] ? hostOf(route.rest[0]) : "Berths";

export const load = async (_, signal) => ask(path(["berths"]), signal);

export function show(told, { route, status }) {
  const berths = told.berths || [];
  const mine = status && status.berth;
  if (!route.rest[0]) return section("Berths", partial(told), table("Berths on this store", columns(mine), berths, (b) => b.name, "No berth has told of itself."));
  const one = berths.find((b) => b.name === route.rest[0]);
  return one ? showOne(one, mine) : h("p", { class: "empty" }, `No berth is called ${route.rest[0]}, or it has been gone for more than 15 minutes. `, h("a", { href: link(["berths"]) }, "All berths"));
}

const differs = (b, mine) => mine && b.config && mine.config && b.config !== mine.config;

// up is how long a berth has been there, if it still is.
const up = (b) => age(b.state === "gone" || b.state === "dead" ? null : b.started);

const columns = (mine) => [
  { head: "Berth", cell: (b) => [berthLink(b.name), mine && b.name === mine.name ? h("span", { class: "quiet" }, " this one") : null, h("span", { class: "why" }, b.name)], class: "wide" },
  { head: "State", cell: (b) => [state(b.state), b.state === "serving" && !b.ready ? [" ", mark("bad", "not ready")] : null] },
  { head: "Heard of", cell: (b) => when(b.told) },
  { head: "Lease", numeric: true, cell: (b) => b.lease > 0 ? span(b.lease) : h("span", { class: "zero" }, "over") },
  { head: "Version", cell: (b) => [text(b.version), mine && b.version !== mine.version ? [" ", mark("warn", "differs")] : null] },
  { head: "Configuration", cell: (b) => [code(b.config && b.config.slice(0, 12), b.config), differs(b, mine) ? [" ", mark("warn", "differs", "It runs another configuration than the berth that answers here.")] : null] },
  { head: "Up", numeric: true, cell: up },
  { head: "Requests", numeric: true, cell: (b) => count(b.requests) },
  { head: "Streams", numeric: true, cell: (b) => count(b.streams) },
  { head: "Held", numeric: true, cell: (b) => b.held ? h("a", { href: link(["tasks"], { holder: b.name }) }, count(b.held)) : count(0) },
];

function showOne(b, mine) {
  return [
    h("nav", { class: "crumbs", "aria-label": "Where this is", "data-key": "crumbs" }, h("a", { href: link(["berths"]) }, "Berths"), " / ", h("span", null, hostOf(b.name))),
    h("h2", { "data-key": "head" }, `${hostOf(b.name)} `, state(b.state)),
    facts([
      ["Name", code(b.name)], ["Listens at", b.listen], ["Version", b.version], ["Up", up(b)], ["Heard of", when(b.told)],
      ["Lease", b.lease > 0 ? span(b.lease) : "over"], ["Ready", b.ready ? "yes" : "no"],
      ["Configuration", [code(b.config, b.config), differs(b, mine) ? [" ", mark("warn", "differs from this berth's")] : null]],
      ["Configuration read", b.config_read && when(b.config_read)],
      ["Requests", number(b.requests)], ["Streams", number(b.streams)], ["Held calls", h("a", { href: link(["tasks"], { holder: b.name }) }, number(b.held))],
    ]),
    section("What it sees", table("States of instances as it sees them", [
      { head: "Instance", cell: (s) => upstreamLink(s.pool, s.upstream) }, { head: "State", cell: (s) => state(s.state) },
      { head: "Reason", cell: (s) => text(s.reason), class: "wide" }, { head: "Since", cell: (s) => when(s.since) }, { head: "In flight", numeric: true, cell: (s) => count(s.in_flight) },
    ], b.sees || [], (s) => `${s.pool}/${s.upstream}`, "It has not told.")),
    section("What went wrong there", table("Troubles of this berth", [
      { head: "What", cell: (t) => labels[t.kind] || t.kind }, { head: "Since it began", numeric: true, cell: (t) => count(t.count) },
      { head: "Last 5 min", numeric: true, cell: (t) => count(t.recent) }, { head: "Last", cell: (t) => when(t.last, "never") },
    ], b.troubles || [], (t) => t.kind, "It has not told.")),
  ];
}
