// The page: which view, when it is asked for anew, and what happens when somebody clicks. A refresh asks
// for the status and what the view needs, once the answers to the one before are here.
import { byId, h } from "./dom.js";
import { morph } from "./morph.js";
import { ask, Fault, token } from "./api.js";
import { link, read } from "./route.js";
import { clock } from "./format.js";
import { strip } from "./strip.js";
import { hostOf, learnHosts } from "./parts.js";
import { explain, login, notice } from "./faults.js";
import { give } from "./orders.js";
import { views } from "./views.js";

const shown = { hash: null, data: null, at: null }; // what main shows; data is null before the first answer
let route = read(location.hash);
let status = null;
let told = new AbortController(); // ends what is being asked
let timer = 0;
let paused = false;

const viewOf = (r) => views.find((v) => v.name === r.view) || views[0];

// refresh asks once and shows what came; then it is asked again, unless the page is paused or hidden.
async function refresh() {
  clearTimeout(timer);
  told.abort();
  const mine = told = new AbortController();
  const { view } = viewOf(route);
  const [about, answer] = await Promise.allSettled([ask("status", mine.signal), view.load(route, mine.signal)]);
  if (mine !== told) return;
  try {
    take(about, answer);
  } catch (error) { // of a view's own
    console.error(error);
    byId("main").removeAttribute("aria-busy");
    put(byId("banner"), notice(new Fault(0, "page", `The page failed to show this view: ${error.message}`)));
  }
  if (!paused && !document.hidden) timer = setTimeout(refresh, Number(byId("every").value) * 1000);
}

function take(about, answer) {
  if (about.status === "fulfilled") {
    status = about.value;
    learnHosts(status.berths);
    clock.set(status.now);
  }
  const faults = [about, answer].filter((a) => a.status === "rejected").map((a) => a.reason);
  if (faults.some((f) => f.code === "unauthorized")) return askForToken();
  byId("forget").hidden = !token.get();
  const fault = answer.status === "rejected" ? answer.reason : faults.find((f) => f.code !== "not_served");
  if (answer.status === "fulfilled") {
    paint(answer.value);
    shown.at = new Date();
  } else if (shown.hash !== location.hash || !shown.data) {
    replace(h("section", null, h("h2", null, viewOf(route).view.title(route)), notice(fault)));
    shown.hash = location.hash;
    shown.data = null;
  }
  byId("main").classList.toggle("stale", Boolean(fault) && Boolean(shown.data));
  put(byId("banner"), fault && shown.data ? notice(fault, shown.at && shown.at.toLocaleTimeString("en-GB")) : null);
  put(byId("strip"), strip(status));
  byId("strip").classList.toggle("stale", about.status === "rejected");
  asOf(Boolean(fault));
}

// paint shows a view: in place if it is the one that is there, else anew.
function paint(data) {
  const { view } = viewOf(route);
  const same = shown.hash === location.hash && shown.data; // also after a change of the hash there and back
  const tree = view.show(data, { route, status });
  if (same) morph(byId("main"), frame(tree));
  else replace(tree);
  shown.hash = location.hash;
  shown.data = data;
  document.title = `${view.title(route)} · berth ${status ? hostOf(status.berth.name) : ""}`;
}

function frame(tree) {
  const main = byId("main").cloneNode(false);
  main.removeAttribute("aria-busy");
  main.append(...h("div", null, tree).childNodes);
  return main;
}

// replace exchanges what main holds, and keeps the focus on what has the same id.
function replace(tree) {
  const focused = document.activeElement && byId("main").contains(document.activeElement) ? document.activeElement.id : "";
  byId("main").replaceChildren(...h("div", null, tree).childNodes);
  byId("main").removeAttribute("aria-busy");
  if (focused && byId(focused)) byId(focused).focus({ preventScroll: true });
}

// put morphs the only child of a place.
function put(place, tree) {
  if (!tree) place.replaceChildren();
  else if (place.firstElementChild) morph(place.firstElementChild, tree);
  else place.replaceChildren(tree);
}

