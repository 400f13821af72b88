// Explain: where a request about an id would go, and why; and where the last ones went.
import { h } from "../dom.js";
import { ask, path } from "../api.js";
import { link } from "../route.js";
import { facts, form, poolNames, section, table, taskLink } from "../parts.js";
import { code, count, mark, number, span, state, text, when } from "../format.js";

export const title = () => "Explain";

export async function load(route, signal) {
  const { id, pool, caller, outcome } = route.query;
  const [explanation, decisions] = await Promise.all([
    id ? ask(path(["explain"], { id, pool, caller }), signal) : null,
    ask(path(["decisions"], { id, pool, outcome, limit: "100" }), signal)]);
  return { explanation, decisions: decisions.decisions };
}

export function show({ explanation, decisions }, { route, status }) {
  return [
    section("Explain",
      h("p", { class: "quiet", "data-key": "hint" }, "Where a request about a task or a session would go, and why. Nothing is sent for it. Whole requests are explained by ", h("code", null, "berth explain"), "."),
      form(route, [
        { name: "id", label: "Id of a task or session", hint: "the whole id" }, { name: "pool", label: "Pool", options: poolNames(status) },
        { name: "caller", label: "Caller", hint: "a principal" }, { name: "outcome", label: "Outcome of decisions", hint: "refused" }], "Explain")),
    explanation && told(explanation),
    section(route.query.id ? "Last decisions about it" : "Last decisions", table("The last decisions at this berth", columns, decisions || [],
      (d) => [d.at, d.method, d.id, d.took].join(" "), "This berth remembers none.")),
  ];
}

function told(e) {
  return section("What would be done",
    h("p", { class: "verdict", "data-key": "why", id: "why" }, e.why),
    facts([["Answer", [e.answer.action, e.answer.status ? ` ${e.answer.status}` : "", e.answer.code ? ` ${e.answer.code}` : "", e.answer.detail ? `: ${e.answer.detail}` : ""]],
      ["Owner", e.owner && code(e.owner)], ["Pool", e.pool], ["Kind", e.kind], ["Plan", e.plan], ["Rule", e.rule], ["Key", e.key && code(e.key)]]),
    h("ol", { class: "line" }, (e.steps || []).map((s, i) => h("li", { "data-key": i }, h("b", null, s.what), h("span", null, s.result), h("span", { class: "quiet" }, s.detail || "")))),
    (e.candidates || []).length > 0 && table("Candidates", [
      { head: "Candidate", cell: (c) => code(c.upstream) }, { head: "State", cell: (c) => [state(c.state), c.draining && mark("warn", "draining")] },
      { head: "Rank", numeric: true, cell: (c) => c.rank < 0 ? "never" : number(c.rank) }, { head: "Load", numeric: true, cell: (c) => count(c.load) },
      { head: "Weight", numeric: true, cell: (c) => number(c.weight) }, { head: "Room", cell: (c) => c.room ? "yes" : "no" }, { head: "Why", cell: (c) => text(c.why), class: "wide" },
    ], e.candidates, (c) => c.upstream, ""));
}

const columns = [
  { head: "When", cell: (d) => when(d.at) },
  { head: "Method", cell: (d) => [d.method, d.name ? h("span", { class: "why" }, d.name) : null] },
  { head: "Task", cell: (d) => d.id ? taskLink(d) : text(""), class: "wide" },
  { head: "Source", cell: (d) => text(d.source) }, { head: "Instance", cell: (d) => d.upstream ? h("a", { href: link(["instances", d.pool, d.upstream]) }, d.upstream) : text("") },
  { head: "Outcome", cell: (d) => [text(d.outcome), " ", d.status ? h("span", { class: "quiet" }, d.status) : null] },
  { head: "Attempts", numeric: true, cell: (d) => count(d.attempts) }, { head: "Took", numeric: true, cell: (d) => span(d.took) },
  { head: "Caller", cell: (d) => code(d.caller) },
];
