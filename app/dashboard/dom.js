// Making and changing elements. Text is set as text: names come from VMs.

/** el("td", {class: "number"}, "7"); a function as value is a listener: onclick. */
export function el(tag, attributes = {}, ...children) {
  const made = tag === "svg" || tag === "path" || tag === "polyline"
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

export const byId = (id) => document.getElementById(id);

/** Touches the element only if something changes, so that a selection stays. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (value == null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

export const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

let announcing = 0;
let waiting = "";
/** Tells a screen reader, at most every two seconds: the last word counts. */
export function announce(text) {
  waiting = text;
  if (announcing) return;
  const say = () => {
    announcing = 0;
    if (!waiting) return;
    setText(byId("announcer"), waiting);
    waiting = "";
    announcing = setTimeout(say, 2000);
  };
  say();
}
