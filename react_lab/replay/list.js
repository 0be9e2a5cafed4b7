// The steps as a list, of which only those in sight are in the document.

const ROW_PX = 30; // the height of a row
const ROWS = 8; // in sight

/** A list of steps, or of rows of two runs. `fill` says which are shown, `select` follows `current()`. */
function stepList(rows, { words, language, current, go }) {
  const id = `step-${Math.random().toString(36).slice(2)}`; // every list has ids of its own
  let indices = [];
  const space = make("div", { class: "space", role: "presentation" });
  const attributes = { class: "list", role: "listbox", tabindex: 0, "aria-label": words.steps };
  const element = make("div", attributes, space);
  element.addEventListener("scroll", paintRows);
  element.addEventListener("click", (event) => {
    const index = event.target.closest("[data-index]")?.dataset.index;
    if (index !== undefined) go(Number(index));
  });

  function paintRows() {
    const top = Math.max(Math.floor(element.scrollTop / ROW_PX) - 2, 0);
    const inSight = indices.slice(top, top + ROWS + 4);
    space.replaceChildren(...inSight.map((index, i) => row(index, top + i)));
    if (inSight.includes(current())) element.setAttribute("aria-activedescendant", `${id}-${current()}`);
    else element.removeAttribute("aria-activedescendant");
  }

  function row(index, place) {
    const step = rows[index].sides.find(Boolean);
    const marked = rows[index].mark;
    const attributes = {
      id: `${id}-${index}`,
      role: "option",
      "data-index": index,
      class: `row ${marked ?? ""} ${step.failed ? "failed" : ""}`,
      style: `top: ${place * ROW_PX}px`,
      "aria-selected": index === current(),
      "aria-setsize": indices.length,
      "aria-posinset": place + 1,
    };
    return make(
      "div",
      attributes,
      make("span", { class: "number" }, String(index + 1)),
      make("span", { class: "sign" }, marked ? words[marked] : step.failed ? words.error : ""),
      make("span", { class: "node" }, step.node),
      make("span", { class: "summary", lang: tag(language) }, step.summary),
      make("span", { class: "tools" }, step.tools.join(", ")),
    );
  }

  return {
    element,
    fill(next) {
      indices = next;
      space.style.height = `${indices.length * ROW_PX}px`;
      element.style.height = `${Math.min(indices.length, ROWS) * ROW_PX + 2}px`;
      paintRows();
    },
    select() {
      const top = indices.indexOf(current()) * ROW_PX;
      const { scrollTop } = element;
      if (top < scrollTop || top > scrollTop + (ROWS - 1) * ROW_PX) element.scrollTop = top - 3 * ROW_PX;
      paintRows();
    },
  };
}
