"""What publishing would do, with no network: the requests, and the page as it will look."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from react_lab.errors import ConfigurationError
from react_lab.language import Language, interface_language
from react_lab_exporters.document import Template
from react_lab_exporters.exporter import Action, Published
from react_lab_exporters.files import hyphenated, write
from react_lab_exporters.note import Note
from react_lab_exporters.notion.attachment import Attachment
from react_lab_exporters.notion.blocks import Block, Rendered
from react_lab_exporters.notion.columns import properties
from react_lab_exporters.notion.content import content_hash, create_body
from react_lab_exporters.notion.journal import Record
from react_lab_exporters.notion.page import note_blocks
from react_lab_exporters.notion.plan import Place, plan, size
from react_lab_exporters.notion.reader import below
from react_lab_exporters.notion.text import Item, item_text

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "preview": "preview: {}",
        "would update": "those are for a new page; of a page that is there only what has changed is sent",
        "would create or update": "those are for a new page; if the database holds the run {} already, only what has "
        "changed is sent",
    },
    "zh": {
        "preview": "预览：{}",
        "would update": "以上是新建页面时的请求；页面已经存在，只会发送有改动的部分",
        "would create or update": "以上是新建页面时的请求；如果数据库里已有运行 {}，只会发送有改动的部分",
    },
}
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# In a frame of a dark notebook a page without colours of its own would be black on black.
PAGE_STYLE = """\
:root { color-scheme: light dark; }
body { margin: 1rem; background: Canvas; color: CanvasText; }
"""
STYLE = """\
.notion-page { max-width: 46rem; margin: auto; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
.notion-page pre { white-space: pre-wrap; background: #8881; padding: .75rem; }
.notion-page code { background: #8882; border-radius: 3px; padding: 0 .2em; }
.notion-page blockquote { margin: .5rem 0; padding-inline-start: .75rem; border-inline-start: 3px solid #8888; }
.notion-page :is(td, th) { border: 1px solid #8884; padding: .25rem .5rem; text-align: start; vertical-align: top; }
.notion-page table { border-collapse: collapse; }
.notion-page .properties { font-size: .875rem; }
.notion-page .properties :is(td, th) { border: 0; }
.notion-page p { margin: .25rem 0; white-space: pre-wrap; }
"""


@dataclass(frozen=True)
class Request:
    """A request as it would be sent."""

    method: str
    path: str
    body: dict[str, Any]
    data: bytes | None = None  # of a file, instead of the body

    def __str__(self) -> str:
        length = size(self.body) - 1 if self.data is None else len(self.data)
        return f"{self.method} /v1/{self.path}  {length:,} bytes"


@dataclass(frozen=True)
class Preview:
    """A dry run of one note; the last line of a notebook's cell shows the page."""

    note: Note
    template: Template = "research"
    file: Attachment | None = None
    known: Record = field(default_factory=Record)  # what the journal knows of the run

    @cached_property
    def rendered(self) -> Rendered:
        return note_blocks(self.note, self.template)

    @cached_property
    def blocks(self) -> list[Block]:
        return [*self.rendered.blocks, *([self.file.block("<upload>")] if self.file else [])]

    @cached_property
    def hash(self) -> str:
        return content_hash(self.note, self.rendered.blocks, self.file)

    @cached_property
    def values(self) -> dict[str, Any]:
        """The properties by the names of our columns; real requests write them by id."""
        return properties(self.note, self.hash)

    @property
    def action(self) -> Action:
        """What would be done, as far as can be told without asking Notion."""
        if self.known.hash == self.hash:
            return "unchanged"
        if self.known.begun == self.hash and self.known.page:
            return "would create"  # the rest of it
        return "would update" if self.known.page else "would create or update"

    @cached_property
    def requests(self) -> list[Request]:
        """What would be sent for a run that has no page yet; ids that only Notion knows are in angle brackets."""
        first, *more = plan(self.blocks)
        create = Request("POST", "pages", create_body("<data source>", self.values, first.children))
        before = len(self.uploads)
        appends = (Request("PATCH", path_to(send.parent, before), {"children": send.children}) for send in more)
        return [*self.uploads, create, *appends]

    @property
    def uploads(self) -> list[Request]:
        if self.file is None:
            return []
        send = Request("POST", "file_uploads/<upload>/send", {}, self.file.data)
        return [Request("POST", "file_uploads", self.file.request), send]

    def published(self) -> Published:
        """For `react-lab publish --dry-run`: the requests, warnings, and where the preview was written.

        Raises:
            ConfigurationError: the preview can't be written.
        """
        file = Path(tempfile.gettempdir()) / f"react-lab-notion-{hyphenated(self.note.run_id)[:32]}.html"
        try:
            write(file, self.page())
        except OSError as error:
            raise ConfigurationError(f"can't write {file}: {error.strerror}") from error
        shown = WORDS[interface_language()]["preview"].format(file)
        return Published(self.known.url or self.note.title, self.action, (*self.lines(), shown), self.page())

    def lines(self) -> Iterator[str]:
        if self.action == "unchanged":
            return
        yield from map(str, self.requests)
        if self.action != "would create":
            yield WORDS[interface_language()][self.action].format(self.note.run_id)
        yield from self.rendered.warnings

    def page(self) -> str:
        """The preview as a page of its own; nothing in it is loaded from anywhere."""
        language = "zh-CN" if self.note.language == "zh" else "en"
        return (
            f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
            f'<base target="_blank">\n<title>{escape(self.note.title)}</title>\n'
            f"<style>\n{PAGE_STYLE}</style>\n</head>\n<body>\n{self._repr_html_()}\n</body>\n</html>\n"
        )

    def _repr_html_(self) -> str:
        rows = (f"<tr><th>{escape(name)}</th><td>{shown(value)}</td></tr>" for name, value in self.values.items())
        parts = [
            f"<style>\n{STYLE}</style>",
            '<article class="notion-page">',
            f"<h1>{escape(self.note.title)}</h1>",
            f'<table class="properties">{"".join(rows)}</table><hr>',
            *blocks_html(self.blocks),
            "</article>",
        ]
        return "\n".join(parts)


def path_to(place: Place | None, before: int) -> str:
    where = "<page>" if place is None else f"<block {place[1] + 1} of request {before + place[0] + 1}>"
    return f"blocks/{where}/children"


def shown(value: dict[str, Any]) -> str:
    """A property's value as HTML."""
    [content] = value.values()
    match content:
        case [{"name": _}, *_]:
            return escape(", ".join(option["name"] for option in content))
        case list():
            return rich_html(content)
        case {"name": str(text)} | {"start": str(text)}:
            return escape(text)
        case None:
            return ""
        case _:
            return escape(str(content))


LISTS = {"bulleted_list_item": "ul", "numbered_list_item": "ol"}


def blocks_html(blocks: list[Block]) -> Iterator[str]:
    for kind, group in groupby(blocks, key=lambda block: block["type"]):
        pieces = [block_html(each) for each in group]
        yield f"<{LISTS[kind]}>{''.join(pieces)}</{LISTS[kind]}>" if kind in LISTS else "\n".join(pieces)


def block_html(block: Block) -> str:
    kind = block["type"]
    inner = block[kind]
    text = rich_html(inner.get("rich_text", ()))
    nested = "\n".join(blocks_html(below(block))) if kind != "table" else ""
    match kind:
        case "bulleted_list_item" | "numbered_list_item":
            return f"<li>{text}{nested}</li>"
        case "to_do":
            return f'<p><input type="checkbox" disabled{" checked" * inner["checked"]}> {text}</p>{nested}'
        case "toggle":
            return f"<details><summary>{text}</summary>{nested}</details>"
        case "quote":
            return f"<blockquote>{text}{nested}</blockquote>"
        case "code":
            return f"<pre>{text}</pre>{rich_html(inner.get('caption', ()))}"
        case "equation":
            return f"<p><code>{escape(inner['expression'])}</code></p>"
        case "table":
            rows = (row["table_row"]["cells"] for row in below(block))
            cells = ("".join(f"<td>{rich_html(cell)}</td>" for cell in row) for row in rows)
            return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
        case "divider":
            return "<hr>"
        case "file":
            return f"<p>[{escape(inner['name'])}]</p>"
        case "image":
            return f"<p>[{escape(inner['external']['url'])}]</p>"
        case "paragraph":
            return f"<p>{text}</p>{nested}"
        case _:
            return f"<h{kind[-1]}>{text}</h{kind[-1]}>"


TAGS = {"bold": "strong", "italic": "em", "strikethrough": "s", "code": "code"}


def rich_html(items: list[Item]) -> str:
    return "".join(map(item_html, items))


def item_html(item: Item) -> str:
    styles = ["code"] if item["type"] == "equation" else list(item.get("annotations", ()))
    html = escape(item_text(item))
    for style in styles:
        html = f"<{TAGS[style]}>{html}</{TAGS[style]}>"
    link = item.get("text", {}).get("link")
    return f'<a href="{escape(link["url"])}" rel="noreferrer">{html}</a>' if link else html
