// May it stop: what is left at each upstream, and the orders that change it. The page begins here.
import { h } from "../dom.js";
import { ask, path } from "../api.js";
import { link } from "../route.js";
import { act, form, partial, poolNames, section, table, upstreamLink, upstreamsOf } from "../parts.js";
import { count, mark, plural, state, when } from "../format.js";
import { findings } from "../findings.js";
import { tally } from "./tasks.js";

export const title = () => "May it stop?";

export const load = async (_, signal) => ask(path(["upstreams"]), signal);

// verdict says whether an upstream may stop, and if not, why.
export function verdict(u) {
  if (u.partial) return mark("warn", u.draining ? "draining, not known" : "not known", u.partial);
  if (u.drained) return mark("ok", "may stop");
  if (!u.draining) return mark("idle", "in service", "It takes new work. Drain it before it is stopped.");
  return h("div", null, mark("warn", "not yet"), h("span", { class: "why" }, waits(u)));
}

// kinds are what may be left, as counted and in words.
export const kinds = [["tasks", "task"], ["sessions", "session"], ["streams", "stream"], ["requests", "request"], ["held", "held call"]];

function waits(u) {
  const left = kinds.filter(([kind]) => u.left[kind]).map(([kind, one]) => plural(u.left[kind], one));
  if (u.heeding < u.berths) left.push(`${u.heeding} of ${u.berths} berths have heard`);
  if (u.uncounted) left.push(`${plural(u.uncounted, "binding")} not in the store yet`);
  return left.length ? "waits for " + left.join(", ") : "berths are being asked";
}

// drainButton is the order that would change it.
export function drainButton(u) {
  const about = { "data-pool": u.pool, "data-name": u.name };
  if (!u.draining) return act("drain", "Drain", about, { "aria-label": `Drain ${u.pool}/${u.name}`, id: `order-${u.pool}-${u.name}` });
  if (u.by === "file") return h("span", { class: "quiet" }, "drains by its file");
  return act("undrain", "Undrain", about, { "aria-label": `Undrain ${u.pool}/${u.name}`, id: `order-${u.pool}-${u.name}` });
}

// left is a count, if the store could be asked.
const left = (kind) => (u) => u.partial ? unknown() : count(u.left[kind]);

const unknown = () => h("span", { class: "zero", title: "what is left could not be read" }, "?");

const columns = [
  { head: "Instance", cell: (u) => upstreamLink(u.pool, u.name) },
  { head: "May it stop?", cell: verdict, class: "wide" },
  { head: "State", cell: (u) => state(u.state, u.reason) },
  { head: "Tasks", numeric: true, cell: (u) => u.left.tasks && !u.partial ? h("a", { href: link(["tasks"], { pool: u.pool, upstream: u.name }) }, count(u.left.tasks)) : left("tasks")(u) },
  { head: "Sessions", numeric: true, cell: (u) => u.movable_sessions ? [count(u.left.sessions), h("span", { class: "quiet", title: "sessions that can be opened anew elsewhere" }, ` + ${u.movable_sessions} movable`)] : left("sessions")(u) },
  { head: "Streams", numeric: true, cell: left("streams") },
  { head: "Requests", numeric: true, cell: left("requests") },
  { head: "Held", numeric: true, cell: left("held") },
  { head: "Nothing owned after", cell: (u) => u.partial ? unknown() : when(u.nothing_owned_after, "owns nothing") },
  { label: "Orders", cell: drainButton, class: "orders" },
];

export function show(told, { route, status }) {
  const upstreams = upstreamsOf(told);
  const { pool, drain } = route.query;
  const shown = upstreams.filter((u) => (!pool || u.pool === pool) && (!drain || u.draining === (drain === "draining")));
  const things = findings(status, upstreams);
  return [
    things.length > 0 && section("To look at", h("ul", { class: "findings", id: "findings" }, things)),
    section("May it stop?",
      (poolNames(status).length > 1 || upstreams.length > 8 || pool || drain) && form(route, [
        { name: "pool", label: "Pool", options: poolNames(status) },
        { name: "drain", label: "Which", options: [{ value: "draining", label: "draining" }, { value: "serving", label: "in service" }] }]),
      partial(told),
      table("Whether each instance may stop, and what is left there", columns, shown, (u) => `${u.pool}/${u.name}`,
        upstreams.length ? "No instance is like that." : "No pool has an instance yet. Name some with --upstream or [[pools.upstreams]], or look at what discovery finds.")),
    status && status.tasks && section("Tasks by state", tally(status.tasks, {}, status.partial)),
  ];
}
