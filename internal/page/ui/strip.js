// The strip on top of every view: this berth, its store, and the five numbers.
import { h } from "./dom.js";
import { link } from "./route.js";
import { absolute, mark, number } from "./format.js";
import { berthLink } from "./parts.js";
import { labels } from "./views/troubles.js";

export function strip(status) {
  if (!status) return h("div", { class: "strip" }, h("p", { class: "quiet" }, "The state of this berth is not told."));
  const { berth, store } = status;
  return h("div", { class: "strip" },
    h("div", { class: "self" },
      berthLink(berth.name),
      berth.state === "draining" ? mark("warn", "draining") : mark(status.ready ? "ok" : "bad", status.ready ? "ready" : "not ready", (status.not_ready || []).join("; ")),
      h("span", { class: "store", title: store.address }, "store ", store.kind, " ", storeMark(store)),
      h("span", { class: "quiet" }, others(status)),
      status.partial && mark("warn", "told in part", status.partial)),
    h("ul", { class: "troubles", "aria-label": "What went wrong, of the last five minutes" }, (status.troubles || []).map((t) =>
      h("li", { "data-key": t.kind }, h("a", { href: link(["troubles", t.kind]), id: "trouble-" + t.kind, class: t.recent ? "recent" : null, title: t.last ? "last " + absolute(t.last) : "never" },
        h("span", null, labels[t.kind] || t.kind),
        h("b", null, t.recent ? "▲ " : "", number(t.recent)),
        h("span", { class: "quiet" }, `${number(t.count)} in all`))))));
}

function storeMark(store) {
  if (!store.available) return mark("bad", "away", store.reason);
  return store.no_writes ? mark("bad", "takes no writes", store.no_writes) : mark("ok", "answers");
}

function others(status) {
  const berths = (status.berths || []).filter((b) => b.state !== "gone");
  if (berths.length < 2) return "one berth";
  const dead = berths.filter((b) => b.state === "dead").length;
  return `${berths.length} berths` + (dead ? `, ${dead} dead` : "");
}
