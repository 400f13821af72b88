// What went wrong with a question of the page's own, in words that say what to do.
import { h } from "./dom.js";

const helps = {
  unreachable: ["berth does not answer.", "Its process may have ended, or be frozen. On its machine: is it running (systemctl status berth), and what does its log say last? Tunnels and port-forwards end, too."],
  slow: ["berth does not answer in time.", "It or its store may be overloaded. On its machine: berth ready --verbose, and berth profile."],
  store_unavailable: ["The store does not answer.", "What this view tells is kept there. berth goes on with what it remembers. Look whether Redis runs and can be reached from this berth; nothing is to be done at berth itself, it comes back by itself."],
  not_found: ["There is none of that name here.", "A task is forgotten when its time is over; an instance when it leaves its pool."],
  not_served: ["This berth does not tell of that.", "Its version may be older than the page."],
  forbidden: ["This listener answers to loopback names only.", "Open it as 127.0.0.1 or localhost, by a tunnel for example."],
  cross_origin: ["The order was refused: it seemed to come from another page.", "Open the page under the address that berth itself has."],
};

// explain is a fault as text: what, and what an operator can do.
export function explain(fault) {
  const help = helps[fault.code] || (fault.status === 503 && helps.store_unavailable) || (fault.status === 403 && helps.forbidden);
  return { what: help ? help[0] : "That could not be told.", detail: fault.message, help: help ? help[1] : "" };
}

// notice shows a fault, and from when what stands below it is.
export function notice(fault, since) {
  const { what, detail, help } = explain(fault);
  return h("div", { class: "notice tone-bad" }, h("b", null, "✕ " + what), " ", h("span", null, detail && detail !== what ? detail + " " : ""), help ? h("span", { class: "quiet" }, help) : "",
    since ? h("span", null, ` What is shown is from ${since}.`) : "");
}

// login asks for the token.
export const login = (wrong) => h("form", { class: "login", "data-do": "login" },
  h("h2", null, "This berth asks for its token"),
  h("p", null, "The token of its admin listener: ", h("code", null, "[admin] token_file"), ". It is kept in this tab until that is closed, and sent to this address alone."),
  wrong && h("p", { class: "notice tone-bad", role: "alert" }, "✕ That is not the token."),
  h("label", { for: "token" }, "Token"),
  h("input", { type: "password", id: "token", name: "token", autocomplete: "off", required: true, spellcheck: "false" }),
  h("button", { type: "submit", class: "primary" }, "Show me"));
