// Queues: the lines of rules with `concurrency`.
import { h } from "../dom.js";
import { ask, path } from "../api.js";
import { link } from "../route.js";
import { act, section, table } from "../parts.js";
import { age, count, mark, number, text, when } from "../format.js";

export const title = () => "Queues";

export const load = async (_, signal) => (await ask(path(["queues"]), signal)).queues || [];

const columns = [
  { head: "Rule", cell: (q) => h("b", null, q.rule), class: "wide" },
  { head: "Pool", cell: (q) => q.pool || "all" },
  { head: "State", cell: (q) => q.paused ? [mark("warn", "paused"), h("span", { class: "why" }, q.paused_by ? `by ${q.paused_by}, ` : "", when(q.since))] : mark("ok", "running") },
  { head: "Waiting", numeric: true, cell: (q) => q.waiting ? h("a", { href: link(["tasks"], { state: "queued", pool: q.pool }) }, count(q.waiting)) : count(0) },
  { head: "Oldest waits", numeric: true, cell: (q) => age(q.oldest) },
  { head: "Running", numeric: true, cell: (q) => count(q.running) },
  { head: "Places", numeric: true, cell: (q) => q.places ? `${number(q.places)} an instance` : text("") },
  { label: "Orders", class: "orders", cell: (q) => act(q.paused ? "resume" : "pause", q.paused ? "Resume" : "Pause", { "data-id": q.id, "data-rule": q.rule }, { id: `order-${q.id}`, "aria-label": `${q.paused ? "Resume" : "Pause"} the queue of ${q.rule}` }) },
];

export const show = (queues) => section("Queues",
  table("Queues", columns, queues, (q) => q.id, "No rule has a queue: one has where [[upgrade]] says concurrency."));
