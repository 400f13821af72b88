// morph makes one tree like another by changing as little as can be. What stays the same is the same node
// afterwards, so that focus, selection, scroll position and what an operator types survive a refresh.

// morph changes node into want, which is used up. Rows and other repeated things bear data-key.
export function morph(node, want) {
  if (node.nodeType !== want.nodeType || node.nodeName !== want.nodeName) {
    node.replaceWith(want);
    return;
  }
  if (node.nodeType === Node.TEXT_NODE) {
    if (node.data !== want.data) node.data = want.data;
    return;
  }
  if (node.nodeName === "INPUT" || node.nodeName === "TEXTAREA") return; // the operator's
  attributes(node, want);
  const chosen = node.nodeName === "SELECT" ? node.value : null;
  children(node, want);
  if (chosen !== null) node.value = chosen;
}

function attributes(node, want) {
  for (const { name, value } of want.attributes) {
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  for (const { name } of [...node.attributes]) {
    const operators = name === "open" && node.nodeName === "DETAILS";
    if (!want.hasAttribute(name) && !operators) node.removeAttribute(name);
  }
}

const keyOf = (node) => node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("data-key") : null;

function children(node, want) {
  const wanted = [...want.childNodes];
  const keys = new Set(wanted.map(keyOf).filter((key) => key !== null));
  const there = new Map();
  for (const child of [...node.childNodes]) {
    const key = keyOf(child);
    if (key === null) continue;
    if (keys.has(key) && !there.has(key)) there.set(key, child);
    else child.remove();
  }
  let next = node.firstChild; // what is not made like anything yet
  for (const one of wanted) {
    const key = keyOf(one);
    if (key === null) {
      if (next && keyOf(next) === null) {
        const after = next.nextSibling;
        morph(next, one);
        next = after;
      } else {
        node.insertBefore(one, next);
      }
      continue;
    }
    const same = there.get(key);
    if (!same) {
      node.insertBefore(one, next);
      continue;
    }
    if (same === next) next = next.nextSibling;
    else move(node, same, next);
    morph(same, one);
  }
  while (next) {
    const after = next.nextSibling;
    next.remove();
    next = after;
  }
}

// move keeps the focus where the browser can.
function move(parent, child, before) {
  if (parent.moveBefore) parent.moveBefore(child, before);
  else parent.insertBefore(child, before);
}
