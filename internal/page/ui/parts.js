// What views are made of.
import { h } from "./dom.js";
import { link, withQuery } from "./route.js";
import { number } from "./format.js";

// table shows rows. A column is {head, cell(row), numeric?, class?}. Each row is known by key(row), so that
// it stays where it is when it is told anew. The roles repeat what the elements say: on narrow screens
// they are no table to a browser any more.
export function table(caption, columns, listed, key, empty) {
  const rows = listed || [];
  if (!rows.length) return h("div", { class: "empty", "data-key": "table" }, empty);
  const shape = (c) => [c.numeric ? "numeric" : "", c.class || ""].join(" ").trim() || null;
  return h("div", { class: "scroller", "data-key": "table" },
    h("table", { role: "table" },
      h("caption", { class: "hidden" }, caption),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map((c) => h("th", { scope: "col", role: "columnheader", class: shape(c) }, c.head || h("span", { class: "hidden" }, c.label))))),
      h("tbody", { role: "rowgroup" }, rows.map((row) => h("tr", { role: "row", "data-key": key(row) }, columns.map((c, i) =>
        h(i ? "td" : "th", { role: i ? "cell" : "rowheader", scope: i ? null : "row", class: shape(c), "data-head": c.head || null }, whole(c.cell(row)))))))));
}

// whole is a cell's content as one element, where it is several.
const whole = (content) => Array.isArray(content) ? h("div", null, content) : content;

// form is the filters of a view: what is chosen goes to the URL. A field is {name, label, options?, hint?}.
export function form(route, fields, verb) {
  return h("form", { class: "filters", "data-do": "filter", role: "search", "data-key": "filters" },
    fields.map((f) => h("label", { for: "f-" + f.name }, h("span", null, f.label), f.options ? choice(route, f) : field(route, f))),
    h("button", { type: "submit" }, verb || "Filter"),
    fields.some((f) => route.query[f.name]) && h("a", { class: "button", href: link([route.view, ...route.rest]), id: "clear" }, "Clear"));
}

const field = (route, f) => h("input", { id: "f-" + f.name, name: f.name, value: route.query[f.name] || "", placeholder: f.hint, spellcheck: "false", autocomplete: "off" });

function choice(route, f) {
  const now = route.query[f.name] || "";
  const values = f.options.some((o) => valueOf(o) === now) || !now ? f.options : [...f.options, now];
  return h("select", { id: "f-" + f.name, name: f.name }, h("option", { value: "" }, f.any || "all"),
    values.map((o) => h("option", { value: valueOf(o), selected: valueOf(o) === now }, o.label || valueOf(o))));
}

const valueOf = (option) => option.value === undefined ? option : option.value;

export const poolNames = (status) => (status && status.pools || []).map((p) => p.name);

// pager goes through a list by its cursors; back is the browser's.
export function pager(route, page, shown, noun) {
  const total = page.total < 0 ? `${number(shown)} on this page, of a number that nobody counts` : `${number(shown)} of ${number(page.total)} ${noun}`;
  return h("nav", { class: "pager", "aria-label": "Pages", "data-key": "pager" },
    h("span", { id: "total" }, total),
    route.query.cursor && h("a", { class: "button", id: "first", href: withQuery(route, { cursor: "" }) }, "First page"),
    page.next && h("a", { class: "button", id: "next", href: withQuery(route, { cursor: page.next }) }, "Next page"));
}

// partial says that things may be missing from an answer.
export const partial = (told) => told.partial ? h("p", { class: "notice tone-warn", "data-key": "partial" }, "▲ This is told in part: " + told.partial) : null;

// upstreamsOf are those of an answer, each with what it is told in part for.
export const upstreamsOf = (told) => (told.upstreams || []).map((u) => ({ ...u, partial: u.partial || told.partial }));

// facts is a list of names and values; pairs whose value is null are left out.
export const facts = (pairs) => h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
  .map(([name, value]) => h("div", { "data-key": name }, h("dt", null, name), h("dd", null, value))));

// act is a button that orders something; what it is about stands in data-…, for orders.js.
export const act = (what, label, about, extra) => h("button", { type: "button", "data-do": what, ...about, ...extra }, label);

export const upstreamLink = (pool, name) => h("a", { class: "name", href: link(["instances", pool, name]) }, `${pool}/${name}`);
export const taskLink = (task, label) => h("a", { class: "id", href: link(["tasks", task.id], { pool: task.pool }), title: task.id }, task.id);

// hosts tells people's names of berths: the host and process of each that is known, by the name that it has drawn.
const hosts = new Map();
export const learnHosts = (berths) => { for (const b of berths || []) if (b.host) hosts.set(b.name, b.host); };
export const hostOf = (name) => hosts.get(name) || name;

// berthLink shows a berth as people know it; its name, which logs have, stands in the title.
export const berthLink = (name) => name ? h("a", { class: "name", href: link(["berths", name]), title: name }, hostOf(name)) : h("span", { class: "zero" }, "–");

export const section = (title, ...children) => h("section", { "data-key": title }, h("h2", null, title), children);