function askForToken() {
  clearTimeout(timer);
  status = null;
  shown.data = null;
  const wrong = Boolean(token.get());
  token.set("");
  byId("forget").hidden = true;
  put(byId("banner"), null);
  byId("strip").replaceChildren();
  if (!byId("token")) replace(login(wrong));
  byId("token").focus();
}

// asOf says how old the view is, or that it stands still.
function asOf(failing) {
  const at = shown.at ? shown.at.toLocaleTimeString("en-GB") : "";
  byId("asof").textContent = paused ? `stands since ${at}` : failing ? "trying again" : at;
}

function pause(on) {
  paused = on;
  try { sessionStorage.setItem("berth-paused", on ? "yes" : ""); } catch { /* for this view only */ }
  byId("pause").setAttribute("aria-pressed", String(on));
  byId("pause").textContent = on ? "Go on" : "Pause";
  document.documentElement.classList.toggle("paused", on);
  asOf(false);
  if (on) clearTimeout(timer);
  else refresh();
}

function go() {
  if (location.hash && !location.hash.startsWith("#/")) { // the link that skips to the content
    byId("main").focus();
    history.replaceState(null, "", shown.hash || "#/");
    return;
  }
  const before = route;
  route = read(location.hash);
  if (before.view !== route.view || before.rest.join() !== route.rest.join()) {
    byId("said").replaceChildren();
    byId("main").focus({ preventScroll: true });
  }
  byId("main").setAttribute("aria-busy", "true");
  nav();
  refresh();
}

function nav() {
  const now = viewOf(route);
  const list = views.filter((v) => v.label).map((v) => h("a", { href: v.name ? link([v.name]) : "#/", "aria-current": v === now ? "page" : null, "data-key": v.name || "home" }, v.label));
  put(byId("nav"), h("div", null, list));
}

// say tells what became of an order.
function say(tone, ...content) {
  byId("said").replaceChildren(h("div", { class: "notice tone-" + tone }, ...content, " ", h("button", { type: "button", "data-do": "hush", "aria-label": "Close this message" }, "Close")));
}

async function act(button) {
  const what = button.dataset.do;
  if (what === "hush") return byId("said").replaceChildren();
  const id = button.id;
  try {
    const done = await give(what, { ...button.dataset });
    if (done) say("ok", "● " + done);
  } catch (error) {
    const { what: wrong, detail } = error instanceof Fault && error.code !== "not_found" ? explain(error) : { what: "", detail: String(error.message || error) };
    say("bad", `✕ The order was not carried out. ${error.status === 503 || !error.status ? wrong + " " : ""}${detail}`);
  }
  if (id && byId(id)) byId(id).focus({ preventScroll: true });
  refresh();
}

function filter(form) {
  const query = {};
  for (const [name, value] of new FormData(form)) if (String(value).trim()) query[name] = String(value).trim();
  const to = link([route.view, ...route.rest].filter(Boolean), query);
  if (to === location.hash) refresh();
  else location.hash = to;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-do]");
  if (button) act(button);
});
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "dialog") return;
  event.preventDefault();
  if (form.dataset.do === "filter") filter(form);
  if (form.dataset.do === "login") {
    token.set(new FormData(form).get("token"));
    form.remove();
    refresh();
  }
});
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-do=filter]");
  if (form && event.target.nodeName === "SELECT") filter(form);
});
document.addEventListener("visibilitychange", () => { if (!document.hidden && !paused) refresh(); });
byId("pause").addEventListener("click", () => pause(!paused));
byId("forget").addEventListener("click", () => { token.set(""); shown.data = null; refresh(); });
byId("every").addEventListener("change", () => {
  try { sessionStorage.setItem("berth-every", byId("every").value); } catch { /* for this view only */ }
  if (!paused) refresh();
});
addEventListener("hashchange", go);

try {
  byId("every").value = sessionStorage.getItem("berth-every") || byId("every").value;
  if (sessionStorage.getItem("berth-paused")) pause(true);
} catch { /* as it is */ }
nav();
refresh();
