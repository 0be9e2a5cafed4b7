"""A note as blocks: its document, each part as the block that fits it."""

from __future__ import annotations

from collections.abc import Iterator

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
from react_lab_exporters.note import Note
from react_lab_exporters.notion.blocks import Block, Rendered, block, code_blocks, text_blocks, to_blocks
from react_lab_exporters.notion.text import Run, clean, is_address, plain, rich_text


def note_blocks(note: Note, template: Template = "research") -> Rendered:
    """The page of a note, without its title, and what could not be kept."""
    warnings: list[str] = []
    blocks = [made for part in document(note, template) for made in part_blocks(part, warnings)]
    return Rendered(blocks, list(dict.fromkeys(warnings)))


def part_blocks(part: Part, warnings: list[str]) -> Iterator[Block]:
    match part:
        case Heading(text, level):
            yield block(f"heading_{level}", plain(text))
        case Sentence(text, aside):
            yield block("paragraph", rich_text([Run(text, frozenset({"italic"} if aside else ()))]))
        case Prose(text):
            rendered = to_blocks(text)
            warnings += rendered.warnings
            yield from rendered.blocks
        case Verbatim(text):
            yield from code_blocks(text)
        case Call():
            yield from text_blocks("paragraph", rich_text(call_runs(part)))
        case Links(urls):
            for url in map(clean, urls):
                yield from text_blocks(
                    "bulleted_list_item", rich_text([Run(url, url=url if is_address(url) else None)])
                )
        case Facts(rows):
            yield facts_table(rows)
        case Blank(text):
            yield block("to_do", plain(text), checked=False)
        case Fold(title, parts):
            inner = [made for each in parts for made in part_blocks(each, warnings)]
            runs = call_runs(title) if isinstance(title, Call) else [Run(title.text)]
            yield from text_blocks("toggle", rich_text(runs), inner)


def call_runs(call: Call) -> Iterator[Run]:
    if call.number:
        yield Run(f"{call.number}. ")
    yield Run(clean(call.text), frozenset({"code"}))
    if call.remark:
        yield Run(f" {call.remark}")


def facts_table(rows: tuple[tuple[str, str], ...]) -> Block:
    cells = [{"type": "table_row", "table_row": {"cells": [plain(name), plain(value)[:1]]}} for name, value in rows]
    return {"type": "table", "table": {"table_width": 2, "has_row_header": True, "children": cells}}
