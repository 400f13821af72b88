// What an operator may order. Each order is told in full and asked about before it is given.
import { byId, h } from "./dom.js";
import { order, path, taskSegment } from "./api.js";

// orders by name: question(about) is what is asked, give(about, answers) what is sent, done(about, answer)
// what is said afterwards.
const orders = {
  drain: {
    title: (a) => `Drain ${a.pool}/${a.name}?`,
    text: ["It gets no new work, at every berth on this store. What it owns goes on, until nothing is lost if it stops. The order stays until it is undrained."],
    option: { name: "move_sessions", label: "Move its sessions to other instances, where the pool allows it" },
    verb: "Drain",
    give: (a, chosen) => order("POST", path(["upstreams", a.pool, a.name, "drain"]), { move_sessions: chosen }),
    done: (a) => `${a.pool}/${a.name} drains: it gets no new work.`,
  },
  undrain: {
    title: (a) => `Undrain ${a.pool}/${a.name}?`,
    text: ["It gets new work again, at every berth on this store."],
    verb: "Undrain",
    give: (a) => order("POST", path(["upstreams", a.pool, a.name, "undrain"])),
    done: (a) => `${a.pool}/${a.name} gets new work again.`,
  },
  cancel: {
    title: (a) => `Cancel task ${a.id}?`,
    text: ["Its call is withdrawn where it runs. Whoever polls the task is told that it was cancelled. This cannot be undone."],
    verb: "Cancel the task", other: "Leave it",
    give: (a) => order("POST", path(["tasks", taskSegment(a.id), "cancel"]), a.pool ? { pool: a.pool } : {}),
    done: (a, task) => task.state !== "cancelled" && task.message ? `Task ${a.id}: ${task.message}.` : `Task ${a.id} is ${task.state}.`,
  },
  rerun: {
    title: (a) => `Run task ${a.id} again?`,
    text: ["Its tool is called once more with the same arguments. What it did before may be done twice."],
    verb: "Run it again",
    give: (a) => order("POST", path(["tasks", taskSegment(a.id), "rerun"]), a.pool ? { pool: a.pool } : {}),
    done: (a, task) => `Task ${a.id} is made again: as ${task.id}, which is ${task.state}.`,
  },
  pause: {
    title: (a) => `Pause the queue of ${a.rule}?`,
    text: ["Nothing new is sent from it, by any berth. What runs goes on, and new calls join. The pause outlives berths, until it is resumed."],
    verb: "Pause the queue",
    give: (a) => order("POST", path(["queues", a.id, "pause"])),
    done: (a) => `The queue of ${a.rule} is paused.`,
  },
  resume: {
    title: (a) => `Resume the queue of ${a.rule}?`,
    text: ["What waits in it is sent as places are free."],
    verb: "Resume the queue",
    give: (a) => order("POST", path(["queues", a.id, "resume"])),
    done: (a) => `The queue of ${a.rule} goes on.`,
  },
  reload: {
    title: () => "Read the configuration file again?",
    text: ["This berth alone reads its file. If that is faulty nothing changes, and the fault is told."],
    verb: "Reload",
    give: () => order("POST", "reload"),
    done: (_, told) => reloaded(told),
  },
  level: {
    title: (a) => `Log at "${a.level}" for ${a.minutes} min?`,
    text: ["At this berth alone. Then the level of the configuration is back."],
    verb: "Set the level",
    give: (a) => order("PUT", "log-level", { level: a.level, for: a.minutes * 60 }),
    done: (a) => `This berth logs at "${a.level}" for ${a.minutes} min.`,
  },
};

function reloaded(told) {
  const changed = told.changed && told.changed.length ? "in use now: " + told.changed.join(", ") : "none of its keys has changed";
  const restart = told.restart && told.restart.length ? "; needs a restart: " + told.restart.join(", ") : "";
  return `The file was read: ${changed}${restart}.`;
}

// give asks about an order and gives it. It returns what to say, or null if the operator thought better of
// it; a Fault is thrown.
export async function give(what, about) {
  const o = orders[what];
  const answer = await confirm(o.title(about), o.text, o.verb, o.other || "Leave it", o.option);
  if (!answer) return null;
  return o.done(about, await o.give(about, answer.chosen));
}

function confirm(title, text, verb, other, option) {
  const dialog = byId("dialog");
  dialog.replaceChildren(h("form", { method: "dialog" },
    h("h2", { id: "dialog-title" }, title),
    text.map((line) => h("p", null, line)),
    option && h("label", { class: "check" }, h("input", { type: "checkbox", id: "dialog-option" }), option.label),
    h("div", { class: "buttons" },
      h("button", { value: "no" }, other),
      h("button", { value: "yes", class: "primary", id: "dialog-yes" }, verb))));
  dialog.returnValue = "no"; // what Escape leaves
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const chosen = option ? byId("dialog-option").checked : false;
      resolve(dialog.returnValue === "yes" ? { chosen } : null);
    }, { once: true });
    dialog.showModal();
  });
}
