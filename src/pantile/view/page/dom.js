// Building elements from values. A name from the user is always a text node, never markup.

const byId = (id) => document.getElementById(id);

/** Make an element. `attributes`: by name; `on` = listeners; false or null = left out, but aria-* says false. */
function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (value === true && !key.startsWith("aria-")) node.setAttribute(key, "");
    else if (value === false && key.startsWith("aria-")) node.setAttribute(key, "false");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, String(value));
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(node, child);
    else if (child !== null && child !== undefined && child !== false) {
      node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
  }
}

function fill(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

/** Whole digits, so that a copied figure is a number; the grouping is a margin, not a character. */
function number(value) {
  const text = String(value);
  const parts = /^(-?)(\d+)(\.\d+)?$/.exec(text);
  if (!parts || parts[2].length < 5) return el("span", { class: "number" }, text);
  const digits = parts[2];
  const first = digits.length % 3 || 3;
  const groups = [el("span", null, parts[1] + digits.slice(0, first))];
  for (let at = first; at < digits.length; at += 3) {
    groups.push(el("span", { class: "group" }, digits.slice(at, at + 3)));
  }
  return el("span", { class: "number" }, groups, parts[3] || "");
}

/** The same grouping for a canvas, with a narrow space that does not break. */
function spaced(value) {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, (gap, _, at, whole) => (whole.length > 4 ? "\u202f" : gap));
}

function percent(share) {
  return `${(100 * share).toFixed(2)} %`;
}

function hex(address) {
  return `0x${address.toString(16).padStart(4, "0")}`;
}

/** A figure with its unit; a share as a percentage. */
function quantity(value, unit) {
  if (unit === "share") return el("span", { class: "number", title: String(value) }, percent(value));
  const shown = typeof value === "number" || /^-?\d+$/.test(value) ? number(value) : el("span", null, value);
  return unit ? el("span", { class: "quantity" }, shown, " ", el("span", { class: "unit" }, unit)) : shown;
}

function button(label, press, attributes) {
  return el("button", { type: "button", on: { click: press }, ...attributes }, label);
}
