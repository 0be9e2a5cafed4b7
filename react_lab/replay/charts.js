// Two drawings of a run: who worked when, and how the prompt grew. Each kind is one path, so that a thousand steps
// are no more elements than ten.

const WIDE = 1000; // the width of a drawing in its own units; it is stretched to the room there is
const LANES = 4; // of calls that ran side by side; more share the last lane
const LANE = 9;

const box = (x, y, width, height) => `M${round(x)} ${y}h${round(width)}v${height}h${-round(width)}z`;
const round = (number) => Math.round(number * 100) / 100;

/** When a step was over, in seconds from the start of the run. */
const end = (step) => step.start + step.model + Math.max(0, ...step.runs.map(([seconds]) => seconds));

/** The characters of a step's prompt. */
const height = (step) => step.context.reduce((sum, size) => sum + size, 0);

/** Time from left to right: the model above, the calls below it, side by side where they ran so. */
function timeline(steps, longest) {
  const total = longest || 1;
  const paths = { model: "", tool: "", failed: "" };
  const lanes = Math.min(LANES, Math.max(1, ...steps.map((step) => step.runs.length)));
  const bar = (from, seconds, y, height) =>
    box((from / total) * WIDE, y, Math.max((seconds / total) * WIDE - 1, 1.5), height);
  for (const step of steps) {
    paths.model += bar(step.start, step.model, 0, 14);
    step.runs.forEach(([seconds, failed], call) => {
      const y = 17 + Math.min(call, LANES - 1) * LANE;
      paths[failed ? "failed" : "tool"] += bar(step.start + step.model, seconds, y, LANE - 2);
    });
  }
  const starts = [...steps.map((step) => step.start), end(steps.at(-1))].map((time) => (time / total) * WIDE);
  return chart("timeline", 17 + lanes * LANE, paths, starts);
}

/** The prompt of each step from left to right, its characters from the ground up: system, user, assistant, tools. */
function growth(steps, highest) {
  const kinds = ["system", "user", "assistant", "observed"];
  const ground = 44;
  const width = WIDE / steps.length;
  const paths = Object.fromEntries(kinds.map((kind) => [kind, ""]));
  steps.forEach((step, i) => {
    let y = ground;
    kinds.forEach((kind, index) => {
      const tall = (step.context[index] / (highest || 1)) * ground;
      y -= tall;
      if (tall) paths[kind] += box(i * width, y, width > 4 ? width - 1.5 : width, tall);
    });
  });
  return chart("growth", ground, paths, [...steps.keys(), steps.length].map((i) => i * width));
}

/**
 * A drawing with a mark over the current step. `starts` are the left edges of the steps and the right edge of the
 * last one. `point(step)` moves the mark; `stepAt(event)` says which step a click means.
 */
function chart(kind, height, paths, starts) {
  const mark = draw("rect", { class: "mark", y: 0, height, rx: 2 });
  const shapes = Object.entries(paths).map(([name, d]) => draw("path", { class: name, d }));
  const view = { class: `chart ${kind}`, viewBox: `0 0 ${WIDE} ${height}`, preserveAspectRatio: "none", role: "img" };
  const svg = draw("svg", view, mark, ...shapes);
  return {
    svg,
    point(step) {
      mark.setAttribute("visibility", step < 0 ? "hidden" : "visible");
      if (step < 0) return;
      const width = Math.max(starts[step + 1] - starts[step], 4);
      mark.setAttribute("x", Math.min(starts[step], WIDE - width));
      mark.setAttribute("width", width);
    },
    stepAt(event) {
      const { left, width } = svg.getBoundingClientRect();
      const x = ((event.clientX - left) / width) * WIDE;
      const after = starts.findIndex((start) => start > x);
      return Math.max(0, (after < 0 ? starts.length - 1 : after) - 1);
    },
  };
}
