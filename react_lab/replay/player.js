// The player: shows one step of a run at a time, or of two runs side by side. It gets the whole story once and asks
// nobody afterwards.
//
// Hosts call `render({ model, el })`: anywidget in a notebook, a few lines of page.py in a page of its own.
// The story is what `tell` in story.py gives, or `compare` in compare.py; this file only lays it out.
// The other files of this folder stand before it in the same module: see page.py.

const MS_PER_STEP = 1500;
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16];
const MAX_MARKS = 500; // of what was searched, in one step
const LABELS = "h3, dl, .costs, .role, details:not(.block) > summary"; // are not searched

// Shared by all players of a document: what they found is marked without touching the text.
const marks = globalThis.Highlight && (CSS.highlights.get("react-lab-found") ?? new Highlight());
if (marks) CSS.highlights.set("react-lab-found", marks);

function render({ model, el }) {
  const player = open(model, el);
  let latest = 0; // a story that took long to unpack must not replace a later one
  const told = async () => {
    const turn = ++latest;
    const story = model.get("story");
    const text = typeof story === "string" ? story : await unpack(story);
    if (turn === latest) player.tell(JSON.parse(text));
  };
  const moved = () => model.get("step") !== player.number() && player.go(model.get("step") - 1); // not by itself
  const message = ({ file }) => file && download(file.name, file.text, "application/octet-stream");
  const listeners = { "change:story": told, "change:step": moved, "msg:custom": message };
  for (const [event, listener] of Object.entries(listeners)) model.on(event, listener);
  const start = model.get("step"); // telling a story sets it
  told().then(() => start > 1 && player.go(start - 1));
  return () => {
    latest = null;
    for (const [event, listener] of Object.entries(listeners)) model.off(event, listener);
    player.close();
  };
}

