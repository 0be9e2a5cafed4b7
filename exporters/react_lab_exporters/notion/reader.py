"""Reading pages: blocks with everything nested in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from react_lab_exporters.notion.blocks import Block
from react_lab_exporters.notion.client import Notion, NotionError
from react_lab_exporters.notion.text import text_of

# Their children are pages and rows of their own.
CLOSED = ("child_page", "child_database", "unsupported")


def children(notion: Notion, parent: str, *, since: str | None = None) -> Iterator[Block]:
    """The blocks directly below a page or block.

    Args:
        notion: Whom to ask.
        parent: Id of the page or block.
        since: Id of a block from which on to list; the blocks before it may come too.
    """
    path = f"blocks/{parent}/children"
    if since is not None:
        # That a block's id serves as a cursor is not documented; where it does not, list from the start.
        try:
            yield from list(notion.pages_of("GET", path, {"start_cursor": since}))
        except NotionError as error:
            if error.status != 400:
                raise
        else:
            return
    yield from notion.pages_of("GET", path)


def tree(notion: Notion, parent: str) -> list[Block]:
    """The blocks below a page or block, each with its own below it as `children`."""
    blocks = list(children(notion, parent))
    for each in blocks:
        if each.get("has_children") and each["type"] not in CLOSED:
            each["children"] = tree(notion, each["id"])
    return blocks


def below(block: Block) -> list[Block]:
    """The children of a block, one of ours or one that was read."""
    inner = block.get(block["type"], {})
    found: list[Block] = block.get("children") or inner.get("children", [])
    return found


def text_in(block: Block) -> str:
    """All text of a block, without its children."""
    inner: dict[str, Any] = block.get(block["type"], {})
    cells = [text_of(cell) for cell in inner.get("cells", ())]
    parts = [text_of(inner.get("rich_text", ())), *cells, inner.get("expression", ""), inner.get("title", "")]
    return "\n".join(part for part in parts if part)
