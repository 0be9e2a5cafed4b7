// A step as it is read: what it took, its parts, and what is folded.

/**
 * The elements of a step. `sent()` gives the messages of its prompt, the new ones last; `kept(kind, summary, content)`
 * makes a fold that stays open from step to step.
 */
function stepView(step, { words, language, sent, kept }) {
  const costs = make("p", { class: "costs", lang: tag(language) }, step.line);
  const folded = (title, facts) => summary(title, facts, language);
  const model = step.prompt ? [promptAsSent(), rawReply()] : []; // a node of a workflow may only run tools
  return [costs, ...step.parts.map(panel), ...model, events()];

  function panel(part) {
    if (part.kind === "traceback") {
      return kept("traceback", folded(part.label), () => [make("pre", {}, part.text)]);
    }
    const content = make("div", { class: "content" });
    if (part.title) content.append(make("p", { class: "title" }, part.title));
    if (part.kind === "sources") content.append(...part.text.split("\n").map(source));
    else if (isOutline(part.text) && !part.lines) content.append(make("pre", {}, ...outline(part.text.split("\n"))));
    else if (part.text) content.append(make(isProse(part) ? "p" : "pre", {}, ...marked(part)));
    if (part.picture?.startsWith("data:image/png;base64,")) {
      content.append(make("img", { class: "picture", src: part.picture, alt: part.text.split("\n").at(-1) }));
    }
    if (part.notes) content.append(make("p", { class: "notes", lang: tag(language) }, part.notes));
    const name = make("h3", { lang: tag(language) }, part.label);
    if (part.differs) name.append(make("span", { class: "differs" }, part.differs));
    return make("section", { class: `panel ${part.kind} ${part.differs ? "different" : ""}` }, name, content);
  }

  function promptAsSent() {
    const earlier = step.prompt - step.new;
    const facts = [fill(words.prompt_size, { count: step.prompt, new: step.new }), step.replaced?.notes];
    return kept("prompt", folded(words.prompt, facts.filter(Boolean).join(" · ")), () => {
      const added = step.messages.map((message) => entry(message, true));
      if (earlier <= 0) return added;
      const old = () => sent().slice(0, earlier).map((message) => entry(message, false));
      return [kept("earlier", folded(fill(words.earlier, { count: earlier })), old), ...added];
    });
  }

  function entry(message, isNew) {
    const head = make("p", { class: "role", lang: tag(language) }, message.label);
    if (isNew) head.append(make("span", { class: "new" }, words.new));
    return make("div", { class: isNew ? "message added" : "message" }, head, make("pre", {}, ...marked(message)));
  }

  /** The reply as it came; what the reader took from it is marked. */
  function rawReply() {
    return kept("reply", folded(words.reply, step.reply_size), () => {
      const characters = [...step.reply]; // places are counted in characters, of which some are two units of a string
      const pre = make("pre");
      let end = 0;
      for (const [kind, from, to] of step.pieces) {
        const piece = make("span", { class: `piece ${kind}`, title: words[kind] }, characters.slice(from, to).join(""));
        pre.append(characters.slice(end, from).join(""), piece);
        end = to;
      }
      pre.append(characters.slice(end).join(""));
      const marked = step.pieces.reduce((sum, [, from, to]) => sum + to - from, 0);
      if (!marked || marked === characters.length) return [pre];
      return [pre, make("p", { class: "notes", lang: tag(language) }, words.unread)];
    });
  }

  function events() {
    return kept("events", folded(words.events, words.events_size), () => {
      const rows = step.events.map(([name, facts]) => [make("dt", {}, name), make("dd", {}, facts)]);
      return [make("dl", { lang: tag(language) }, ...rows.flat())];
    });
  }
}

/** The line of a fold that is always seen. */
function summary(title, facts, language) {
  const more = facts === undefined ? [] : [make("span", { class: "size" }, String(facts))];
  return make("summary", { lang: tag(language) }, title, ...more);
}

/** A text; the lines of it that the other of two runs lacks are marked. */
function marked({ text, lines = [] }) {
  if (lines.length === 0) return [text];
  const line = (words, i) => [i ? "\n" : "", lines.includes(i) ? make("mark", {}, words) : words];
  return text.split("\n").flatMap(line);
}

/** Sentences, as against output of a program, whose line breaks and columns mean something. */
const isProse = (part) => ["thought", "answer", "reminder"].includes(part.kind);

/** An address as a link, if it is one of the web. */
function source(address) {
  const web = /^https?:\/\//i.test(address);
  const link = { href: address, target: "_blank", rel: "noopener noreferrer" };
  return make("p", {}, web ? make("a", link, address) : address);
}
