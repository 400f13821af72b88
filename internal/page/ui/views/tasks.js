// Tasks: how many in each state, a list by filters, and one with its time line.
import { h } from "../dom.js";
import { ask, path, taskSegment } from "../api.js";
import { link } from "../route.js";
import { act, berthLink, facts, form, hostOf, pager, partial, poolNames, section, table, taskLink, upstreamLink } from "../parts.js";
import { age, bytes, code, number, span, state, text, timeOfDay, when } from "../format.js";

const filters = ["pool", "upstream", "holder", "caller", "tool", "state", "kind", "older", "id", "cursor", "limit"];
const living = ["queued", "accepted", "dispatched", "working", "input_required", "unknown"];
const ends = ["completed", "failed", "cancelled"];

export const title = (route) => route.rest.length ? "Task" : "Tasks";

export const load = async (route, signal) => route.rest.length
  ? { one: await ask(path(["tasks", taskSegment(route.rest[0])], { pool: route.query.pool }), signal) }
  : { list: await ask(path(["tasks"], Object.fromEntries(filters.map((f) => [f, route.query[f]]))), signal) };

export const show = (data, context) => data.one ? showOne(data.one) : showList(data.list, context);

// tally is the number of tasks in each state, with the age of the oldest; each a link to its list.
export function tally(tasks, { query }, unread) {
  const told = tasks.by_state || {};
  const all = [...new Set([...living, ...ends, ...Object.keys(told)])].filter((s) => told[s]);
  if (!all.length) return h("p", { class: "empty", "data-key": "tally" }, unread ? "How many tasks there are is not known: " + unread : "There are no tasks.");
  return h("ul", { class: "tally", "data-key": "tally", id: "tally" }, all.map((s) => {
    const oldest = tasks.oldest && tasks.oldest[s];
    return h("li", { "data-key": s, class: query && query.state === s ? "chosen" : null },
      h("a", { href: link(["tasks"], { state: s }), "aria-current": query && query.state === s ? "true" : null }, state(s), h("b", null, number(told[s]))),
      oldest ? h("span", { class: "quiet" }, "oldest ", h("a", { href: link(["tasks", oldest.id], { pool: oldest.pool }) }, age(oldest.made))) : h("span", { class: "quiet" }, " "));
  }));
}

const columns = (pools) => [
  { head: "Task", cell: (t) => [taskLink(t), h("span", { class: "why" }, [t.kind === "upgraded" ? "berth's own" : "server's", t.dialect, pools > 1 && t.pool].filter(Boolean).join(" · "))], class: "wide" },
  { head: "State", cell: (t) => [state(t.state, t.message), t.place ? h("span", { class: "why" }, `place ${number(t.place)}`) : null] },
  { head: "Tool", cell: (t) => text(t.tool) },
  { head: "Instance", cell: (t) => t.upstream ? upstreamLink(t.pool, t.upstream) : text("") },
  { head: "Holder", cell: (t) => berthLink(t.holder) },
  { head: "Caller", cell: (t) => code(t.caller) },
  { head: "Age", numeric: true, cell: (t) => age(t.made) },
  { head: "Changed", cell: (t) => when(t.updated) },
  { head: "Expires", cell: (t) => when(t.expires) },
];

function showList(list, { route, status }) {
  const pools = poolNames(status);
  return section("Tasks",
    status && status.tasks && list.total !== 0 && tally(status.tasks, route, status.partial),
    form(route, [
      { name: "state", label: "State", options: [{ value: living.join(","), label: "not ended" }, ...living, ...ends].map((o) => o.value ? o : { value: o, label: o.replaceAll("_", " ") }) },
      { name: "tool", label: "Tool", hint: "a name, or a glob: report_*" },
      { name: "older", label: "Older than", hint: "5m, 2h" },
      { name: "pool", label: "Pool", options: pools },
      { name: "upstream", label: "Instance", hint: "its name" },
      { name: "holder", label: "Holder", hint: "a berth's name" },
      { name: "caller", label: "Caller", hint: "a digest" },
      { name: "kind", label: "Kind", options: [{ value: "server", label: "server's" }, { value: "upgraded", label: "berth's own" }] },
      { name: "id", label: "Id", hint: "the whole id" },
      { name: "limit", label: "A page", options: ["50", "250", "1000"], any: "100" },
    ]),
    partial(list),
    table("Tasks, the oldest first", columns(pools.length), list.tasks || [], (t) => `${t.pool} ${t.id}`,
      filters.some((f) => route.query[f]) ? "No task is like that." : "There are no tasks. Ended ones are listed as long as somebody may ask for them."),
    pager(route, list, (list.tasks || []).length, "tasks"));
}

