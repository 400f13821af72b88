// Elements are made here, and nowhere else: text from the API becomes text nodes and attribute values,
// never markup.

// h makes an element. A property that is null, undefined or false is left out; children may be nested
// lists, and null or false among them is left out too.
export function h(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(key, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export const byId = (id) => document.getElementById(id);
