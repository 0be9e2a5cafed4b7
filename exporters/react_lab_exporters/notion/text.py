"""Rich text as Notion takes it: styled runs, cut to its limits, which count UTF-16 units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

MAX_TEXT = 2000  # of one item
MAX_EQUATION = 1000
MAX_URL = 2000
MAX_ITEMS = 100  # of every array
MAX_TEXT_BYTES = 100_000  # of one block, so that a few always fit into a request

Item = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """A stretch of text in one style, or an equation."""

    text: str
    styles: frozenset[str] = frozenset()  # bold, italic, strikethrough, code
    url: str | None = None
    equation: bool = False


def units(text: str) -> int:
    """The length as Notion counts it: most emoji are two."""
    return len(text) + sum(char > "\uffff" for char in text)


def pieces(text: str, limit: int = MAX_TEXT) -> Iterator[str]:
    """The text in stretches of at most `limit` units; no character is cut in two."""
    data = text.encode("utf-16-le")
    start = 0
    while start < len(data):
        end = start + 2 * limit
        if end < len(data) and 0xD8 <= data[end - 1] <= 0xDB:  # the first half of a pair
            end -= 2
        yield data[start:end].decode("utf-16-le")
        start = end


def clean(text: str) -> str:
    """The text without what JSON or Notion can't carry: lone surrogates and NUL become U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", "\ufffd")


def is_address(url: str) -> bool:
    """Whether Notion takes it as a link."""
    if units(url) > MAX_URL or any(char.isspace() for char in url):
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) if parts.scheme in ("http", "https") else parts.scheme == "mailto" and "@" in url
    except ValueError:
        return False


def rich_text(runs: Iterable[Run]) -> list[Item]:
    """Items for the runs, as few as the limit on each allows."""
    items = []
    for _, group in groupby(runs, key=lambda run: (replace(run, text=""), run.equation and run.text)):
        same = list(group)
        if same[0].equation:
            items += [as_item(run.text, run) for run in same]
        else:
            items += [as_item(piece, same[0]) for piece in pieces("".join(run.text for run in same))]
    return items


def as_item(text: str, run: Run) -> Item:
    item: Item
    if run.equation:
        item = {"type": "equation", "equation": {"expression": text}}
    else:
        item = {"type": "text", "text": {"content": text}}
        if run.url:
            item["text"]["link"] = {"url": run.url}
    if run.styles:
        item["annotations"] = dict.fromkeys(sorted(run.styles), True)
    return item


def plain(text: str) -> list[Item]:
    return rich_text([Run(clean(text))])


def text_of(items: Iterable[Item]) -> str:
    """What a reader sees of rich text, ours or as Notion gives it back."""
    return "".join(item.get("plain_text") or item_text(item) for item in items)


def item_text(item: Item) -> str:
    return str(item["text"]["content"] if "text" in item else item.get("equation", {}).get("expression", ""))


def in_blocks(items: list[Item]) -> Iterator[list[Item]]:
    """The items, dealt out to as many blocks as they need; there is always one."""
    block: list[Item] = []
    size = 0
    for item in items:
        more = len(text_of([item]).encode())
        if block and (len(block) == MAX_ITEMS or size + more > MAX_TEXT_BYTES):
            yield block
            block, size = [], 0
        block.append(item)
        size += more
    yield block
