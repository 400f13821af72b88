// How numbers, times and states are written.
import { h } from "./dom.js";

const grouped = new Intl.NumberFormat("en");

export const number = (n) => grouped.format(n);

// count dims a zero, so that what is not zero stands out.
export const count = (n) => h("span", { class: n ? null : "zero" }, number(n || 0));

// plural writes "1 task", "2 tasks".
export const plural = (n, one, many) => `${number(n)} ${n === 1 ? one : many || one + "s"}`;

// span writes seconds in at most two units.
export function span(seconds) {
  const s = Math.max(0, seconds);
  if (s < 0.9995) return `${Math.round(s * 1000)} ms`;
  if (s < 10) return `${Math.round(s * 10) / 10} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 3600) return two(s, 60, "min", 1, "s");
  if (s < 86400) return two(s, 3600, "h", 60, "min");
  return two(s, 86400, "d", 3600, "h");
}

function two(s, large, largeUnit, small, smallUnit) {
  const rest = Math.floor((s % large) / small);
  return `${Math.floor(s / large)} ${largeUnit}` + (rest ? ` ${rest} ${smallUnit}` : "");
}

// clock is berth's: browsers' clocks go otherwise.
let ahead = 0; // milliseconds that berth's is before this one
export const clock = { set: (now) => { ahead = Date.parse(now) - Date.now(); }, now: () => Date.now() + ahead };

// absolute is a time in full, in the reader's zone and in UTC.
export function absolute(text) {
  const at = new Date(text);
  const pad = (n) => String(n).padStart(2, "0");
  const local = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
  return `${local} here, ${at.toISOString()}`;
}

// when tells a time as it is from now, with the whole of it in its title. age leaves out "ago".
export const when = (text, none) => relative(text, none, (s) => s < 0 ? `in ${span(-s)}` : s < 1 ? "now" : `${span(Math.floor(s))} ago`);
export const age = (text, none) => relative(text, none, (s) => s < 1 ? "0 s" : span(Math.floor(s)));

function relative(text, none, write) {
  if (!text) return h("span", { class: "zero" }, none || "–");
  return h("time", { datetime: text, title: absolute(text) }, write((clock.now() - Date.parse(text)) / 1000));
}

// timeOfDay is for time lines, where steps are close together.
export function timeOfDay(text) {
  const at = new Date(text);
  return h("time", { datetime: text, title: absolute(text) }, at.toLocaleTimeString("en-GB") + "." + String(at.getMilliseconds()).padStart(3, "0"));
}

const shapes = { ok: "●", run: "▶", warn: "▲", bad: "✕", idle: "○" };

// mark is a state: a shape, a word and a colour, each of which says it.
export const mark = (tone, word, title) => h("span", { class: `mark tone-${tone}`, title }, h("span", { class: "shape", "aria-hidden": "true" }, shapes[tone]), word);

const tones = {
  ok: "ok", serving: "ok", completed: "ok",
  working: "run", dispatched: "run",
  silent: "warn", input_required: "warn", draining: "warn",
  failing: "bad", ejected: "bad", failed: "bad", dead: "bad",
};

export const state = (word, title) => mark(tones[word] || "idle", word ? word.replaceAll("_", " ") : "–", title);

export const code = (text, title) => text ? h("code", { title }, text) : h("span", { class: "zero" }, "–");
export const text = (value) => value ? String(value) : h("span", { class: "zero" }, "–");

// bytes writes a size.
export function bytes(n) {
  if (n < 1024) return `${n} B`;
  return n < 1 << 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`;
}
