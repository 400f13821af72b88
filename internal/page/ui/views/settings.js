// Settings: what is in force at this berth and where it comes from, its limits, its log level.
import { h } from "../dom.js";
import { ask, path } from "../api.js";
import { act, facts, form, section, table } from "../parts.js";
import { code, count, number, text, when } from "../format.js";

export const title = () => "Settings";

export async function load(_, signal) {
  const [config, limits, level] = await Promise.all([ask(path(["config"]), signal), ask(path(["limits"]), signal), ask(path(["log-level"]), signal)]);
  return { config, limits: limits.limits, level };
}

export function show({ config, limits, level }, { route }) {
  const part = (route.query.key || "").toLowerCase();
  const set = route.query.origin === "set";
  const keys = (config.keys || []).filter((k) => k.key.toLowerCase().includes(part) && (!set || k.origin !== "default"));
  return [
    section("This berth",
      config.fault && h("p", { class: "notice tone-bad", "data-key": "fault" }, "✕ The file was refused when it was read last: " + config.fault),
      (config.restart || []).length > 0 && h("p", { class: "notice tone-warn", "data-key": "restart" }, "▲ The file has these otherwise by now, and they need a restart: " + config.restart.join(", ")),
      facts([["File", config.file ? code(config.file) : "none"], ["Read", when(config.read)], ["Digest", code(config.digest)],
        ["Log level", [level.level, level.until ? [", ", level.configured, " again ", when(level.until)] : ""]]]),
      h("p", { class: "buttons", "data-key": "orders" }, act("reload", "Reload the file…", {}, { id: "reload" }),
        ["debug", "info"].map((l) => act("level", `Log at ${l} for 5 min…`, { "data-level": l, "data-minutes": "5" }, { id: "level-" + l })))),
    section("Limits", table("Limits at this berth", [
      { head: "Limit", cell: (l) => code(l.key), class: "wide" }, { head: "Of", cell: (l) => text(l.scope) }, { head: "At most", numeric: true, cell: (l) => text(l.most) },
      { head: "In use", numeric: true, cell: (l) => l.used < 0 ? text("") : [number(l.used), l.unit ? " " + l.unit : ""] }, { head: "Refused", numeric: true, cell: (l) => count(l.refused) },
    ], limits || [], (l) => l.key + " " + l.scope, "There are no limits.")),
    section("Configuration",
      form(route, [{ name: "key", label: "Key", hint: "a part of it" }, { name: "origin", label: "Origin", options: [{ value: "set", label: "not the default" }] }]),
      table("Every key in force", [
        { head: "Key", cell: (k) => code(k.key), class: "wide" }, { head: "Value", cell: (k) => h("code", null, typeof k.value === "string" ? k.value : JSON.stringify(k.value)), class: "wide" },
        { head: "Origin", cell: (k) => k.origin },
      ], keys, (k) => k.key, "No key is like that.")),
  ];
}
