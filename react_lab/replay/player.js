// The player: shows one step of a run at a time. It gets the whole story once and asks nobody afterwards.
//
// Hosts call `render({ model, el })`: anywidget in a notebook, a few lines of page.py in a page of its own.
// The story is what `tell` in story.py gives; this file only lays it out.
//
// Text of models and tools is hostile. It enters the document as text nodes, never as HTML.

const MS_PER_STEP = 1500;

function render({ model, el }) {
  let close = open(JSON.parse(model.get("story")), el);
  const reload = () => {
    close();
    close = open(JSON.parse(model.get("story")), el);
  };
  model.on("change:story", reload);
  return () => {
    model.off("change:story", reload);
    close();
  };
}

/** Put a player for one story into `parent`; gives back how to take it away again. */
function open(story, parent) {
  const { language, words } = story.interface;
  const count = story.steps.length;
  const unfolded = new Set(); // kinds of details that the person has opened; they stay open from step to step
  let current = 0;
  let playing = null; // while playing: { from, since, frame }

  // -- the parts that stay -------------------------------------------------------------------------------

  const buttons = {
    first: button("first", () => go(0)),
    back: button("back", () => go(current - 1)),
    play: button("play", () => (playing ? pause() : play())),
    forward: button("forward", () => go(current + 1)),
    last: button("last", () => go(count - 1)),
  };
  const slider = make("input", { type: "range", min: 1, max: count, value: 1, "aria-label": words.jump });
  slider.addEventListener("input", () => go(Number(slider.value) - 1));
  const position = make("output", { class: "position", role: "status" });
  const body = make("div", { class: "body", lang: tag(story.language) });

  const root = make(
    "section",
    {
      class: "react-lab-player",
      lang: tag(language),
      "aria-label": words.player,
      tabindex: 0,
      // Without it JupyterLab takes the keys for its own: an "a" would insert a cell.
      "data-lm-suppress-shortcuts": "true",
    },
    make(
      "header",
      {},
      make("p", { class: "question", lang: tag(story.language) }, story.question),
      ...story.lines.map((line) => make("p", { class: "line" }, line)),
    ),
  );
  if (count > 0) {
    const controls = { class: "controls", role: "toolbar", "aria-label": words.controls };
    root.append(make("div", controls, ...Object.values(buttons), slider, position), body);
    show(0);
  }
  root.addEventListener("keydown", onKey);
  parent.append(root);

  return () => {
    pause();
    root.remove();
  };

  // -- moving --------------------------------------------------------------------------------------------

  /** The person moves: playback ends. */
  function go(index) {
    pause();
    show(Math.min(Math.max(index, 0), count - 1));
  }

  function play() {
    if (current === count - 1) show(0);
    playing = { from: current, since: performance.now(), frame: requestAnimationFrame(tick) };
    paint(buttons.play, "pause");
  }

  /** The step that is due follows from the clock, so that a slow frame delays nothing after it. */
  function tick() {
    const due = playing.from + Math.floor((performance.now() - playing.since) / MS_PER_STEP);
    if (due > current) show(Math.min(due, count - 1));
    if (current === count - 1) pause();
    else playing.frame = requestAnimationFrame(tick);
  }

  function pause() {
    if (playing) cancelAnimationFrame(playing.frame);
    playing = null;
    paint(buttons.play, "play");
  }

  function onKey(event) {
    if (count === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: count - 1 };
    if (event.key in moves) {
      go(moves[event.key]);
    } else if (event.key === " " && !event.target.closest("button, summary, a")) {
      playing ? pause() : play();
    } else {
      return; // not ours: Tab, letters, scrolling
    }
    event.preventDefault();
  }

  // -- showing -------------------------------------------------------------------------------------------

  function show(index) {
    current = index;
    const step = story.steps[current];
    const place = fill(words.position, { n: current + 1, count });
    position.textContent = place;
    slider.value = current + 1;
    slider.setAttribute("aria-valuetext", place);
    // Marked, not disabled: a disabled button loses the focus, and the keys with it.
    for (const name of ["first", "back"]) buttons[name].setAttribute("aria-disabled", current === 0);
    for (const name of ["forward", "last"]) buttons[name].setAttribute("aria-disabled", current === count - 1);

    for (const details of body.querySelectorAll("details")) {
      unfolded[details.open ? "add" : "delete"](details.className);
    }
    const hadFocus = body.contains(document.activeElement);
    const costs = make("p", { class: "costs", lang: tag(language) }, step.line);
    body.replaceChildren(costs, ...step.parts.map(panel), promptAsSent(step), rawReply(step));
    if (hadFocus) root.focus({ preventScroll: true }); // else the next key would go to the notebook
  }

  function panel(part) {
    if (part.kind === "traceback") {
      return folded("traceback", part.label, "", () => [make("pre", {}, part.text)]);
    }
    const content = make("div", { class: "content" });
    if (part.title) content.append(make("p", { class: "title" }, part.title));
    if (part.kind === "sources") content.append(...part.text.split("\n").map(source));
    else if (part.text) content.append(make(isProse(part) ? "p" : "pre", {}, part.text));
    if (part.notes) content.append(make("p", { class: "notes", lang: tag(language) }, part.notes));
    return make("section", { class: `panel ${part.kind}` }, label(part.label), content);
  }

  function promptAsSent(step) {
    const earlier = step.prompt - step.new;
    const size = fill(words.prompt_size, { count: step.prompt, new: step.new });
    return folded("prompt", words.prompt, size, () => {
      const added = story.messages.slice(earlier, step.prompt).map((message) => entry(message, true));
      if (earlier === 0) return added;
      const old = () => story.messages.slice(0, earlier).map((message) => entry(message, false));
      return [folded("earlier", fill(words.earlier, { count: earlier }), "", old), ...added];
    });
  }

  function entry(message, isNew) {
    const head = make("p", { class: "role", lang: tag(language) }, message.label);
    if (isNew) head.append(make("span", { class: "new" }, words.new));
    return make("div", { class: isNew ? "message added" : "message" }, head, make("pre", {}, message.text));
  }

  function rawReply(step) {
    const size = fill(words.reply_size, { count: step.reply.length });
    return folded("reply", words.reply, size, () => [make("pre", {}, step.reply)]);
  }

  /** Details that are filled when they open: what is folded costs nothing, however long it is. */
  function folded(kind, title, size, content) {
    const summary = make("summary", { lang: tag(language) }, title);
    if (size) summary.append(make("span", { class: "size" }, size));
    const details = make("details", { class: kind }, summary);
    const unfold = () => details.children.length === 1 && details.append(...content());
    details.addEventListener("toggle", () => details.open && unfold());
    if (unfolded.has(kind)) {
      details.open = true;
      unfold();
    }
    return details;
  }

  function label(text) {
    return make("h3", { lang: tag(language) }, text);
  }

  function button(name, onclick) {
    const element = make("button", { type: "button" });
    element.addEventListener("click", onclick);
    paint(element, name);
    return element;
  }

  function paint(element, name) {
    if (element.dataset.icon === name) return;
    element.dataset.icon = name;
    element.title = words[name];
    element.setAttribute("aria-label", words[name]);
    element.replaceChildren(icon(name));
  }
}

/** Sentences, as against output of a program, whose line breaks and columns mean something. */
const isProse = (part) => ["thought", "answer", "reminder"].includes(part.kind);

/** An address as a link, if it is one of the web. */
function source(address) {
  const web = /^https?:\/\//i.test(address);
  const link = { href: address, target: "_blank", rel: "noopener noreferrer" };
  return make("p", {}, web ? make("a", link, address) : address);
}

const tag = (language) => (language === "zh" ? "zh-CN" : language);

/** "Step {n} of {count}" with its numbers. */
function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** An element; children that are strings become text nodes. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Drawn, because fonts lack media symbols or turn them into emoji.
const ICONS = {
  first: "M18 5 11 12 18 19 M7 5V19",
  back: "M15 5 8 12 15 19",
  play: "M8 5 18 12 8 19Z",
  pause: "M9 5V19 M15 5V19",
  forward: "M9 5 16 12 9 19",
  last: "M6 5 13 12 6 19 M17 5V19",
};

function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(svg.namespaceURI, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

export default { render };