const words = {
  made: "made", queued: "joined the queue", sent: "sent", asked: "asked its client", answered: "was answered", moot: "needs no answer any more",
  adopted: "was adopted by another berth", handed_over: "was handed over", ended: "ended",
};

// line is a task's life; between two steps stands how long it took.
function line(steps) {
  if (!steps.length) return h("p", { class: "empty" }, "Nothing is known of its life.");
  return h("ol", { class: "line", id: "timeline" }, steps.map((m, i) => h("li", { "data-key": i },
    timeOfDay(m.at), h("span", { class: "quiet" }, i ? "+ " + span((Date.parse(m.at) - Date.parse(steps[i - 1].at)) / 1000) : ""),
    h("b", null, words[m.what] || m.what), h("span", null, [m.upstream && "at " + m.upstream, m.holder && "held by " + hostOf(m.holder), m.detail].filter(Boolean).join(", ")))));
}

function showOne(t) {
  const about = { "data-id": t.id, "data-pool": t.pool };
  const may = t.may || [];
  return [
    h("nav", { class: "crumbs", "aria-label": "Where this is", "data-key": "crumbs" }, h("a", { href: link(["tasks"]) }, "Tasks"), " / ", h("span", { class: "id" }, t.id)),
    h("h2", { "data-key": "head" }, "Task ", h("code", null, t.id), " ", state(t.state)),
    h("p", { class: "buttons", "data-key": "orders" },
      may.includes("cancel") && act("cancel", "Cancel…", about, { id: "cancel" }),
      may.includes("rerun") && act("rerun", "Run again…", about, { id: "rerun" }),
      t.may_not && h("span", { class: "quiet" }, t.may_not),
      h("a", { class: "button", href: link(["explain"], { id: t.id, pool: t.pool }) }, "Explain")),
    facts([
      ["Tool", t.tool], ["Pool", t.pool], ["Kind", t.kind === "upgraded" ? "berth's own, of a plain call" : "of the server"], ["Dialect", t.dialect],
      [t.kind === "upgraded" ? "Its call is at" : "Owner", t.upstream && upstreamLink(t.pool, t.upstream)],
      ["Holder", t.holder && berthLink(t.holder)], ["Queue", t.queue && [t.queue, t.place ? `, place ${number(t.place)}` : ""]],
      ["Caller", t.caller && h("a", { href: link(["tasks"], { caller: t.caller }) }, code(t.caller))], ["Session", t.session && code(t.session)],
      ["Age", t.made && age(t.made)], ["Changed", t.updated && when(t.updated)], ["Expires", t.expires && when(t.expires)],
      ["Sent", t.attempts ? (t.attempts === 1 ? "once" : `${number(t.attempts)} times`) : "never"],
      ["Polls here", number(t.polls || 0)], ["Last poll", t.polled && t.polled.at && when(t.polled.at)],
      ["Kept", t.size ? bytes(t.size) : null], ["Follows", t.follows && code(t.follows)], ["Message", t.message],
    ]),
    section("Time line", line(t.timeline || [])),
    t.payloads && section("Payloads", Object.entries(t.payloads).map(([name, value]) =>
      h("details", { "data-key": name }, h("summary", null, name), h("pre", null, JSON.stringify(value, null, 2))))),
  ];
}