/** The text of a long story, which comes packed. */
function unpack(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

/**
 * Put an empty player into `parent`. Then `tell` gives it a story, `go` moves it, `number` says where it is, `close`
 * takes it away again.
 */
function open(model, parent) {
  let story = null;
  let words, language;
  let rows = []; // of one step each, or of a step of each of two runs
  let shown = []; // indices of the rows that pass the filter
  let current = 0; // index of the row on the screen
  let playing = null; // while playing: { from, since, frame }
  let hits = []; // indices of the rows that hold what is searched
  let charts = [];
  let ranges = []; // what is marked as found
  let list = null;
  const unfolded = new Set(); // kinds of details that the person has opened; they stay open from step to step

  // -- the parts that stay -------------------------------------------------------------------------------

  const head = make("header");
  const buttons = {
    first: button(() => go(shown[0])),
    back: button(() => step(-1)),
    play: button(() => (playing ? pause() : play())),
    forward: button(() => step(1)),
    last: button(() => go(shown.at(-1))),
    previous: button(() => find(-1)),
    next: button(() => find(1)),
  };
  const slider = make("input", { type: "range", min: 1 });
  slider.addEventListener("input", () => go(shown[slider.value - 1]));
  const number = make("input", { type: "number", min: 1 });
  number.addEventListener("change", () => {
    go(number.value ? shown.find((index) => index >= number.value - 1) ?? shown.at(-1) : current);
  });
  const speed = make("select", {}, ...SPEEDS.map((value) => make("option", { value }, `${value}×`)));
  speed.value = 1;
  speed.addEventListener("change", () => playing && (pause(), play()));
  const position = make("output", { class: "position", role: "status" });

  const query = make("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  query.addEventListener("input", search);
  const found = make("span", { class: "found", "aria-live": "polite" });
  const tools = make("select");
  const nodes = make("select"); // of a workflow
  const only = make("button", { type: "button", class: "only", "aria-pressed": "false" });
  const wrap = make("button", { type: "button", class: "only", "aria-pressed": "true" });
  wrap.addEventListener("click", () => wrap.setAttribute("aria-pressed", !root.classList.toggle("unwrapped")));
  for (const select of [tools, nodes]) select.addEventListener("change", filter);
  only.addEventListener("click", () => {
    only.setAttribute("aria-pressed", only.getAttribute("aria-pressed") !== "true");
    filter();
  });

  const { first, back, forward, last } = buttons;
  const controls = make("div", { class: "controls", role: "toolbar" });
  controls.append(first, back, buttons.play, forward, last, slider, number, speed, position);
  const finding = make("div", { class: "finding", role: "search" });
  finding.append(query, found, buttons.previous, buttons.next, nodes, tools, only, wrap);
  const overview = make("section", { class: "overview" });
  const body = make("div", { class: "body" });
  body.addEventListener("toggle", mark, true);
  const foot = make("footer");
  const root = make("section", {
    class: "react-lab-player",
    tabindex: 0,
    // Without it JupyterLab takes the keys for its own: an "a" would insert a cell.
    "data-lm-suppress-shortcuts": "true",
  });
  root.append(head, controls, finding, overview, body, foot);
  root.addEventListener("keydown", onKey);
  parent.append(root);

  return { tell, go, close, number: () => current + 1 };

  function close() {
    pause();
    unmark();
    root.remove();
  }

  // -- the story -----------------------------------------------------------------------------------------

  /** Show a story. One that is a longer telling of the same run leaves the person where they are. */
  function tell(next) {
    const grown = story?.id === next.id;
    const atEnd = current === rows.length - 1;
    story = next;
    root.setAttribute("aria-busy", story.rest ?? false);
    if (story.rest) model.send({ rest: true }); // where it is not sent without being asked
    ({ words, language } = story.interface);
    rows = story.rows ?? story.steps.map((step) => ({ sides: [step] }));
    shown = [...rows.keys()];
    if (!grown) {
      pause();
      query.value = "";
      current = (story.start ?? 1) - 1;
      only.setAttribute("aria-pressed", "false");
      unfolded.clear();
    } else if (atEnd) {
      current = Math.max(rows.length - 1, 0);
    }
    label();
    const all = rows.flatMap(({ sides }) => sides.filter(Boolean));
    options(tools, words.all_tools, all.flatMap((step) => step.tools), grown);
    options(nodes, words.all_nodes, all.map((step) => step.node).filter(Boolean), grown);
    for (const part of [controls, body, foot]) part.hidden = rows.length === 0;
    for (const part of [finding, overview]) part.hidden = rows.length < 2;
    if (rows.length === 0) return;
    sketch();
    foot.replaceChildren(...takeAway());
    filter();
  }

  /** Everything that depends on the person's language. */
  function label() {
    root.lang = tag(language);
    root.setAttribute("aria-label", story.rows ? words.comparison : words.player);
    const question = make("p", { class: "question", lang: tag(story.language) }, story.question);
    head.replaceChildren(question, ...story.lines.map((line) => make("p", { class: "line" }, line)));
    body.lang = tag(story.language);
    for (const [name, element] of Object.entries(buttons)) paint(element, name === "play" && playing ? "pause" : name);
    const parts = { controls, finding, overview, jump: slider, number, speed, search: query, tool: tools, node: nodes };
    for (const [name, element] of Object.entries(parts)) element.setAttribute("aria-label", words[name]);
    query.placeholder = words.search_hint;
    wrap.textContent = words.wrap;
    only.textContent = story.rows ? words.differences : words.errors;
  }

  /** Fill a filter; one that leaves no choice is not shown. */
  function options(select, all, found, keep) {
    const names = [...new Set(found)];
    const chosen = keep && names.includes(select.value) ? select.value : "";
    select.replaceChildren(...["", ...names].map((name) => make("option", { value: name }, name || all)));
    select.value = chosen;
    select.hidden = names.length < 2;
  }

  // -- moving --------------------------------------------------------------------------------------------

  /** The person moves to a row: playback ends. */
  function go(index) {
    pause();
    if (rows.length > 0) show(Math.min(Math.max(index ?? current, 0), rows.length - 1));
  }

  /** Forward or back by so many of the rows that are shown. */
  function step(by) {
    const place = shown.indexOf(current) + by;
    if (place >= 0 && place < shown.length) go(shown[place]);
    else pause();
  }

  function play() {
    if (shown.length === 0) return;
    if (current === shown.at(-1)) show(shown[0]);
    playing = { from: Math.max(shown.indexOf(current), 0), since: performance.now() };
    playing.frame = requestAnimationFrame(tick);
    position.setAttribute("aria-live", "off"); // else every step would be read out
    paint(buttons.play, "pause");
  }

  /** The row that is due follows from the clock, so that a slow frame delays nothing after it. */
  function tick() {
    const passed = (performance.now() - playing.since) * speed.value;
    const due = Math.min(playing.from + Math.floor(passed / MS_PER_STEP), shown.length - 1);
    if (due > shown.indexOf(current)) show(shown[due]);
    if (due === shown.length - 1) pause();
    else playing.frame = requestAnimationFrame(tick);
  }

  function pause() {
    if (!playing) return;
    cancelAnimationFrame(playing.frame);
    playing = null;
    position.setAttribute("aria-live", "polite");
    paint(buttons.play, "play");
  }

  function onKey(event) {
    if (rows.length === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === query) {
      onSearchKey(event);
      return;
    }
    if (event.target.closest("select, [type=number]")) return;
    const inList = event.target.closest(".list");
    const moves = { ArrowLeft: -1, ArrowRight: 1, ...(inList && { ArrowUp: -1, ArrowDown: 1 }) };
    if (event.key in moves) {
      step(moves[event.key]);
    } else if (event.key === "Home" || event.key === "End") {
      go(event.key === "Home" ? shown[0] : shown.at(-1));
    } else if (event.key === "/") {
      query.focus();
      query.select();
    } else if (event.key === " " && !event.target.closest("button, summary, a")) {
      playing ? pause() : play();
    } else {
      return; // not ours: Tab, letters, scrolling
    }
    event.preventDefault();
  }

  function onSearchKey(event) {
    if (event.key === "Enter") {
      find(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      query.value = "";
      search();
      root.focus({ preventScroll: true });
    } else {
      return;
    }
    event.preventDefault();
  }

  // -- finding -------------------------------------------------------------------------------------------

  /** Show the rows of a tool or node, with errors, or with differences; who was elsewhere goes to the next of them. */
  function filter() {
    const pressed = only.getAttribute("aria-pressed") === "true";
    const passes = (step, row) =>
      step && (!tools.value || step.tools.includes(tools.value)) && (!nodes.value || step.node === nodes.value) &&
      (!pressed || (story.rows ? row.mark !== "equal" : step.failed));
    shown = [...rows.keys()].filter((index) => rows[index].sides.some((step) => passes(step, rows[index])));
    slider.max = Math.max(shown.length, 1);
    const next = shown.find((index) => index >= current) ?? shown.at(-1);
    list.fill(shown);
    if (next !== undefined) show(next);
    else none();
    search(false);
  }

  function none() {
    position.textContent = words.none_shown;
    body.replaceChildren(make("p", { class: "costs" }, words.none_shown));
  }

  /** Look for the text in all rows that are shown, and go to the first that holds it from here on. */
  function search(move = true) {
    const text = query.value.toLowerCase();
    hits = text ? shown.filter((index) => searchable(index).includes(text)) : [];
    for (const name of ["previous", "next"]) buttons[name].hidden = hits.length === 0;
    if (move && hits.length) go(hits.find((index) => index >= current) ?? hits[0]);
    else tally();
  }

  function find(by) {
    if (hits.length === 0) return;
    const beyond = by > 0 ? hits.find((index) => index > current) : hits.findLast((index) => index < current);
    go(beyond ?? (by > 0 ? hits[0] : hits.at(-1)));
  }

  /** Say which of how many, and mark what was found in the step on the screen. */
  function tally() {
    const place = hits.indexOf(current) + 1;
    const counted = fill(words.found, { n: place || "–", count: hits.length });
    found.textContent = !query.value ? "" : hits.length ? counted : words.none_found;
    mark();
    if (place && ranges.length === 0) {
      for (const details of body.querySelectorAll("details")) details.unfold(); // it is in something folded
      mark();
    }
  }

  /** All that a row shows; the same rule as `searchable` in story.py. Made once, when it is first searched. */
  function searchable(index) {
    const texts = (step) => [
      ...step.parts.flatMap((part) => [part.title, part.text, part.notes]),
      step.reply,
      ...(index === 0 ? step.messages.map((message) => message.text) : []),
    ];
    const row = rows[index];
    row.text ??= row.sides.filter(Boolean).flatMap(texts).join("\n").toLowerCase();
    return row.text;
  }

  function mark() {
    unmark();
    const text = query.value.toLowerCase();
    if (!marks || !text) return;
    const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && ranges.length < MAX_MARKS) {
      const node = walker.currentNode;
      const lower = node.data.toLowerCase();
      if (node.parentElement.closest(LABELS) || lower.length !== node.data.length) continue;
      for (let at = lower.indexOf(text); at >= 0; at = lower.indexOf(text, at + text.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + text.length);
        ranges.push(range);
      }
    }
    ranges.forEach((range) => marks.add(range));
  }

  function unmark() {
    ranges.forEach((range) => marks.delete(range));
    ranges = [];
  }

  // -- the overview --------------------------------------------------------------------------------------

  function sketch() {
    const sides = story.sides ?? [{ name: "", timeline: story.timeline }];
    const all = rows.flatMap((row) => row.sides.filter(Boolean));
    const [longest, highest] = [end, height].map((size) => Math.max(...all.map(size))); // one scale for two runs
    charts = sides.flatMap((side, index) => {
      const at = rows.flatMap((row, i) => (row.sides[index] ? [i] : [])); // from steps of this run to rows
      const steps = at.map((i) => rows[i].sides[index]);
      const kinds = { model: words.models, tool: words.tools, failed: words.errors_drawn };
      return [
        figure(timeline(steps, longest), at, kinds, () => [side.name, words.timeline, side.timeline]),
        figure(growth(steps, highest), at, roles(), (step) => [side.name, words.growth, steps[step]?.growth]),
      ];
    });
    list = stepList(rows, { words, language: story.language, current: () => current, go });
    const steps = kept("steps", summary(words.steps, rows.length, language), () => [list.element]);
    steps.addEventListener("toggle", list.select); // what is folded can't scroll
    overview.replaceChildren(...charts.map((chart) => chart.figure), steps);
  }

  /** A drawing with its caption and what its colours stand for. `at` are the rows of its steps. */
  function figure({ svg, point, stepAt }, at, kinds, facts) {
    const drawn = Object.entries(kinds).filter(([kind]) => svg.querySelector(`path.${kind}`).getAttribute("d"));
    const key = drawn.map(([kind, name]) => make("span", { class: `key ${kind}` }, name));
    const caption = make("span");
    svg.addEventListener("click", (event) => go(at[stepAt(event)]));
    const show = () => {
      const step = at.indexOf(current);
      point(step);
      caption.textContent = facts(step).filter(Boolean).join(" · ");
      svg.setAttribute("aria-label", caption.textContent);
    };
    return { svg, caption, drawn, show, figure: make("figure", {}, make("figcaption", {}, caption, ...key), svg) };
  }

  /** What the colours of the second drawing stand for. */
  function roles() {
    const [system, user, assistant] = ["system", "user", "assistant"].map((role) => words[`role.${role}`]);
    return { system, user, assistant, observed: words.tools };
  }

  // -- one row -------------------------------------------------------------------------------------------

  function show(index) {
    current = index;
    const count = rows.length;
    const row = rows[current];
    const place = shown.indexOf(current);
    const filtered = shown.length < count;
    const where = fill(words.position, { n: current + 1, count });
    position.textContent = filtered ? `${where} · ${fill(words.shown, { n: place + 1, count: shown.length })}` : where;
    slider.value = place + 1;
    number.max = count;
    number.value = current + 1;
    slider.setAttribute("aria-valuetext", where);
    // Marked, not disabled: a disabled button loses the focus, and the keys with it.
    for (const name of ["first", "back"]) buttons[name].setAttribute("aria-disabled", place <= 0);
    for (const name of ["forward", "last"]) buttons[name].setAttribute("aria-disabled", place === shown.length - 1);
    for (const chart of charts) chart.show();
    list.select();

    const hadFocus = body.contains(document.activeElement);
    const views = row.sides.map((step, side) => {
      return step ? stepView(step, { words, language, sent: () => sent(step, side), kept }) : [];
    });
    if (story.rows) {
      const sides = story.sides.map(({ name }, i) => make("div", { class: "side" }, make("h3", {}, name), ...views[i]));
      const line = make("p", { class: `costs ${row.mark}`, lang: tag(language) }, row.line);
      body.replaceChildren(line, make("div", { class: "sides" }, ...sides));
    } else {
      body.replaceChildren(...views[0]);
    }
    if (hadFocus) root.focus({ preventScroll: true }); // else the next key would go to the notebook
    model.set("step", current + 1);
    tally();
  }

  /** The messages of a step's prompt: those of its node, with what was sent instead of some; as in story.py. */
  function sent({ node, replaced }, side) {
    const steps = rows.slice(0, current + 1).map((row) => row.sides[side]);
    const messages = steps.flatMap((step) => (step?.node === node ? step.messages : []));
    if (replaced) messages.splice(replaced.from, replaced.count, ...replaced.messages);
    return messages;
  }

  /** A fold that stays open from step to step once the person has opened it. */
  function kept(kind, head, content) {
    const details = fold(head, content, { class: kind, open: unfolded.has(kind) });
    head.addEventListener("click", () => unfolded[details.open ? "delete" : "add"](kind));
    return details;
  }

  // -- taking away ---------------------------------------------------------------------------------------

  function takeAway() {
    const files = {
      picture: async () => download("charts.png", await picture(story.question, charts, root)),
      markdown: () => download("run.md", markdown(story), "text/markdown"),
    };
    for (const kind of story.interface.files ?? []) files[kind] = () => model.send({ save: kind });
    const saves = Object.entries(files).map(([kind, save]) => textButton(words[`save_${kind}`], save));
    const branch = () => model.send({ branch: current + 1 });
    if (story.interface.branch) saves.unshift(textButton(words.branch_here, branch));
    return [make("span", {}, words.take_away), ...saves];
  }

  // -- buttons -------------------------------------------------------------------------------------------

  function button(onclick) {
    const element = make("button", { type: "button", class: "icon" });
    element.addEventListener("click", onclick);
    return element;
  }

  function textButton(text, onclick) {
    const element = make("button", { type: "button", class: "text" }, text);
    element.addEventListener("click", onclick);
    return element;
  }

  function paint(element, name) {
    element.title = words[name];
    element.setAttribute("aria-label", words[name]);
    if (element.dataset.icon === name) return;
    element.dataset.icon = name;
    element.replaceChildren(icon(name));
  }
}

export default { render };
