// What a person can keep of a run: a picture, a text, a file.

/** Hand a file to the person. */
function download(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A story as Markdown. What others wrote stands in fences longer than any run of backticks in it. */
function markdown(story) {
  const { words } = story.interface;
  const fenced = (text) => {
    const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));
    return `${fence}text\n${text}\n${fence}`;
  };
  const parts = (step) =>
    (step?.parts ?? []).flatMap(({ label, notes, title, text }) => [
      `**${label}**${notes && ` · ${notes}`}`,
      fenced(title ? `${title}\n${text}` : text),
    ]);
  const sides = (row) => row.sides.flatMap((step, side) => [`### ${story.sides[side].name}`, ...parts(step)]);
  const steps = story.rows ?? story.steps;
  const told = steps.flatMap((step, i) => [
    `## ${fill(words.position, { n: i + 1, count: steps.length })}`,
    step.line,
    ...(story.rows ? sides(step) : parts(step)),
  ]);
  return `${[fenced(story.question), fenced(story.lines.join("\n")), ...told].join("\n\n")}\n`;
}

/** Charts with their captions as a picture to keep: the same paths, painted on a canvas. */
function picture(title, charts, root) {
  const [width, row, edge] = [1200, 110, 40];
  const canvas = make("canvas", { width, height: 90 + charts.length * row });
  const pen = canvas.getContext("2d");
  const { color, backgroundColor, fontFamily } = getComputedStyle(root);
  const write = (text, x, y, size, weight = 400) => {
    pen.fillStyle = color;
    pen.font = `${weight} ${size}px ${fontFamily}`;
    while (pen.measureText(text).width > width - edge - x) text = `${text.slice(0, -2).trimEnd()}…`;
    pen.fillText(text, x, y);
    return x + pen.measureText(text).width;
  };
  const paint = (shape, draw) => {
    pen.fillStyle = getComputedStyle(shape).fill;
    draw();
  };
  pen.fillStyle = backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  write(title, edge, 50, 24, 600);
  charts.forEach(({ svg, caption, drawn }, index) => {
    const top = 90 + index * row;
    let x = write(caption.textContent, edge, top, 15);
    for (const [kind, name] of drawn) {
      paint(svg.querySelector(`path.${kind}`), () => pen.fillRect(x + 18, top - 11, 11, 11));
      x = write(name, x + 34, top, 15);
    }
    pen.save();
    pen.translate(edge, top + 14);
    pen.scale((width - 2 * edge) / WIDE, 1);
    for (const shape of svg.querySelectorAll("path")) {
      paint(shape, () => pen.fill(new Path2D(shape.getAttribute("d"))));
    }
    pen.restore();
  });
  return new Promise((done) => canvas.toBlob(done));
}
