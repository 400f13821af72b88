// What an operator should look at first, of all that is told: one line each, the worst first, with a link
// to where it is told in full.
import { h } from "./dom.js";
import { link } from "./route.js";
import { hostOf } from "./parts.js";
import { age, mark, state } from "./format.js";

const down = new Set(["silent", "failing", "ejected"]);

export function findings(status, upstreams) {
  const found = [];
  const add = (key, tone, word, where, ...text) => found.push(h("li", { "data-key": key }, mark(tone, word), " ", where ? h("a", { href: where }, ...text) : h("span", null, ...text)));
  if (status) {
    if (status.store && !status.store.available) add("store", "bad", "store away", link(["troubles", "store_outages"]), status.store.reason || "it does not answer", since(status.store.since));
    if (status.store && status.store.no_writes) add("writes", "bad", "store takes no writes", null, `${status.store.no_writes}: what is made is kept in berths' memory`, since(status.store.no_writes_since));
    for (const why of status.not_ready || []) add("ready " + why, "bad", "not ready", null, why);
    for (const b of status.berths || []) {
      if (b.state === "dead") add("berth " + b.name, "bad", "berth dead", link(["berths", b.name]), `${hostOf(b.name)} was heard of last `, age(b.told), " ago");
      else if (status.berth && b.state === "serving" && b.config && b.config !== status.berth.config) add("config " + b.name, "warn", "differs", link(["berths"]), `${hostOf(b.name)} runs another configuration than this berth`);
    }
  }
  for (const u of upstreams || []) {
    const name = `${u.pool}/${u.name}`;
    if (down.has(u.state)) add("state " + name, state(u.state).classList.contains("tone-bad") ? "bad" : "warn", u.state, link(["instances", u.pool, u.name]), name, u.reason ? ": " + u.reason : "", since(u.state_since));
    else if (u.disagree) add("disagree " + name, "warn", "disagree", link(["instances", u.pool, u.name]), `berths see ${name} in different states`);
  }
  return found;
}

const since = (at) => at ? [", for ", age(at)] : [];
