// Making elements. Text of models and tools is hostile: it enters the document as text nodes, never as HTML.

/** An element; children that are strings become text nodes. */
function make(name, attributes = {}, ...children) {
  return fitted(document.createElement(name), attributes, children);
}

/** An element of a drawing. */
function draw(name, attributes = {}, ...children) {
  return fitted(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fitted(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const tag = (language) => (language === "zh" ? "zh-CN" : language);

/** "Step {n} of {count}" with its numbers. */
function fill(text, values) {
  return text.replace(/\{(\w+)[^}]*\}/g, (_, name) => values[name]);
}

// Drawn, because fonts lack media symbols or turn them into emoji.
const ICONS = {
  first: "M18 5 11 12 18 19 M7 5V19",
  back: "M15 5 8 12 15 19",
  play: "M8 5 18 12 8 19Z",
  pause: "M9 5V19 M15 5V19",
  forward: "M9 5 16 12 9 19",
  last: "M6 5 13 12 6 19 M17 5V19",
  previous: "M6 15 12 9 18 15",
  next: "M6 9 12 15 18 9",
};

function icon(name) {
  return draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("path", { d: ICONS[name] }));
}

/** A part of a page that is filled when it opens: what is folded costs nothing, however long it is. */
function fold(summary, content, { open = false, ...attributes } = {}) {
  const details = make("details", attributes, summary);
  let filled = false;
  details.unfold = () => {
    details.open = true;
    if (!filled) details.append(...content());
    filled = true;
  };
  details.addEventListener("toggle", () => details.open && details.unfold());
  if (open) details.unfold();
  return details;
}

const OPEN_LINES = 12; // blocks of data up to this height are open from the start

/** Indented JSON whose blocks fold. Every line of it is kept. */
function outline(lines, outermost = true) {
  const nodes = [];
  const depth = (line) => line.length - line.trimStart().length;
  for (let i = 0; i < lines.length; i++) {
    let end = i + 1;
    while (end < lines.length && depth(lines[end]) > depth(lines[i])) end++;
    if (end - i <= 2) {
      nodes.push(`${lines[i]}\n`);
      continue;
    }
    const inner = lines.slice(i + 1, end);
    const open = outermost || inner.length <= OPEN_LINES;
    nodes.push(fold(make("summary", {}, `${lines[i]}\n`), () => outline(inner, false), { open, class: "block" }));
    i = end - 1;
  }
  return nodes;
}

/** Whether a text is JSON on several lines. */
const isOutline = (text) => /^[[{]\n/.test(text);
