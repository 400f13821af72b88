// Instances: what berths see of each, why, and since when; and one in full.
import { h } from "../dom.js";
import { ask, path } from "../api.js";
import { link } from "../route.js";
import { berthLink, facts, form, partial, poolNames, section, table, taskLink, upstreamLink, upstreamsOf } from "../parts.js";
import { age, code, count, mark, number, plural, span, state, text, when } from "../format.js";
import { drainButton, kinds, verdict } from "./maystop.js";

export const title = (route) => route.rest.length > 1 ? `${route.rest[0]}/${route.rest[1]}` : "Instances";

export const load = async (route, signal) => route.rest.length > 1
  ? { one: await ask(path(["upstreams", route.rest[0], route.rest[1]], { items: "100" }), signal) }
  : { told: await ask(path(["upstreams"]), signal) };

export const show = (data, context) => data.one ? showOne(data.one) : showAll(data.told, context);

const states = ["ok", "unchecked", "silent", "failing", "ejected"];

const columns = [
  { head: "Instance", cell: (u) => [upstreamLink(u.pool, u.name), h("span", { class: "why" }, u.url)] },
  { head: "State", cell: (u) => [state(u.state), u.draining && [" ", mark("warn", "draining")]] },
  { head: "Reason", cell: (u) => text(u.reason), class: "wide" },
  { head: "Since", cell: (u) => when(u.state_since) },
  { head: "Seen by berths", cell: seen },
  { head: "Last check", cell: (u) => u.check ? [mark(u.check.passed ? "ok" : "bad", u.check.passed ? "passed" : "failed", u.check.reason), " ", h("span", { class: "quiet" }, when(u.check.at))] : h("span", { class: "zero" }, "none") },
  { head: "In flight", numeric: true, cell: (u) => h("span", { title: "at this berth" }, count(u.in_flight), u.max_in_flight ? ` of ${number(u.max_in_flight)}` : "") },
  { head: "Server", cell: (u) => [text(u.server), h("span", { class: "why" }, [u.era, u.transport, (u.versions || []).join(", ")].filter(Boolean).join(" · "))] },
];

// seen is a state at each berth where they disagree.
function seen(u) {
  const by = u.seen_by || [];
  if (!u.disagree) return by.length > 1 ? h("span", { class: "quiet" }, `all ${by.length} agree`) : h("span", { class: "zero" }, by.length ? "this berth alone" : "–");
  return h("ul", { class: "plain" }, by.map((s) => h("li", { "data-key": s.berth }, berthLink(s.berth), " ", state(s.state, s.reason), s.reason ? h("span", { class: "why" }, s.reason, s.since && [", for ", age(s.since)]) : null)));
}

function showAll(told, { route, status }) {
  const all = upstreamsOf(told);
  const q = route.query;
  const shown = all.filter((u) => (!q.pool || u.pool === q.pool) && (!q.state || u.state === q.state) && (!q.disagree || u.disagree));
  return section("Instances",
    form(route, [
      { name: "pool", label: "Pool", options: poolNames(status) },
      { name: "state", label: "State", options: states },
      { name: "disagree", label: "Berths", options: [{ value: "yes", label: "disagree" }] }]),
    partial(told),
    table("Instances, their states and why", columns, shown, (u) => `${u.pool}/${u.name}`, all.length ? "No instance is like that." : "No pool has an instance."));
}

function showOne(u) {
  return [
    h("nav", { class: "crumbs", "aria-label": "Where this is", "data-key": "crumbs" }, h("a", { href: link(["instances"]) }, "Instances"), " / ", h("span", null, `${u.pool}/${u.name}`)),
    h("h2", { "data-key": "head" }, `${u.pool}/${u.name} `, state(u.state)),
    h("div", { class: "buttons", "data-key": "orders" }, drainButton(u), verdict(u), h("a", { class: "button", href: link(["tasks"], { pool: u.pool, upstream: u.name }) }, "Its tasks")),
    partial(u),
    facts([
      ["Address", code(u.url)],
      ["Reason", u.reason], ["In this state", u.state_since && when(u.state_since)],
      ["Draining", u.draining ? ["by the ", u.by || "operator", ", ", when(u.since), u.move_sessions ? ", its sessions move" : ""] : null],
      ["Heeded by", u.draining ? `${u.heeding} of ${u.berths} berths` : null],
      ["Left there", kinds.map(([kind, one]) => plural(u.left[kind], one)).join(", ")],
      ["Nothing owned after", u.nothing_owned_after && when(u.nothing_owned_after)],
      ["Server", u.server], ["Protocol", [u.era, ...(u.versions || [])].filter(Boolean).join(", ")], ["Transport", u.transport],
      ["Weight", u.weight && number(u.weight) + (u.backup ? ", a backup" : "")],
      ["In flight here", number(u.in_flight || 0) + (u.max_in_flight ? ` of ${number(u.max_in_flight)}` : "")],
      ["Last check", u.check && [mark(u.check.passed ? "ok" : "bad", u.check.passed ? "passed" : "failed"), " ", when(u.check.at), ` in ${span(u.check.took)}`, u.check.reason && ": " + u.check.reason]],
    ]),
    section("Seen by berths", table("What each berth sees", [
      { head: "Berth", cell: (s) => berthLink(s.berth) }, { head: "State", cell: (s) => state(s.state) },
      { head: "Reason", cell: (s) => text(s.reason), class: "wide" }, { head: "Since", cell: (s) => when(s.since) },
    ], u.seen_by || [], (s) => s.berth, "No berth has told of it yet.")),
    section("What is left there",
      table("Tasks and sessions that it owns", itemColumns(u), u.items || [], (i) => `${i.kind} ${i.id}`, "It owns no task and no session."),
      u.more ? h("p", { class: "quiet", "data-key": "more" }, `And ${number(u.more)} more: `, h("a", { href: link(["tasks"], { pool: u.pool, upstream: u.name }) }, "its tasks"), ", ", h("a", { href: link(["sessions"], { pool: u.pool, upstream: u.name }) }, "its sessions"), ".") : null),
  ];
}

const itemColumns = (u) => [
  { head: "Id", cell: (i) => i.kind === "task" ? taskLink({ id: i.id, pool: u.pool }) : code(i.id), class: "wide" },
  { head: "Kind", cell: (i) => i.kind }, { head: "Tool", cell: (i) => text(i.tool) },
  { head: "State", cell: (i) => i.status ? state(i.status) : text("") },
  { head: "Caller", cell: (i) => code(i.caller) }, { head: "Age", numeric: true, cell: (i) => age(i.made) },
  { head: "Forgotten", cell: (i) => when(i.expires) },
];
