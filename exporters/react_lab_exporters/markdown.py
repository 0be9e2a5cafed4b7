"""Notes as Markdown files with front matter: one a run, for Obsidian, GitHub or any editor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from markdown_it import MarkdownIt

from react_lab.trace import Trace
from react_lab_exporters.document import (
    Blank,
    Call,
    Facts,
    Fold,
    Heading,
    Links,
    Part,
    Prose,
    Sentence,
    Template,
    Verbatim,
    decimal,
    document,
)
from react_lab_exporters.exporter import Published
from react_lab_exporters.files import Seal, file_name, publish_file
from react_lab_exporters.note import Note, note_from_trace

# Editors of front matter drop the quotes.
SEAL = Seal('content_hash: "', '"', re.compile(r'^content_hash: "?(\w*)"?\n', re.MULTILINE))


class MarkdownExporter:
    """One file a run, named by date, question and run id.

    The front matter keeps a hash of the note as it was written. A run that has not changed leaves its file
    alone, whatever the person has made of it; a run that has changed replaces only a file that nobody edited.
    """

    name = "markdown"

    def publish(
        self,
        traces: Iterable[Trace],
        *,
        to: str | Path = "notes",
        dry_run: bool = False,
        template: Template = "research",
    ) -> Iterator[Published]:
        """Write the runs' notes into the folder `to`, one whenever the next is asked for.

        Raises:
            ConfigurationError: the folder or a file in it can't be read or written.
        """
        for trace in traces:
            note = note_from_trace(trace)
            yield publish_file(Path(to) / file_name(note, ".md"), render(note, template), SEAL, dry_run=dry_run)


def render(note: Note, template: Template = "research") -> str:
    """The note as Markdown, its hash still empty."""
    parts = [f"# {one_line(note.title)}", *(text for part in document(note, template) for text in to_markdown(part))]
    return "---\n" + "".join(front_matter(note)) + "---\n\n" + "\n\n".join(parts) + "\n"


def front_matter(note: Note) -> Iterator[str]:
    """YAML, each value on one line and quoted; what is unknown is left out."""
    fields: dict[str, str | int | float | tuple[str, ...] | None] = {
        "title": note.title,
        "question": note.question,
        "date": note.started_at,
        "tags": note.tags,
        "outcome": note.outcome,
        "model": note.model,
        "agent": note.agent,
        "tokens_in": note.input_tokens,
        "tokens_out": note.output_tokens,
        "cost_usd": note.cost_usd,
        "seconds": round(note.seconds, 3),
        "sources": note.sources,
        "run_id": note.run_id,
    }
    for name, value in fields.items():
        if isinstance(value, tuple):
            yield f"{name}: [{', '.join(quoted(item) for item in value)}]\n"
        elif value is not None:
            yield f"{name}: {quoted(value) if isinstance(value, str) else decimal(value)}\n"
    yield SEAL.blank


def quoted(text: str) -> str:
    """A YAML string in double quotes; what YAML does not allow in a file is written as its code point."""
    escaped = (char if char.isprintable() and char not in '"\\' else f"\\U{ord(char):08x}" for char in text)
    return '"' + "".join(escaped) + '"'


def to_markdown(part: Part) -> Iterator[str]:
    """A part of the document as Markdown, block by block."""
    match part:
        case Heading(text, level):
            yield f"{'#' * level} {one_line(text)}"
        case Sentence(text, aside):
            yield f"*{text}*" if aside else text
        case Prose(text):
            yield quotation(text)
        case Verbatim(text):
            yield fenced(text)
        case Call(text, number, remark):
            yield " ".join(filter(None, (f"{number}." if number else "", code(text), remark)))
        case Links(urls):
            yield links(urls)
        case Facts(rows):
            yield "\n".join(["|  |  |", "|---|---|", *(f"| {label(name)} | {cell(value)} |" for name, value in rows)])
        case Blank(text):
            yield f"- [ ] {text}"
        case Fold(title, parts):
            yield from to_markdown(title)
            for inner in parts:
                yield from to_markdown(inner)


# -- text that others wrote: questions, models, tools --------------------------------------------------------
#
# It must not become HTML, load an image, or reach beyond its own place in the note.


def harmless(line: str) -> str:
    """Markdown without HTML, embedded images and the comments of Obsidian (%% hides what follows)."""
    return line.replace("<", "&lt;").replace("![", "!\\[").replace("%%", "%\\%")


def one_line(text: str) -> str:
    return harmless(" ".join(text.split()))


def label(text: str) -> str:
    return one_line(text).replace("|", "\\|").replace("`", "\\`")


def cell(text: str) -> str:
    return code(text).replace("|", "\\|") if text.strip() else ""


def quotation(text: str) -> str:
    """A text that may be Markdown, as a block quotation: whatever it leaves open ends with the quotation.

    Code in fences is kept as it is; the parser, not a guess, says where that is.
    """
    lines = [f"> {line}" if line else ">" for line in normal_lines(text)]
    tokens = MarkdownIt("commonmark").disable(["html_block", "html_inline"]).parse("\n".join(lines))
    code_lines = {n for token in tokens if token.type == "fence" and token.map for n in range(*token.map)}
    return "\n".join(line if n in code_lines else harmless(line) for n, line in enumerate(lines))


def fenced(text: str) -> str:
    """A text word for word, in a fence longer than any in it."""
    fence = "`" * max(3, longest_run(text) + 1)
    return "\n".join([f"{fence}text", *normal_lines(text), fence])


def code(text: str) -> str:
    """A text on one line, as a span of code."""
    ticks = "`" * (longest_run(text) + 1)
    pad = " " if "`" in text else ""
    return f"{ticks}{pad}{' '.join(text.split())}{pad}{ticks}"


def longest_run(text: str) -> int:
    """How many backticks stand together at most."""
    return max(map(len, re.findall("`+", text)), default=0)


def links(urls: Iterable[str]) -> str:
    whole = re.compile(r"https?://[^\s<>]+")
    return "\n".join(f"- <{url}>" if whole.fullmatch(url) else f"- {one_line(url)}" for url in urls)


def normal_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
