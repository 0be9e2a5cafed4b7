"""What is there against what shall be: blocks that are the same for a reader, and blocks that a person touched."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from react_lab_exporters.notion.blocks import Block
from react_lab_exporters.notion.reader import below, text_in


def alike(there: Block, wanted: Block) -> bool:
    """Whether a block on the page is the wanted one, whatever Notion did to its spaces."""
    return there["type"] == wanted["type"] and text_in(there).split() == text_in(wanted).split()


def shape(block: Block) -> str:
    """All that makes two blocks the same for a reader, as a text that can be compared."""
    inner = block[block["type"]]
    links = [url.rstrip("/") for url in links_in(inner)]
    details = [inner.get(name) for name in ("language", "checked", "name")]
    return json.dumps([block["type"], text_in(block).split(), links, details, list(map(shape, below(block)))])


def links_in(inner: Mapping[str, Any]) -> Iterator[str]:
    for items in (inner.get("rich_text", ()), *inner.get("cells", ())):
        for item in items:
            if (link := item.get("text", {}).get("link")) and link.get("url"):
                yield link["url"]


def untouched(block: Block, author: str) -> bool:
    """Whether whoever made the page wrote this block and everything in it."""
    hands = [block.get(name, {}).get("id") for name in ("created_by", "last_edited_by")]
    return set(hands) == {author} and all(untouched(each, author) for each in block.get("children", ()))
