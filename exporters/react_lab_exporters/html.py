"""A run as one HTML page: the note to read, and below it the player to step through; no network needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from react_lab.replay.page import to_page
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
    document,
)
from react_lab_exporters.exporter import Published
from react_lab_exporters.files import Seal, file_name, publish_file
from react_lab_exporters.note import Note, note_from_trace

SEAL = Seal('<meta name="content-hash" content="', '">', re.compile(r'<meta name="content-hash" content="(\w*)">\n'))

STYLE = """\
article { max-width: 46rem; margin: auto; font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: anywhere; }
article pre { overflow: auto; white-space: pre-wrap; }
article pre, article blockquote { margin: .5rem 0; padding: .5rem .75rem; border-inline-start: 3px solid #8888; }
article :is(pre, code) { background: #8881; }
article :is(td, th) { padding: .2rem .75rem .2rem 0; text-align: start; vertical-align: top; }
article summary { cursor: pointer; font-weight: 600; }
"""


class HtmlExporter:
    """One page a run. A page that was edited since it was written is left alone."""

    name = "html"

    def publish(
        self,
        traces: Iterable[Trace],
        *,
        to: str | Path = "notes",
        dry_run: bool = False,
        template: Template = "research",
    ) -> Iterator[Published]:
        """Write the runs' pages into the folder `to`, one whenever the next is asked for.

        Raises:
            ConfigurationError: the folder or a file in it can't be read or written.
        """
        for trace in traces:
            note = note_from_trace(trace)
            page = note_page(trace, note, template)
            yield publish_file(Path(to) / file_name(note, ".html"), page, SEAL, dry_run=dry_run)


def note_page(trace: Trace, note: Note, template: Template = "research") -> str:
    """The player's page with the note above the player, its hash still empty."""
    head = f"{SEAL.blank}<style>\n{STYLE}</style>\n"
    return to_page(trace, note.language, head=head, above=article(note, template) + "\n")


def article(note: Note, template: Template = "research") -> str:
    parts = [f"<h1>{escape(note.title)}</h1>", *(text for part in document(note, template) for text in to_html(part))]
    return "\n".join(["<article>", *parts, "</article>"])


def to_html(part: Part) -> Iterator[str]:
    """A part of the document as HTML, piece by piece."""
    match part:
        case Heading(text, level):
            yield f"<h{level}>{escape(text)}</h{level}>"
        case Sentence(text, aside):
            yield f"<p><em>{escape(text)}</em></p>" if aside else f"<p>{escape(text)}</p>"
        case Prose(text):
            yield f"<blockquote>\n{prose(text)}</blockquote>"
        case Verbatim(text):
            yield f"<pre>\n{escape(text)}</pre>"  # the line break after <pre> is not shown
        case Call():
            yield f"<p>{call(part)}</p>"
        case Links(urls):
            yield "<ul>" + "".join(f"<li>{link(url)}</li>" for url in urls) + "</ul>"
        case Facts(rows):
            cells = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
            yield f"<table>{''.join(cells)}</table>"
        case Blank(text):
            yield f'<p><input type="checkbox"> {escape(text)}</p>'
        case Fold(title, parts):
            yield f"<details><summary>{call(title) if isinstance(title, Call) else escape(title.text)}</summary>"
            for inner in parts:
                yield from to_html(inner)
            yield "</details>"


def call(part: Call) -> str:
    number = f"{part.number}. " if part.number else ""
    return f"{number}<code>{escape(part.text)}</code> {escape(part.remark)}".rstrip()


def link(url: str) -> str:
    safe = url.startswith(("https://", "http://"))
    return f'<a href="{escape(url)}" rel="noreferrer">{escape(url)}</a>' if safe else escape(url)


def prose(text: str) -> str:
    """Markdown that others wrote, as HTML: tags in it are text, and an image is not loaded."""
    # The parser refuses javascript:, vbscript:, file: and data: as addresses of links.
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").disable("image").render(text))
