// Colours, chosen before anything is painted: the system's unless an operator has said otherwise here.
(() => {
  const root = document.documentElement;
  const kept = () => { try { return localStorage.getItem("berth-theme") || ""; } catch { return ""; } };
  const keep = (name) => { try { localStorage.setItem("berth-theme", name); } catch { /* for this visit only */ } };
  const use = (name) => { if (name) root.dataset.theme = name; else delete root.dataset.theme; };
  use(kept());
  addEventListener("DOMContentLoaded", () => {
    const choice = document.getElementById("theme");
    choice.value = kept();
    choice.addEventListener("change", () => { keep(choice.value); use(choice.value); });
  });
})();
