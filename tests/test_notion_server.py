"""The server that the other tests trust: it refuses what Notion refuses, and shows what Notion shows."""

import copy
from typing import Any

import pytest

from tests.notion_server.checks import wrong_with_request


def text(content: str = "x", **more: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": {"content": content, **more}}]


def paragraph(rich_text: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "paragraph", "paragraph": {"rich_text": text() if rich_text is None else rich_text, **more}}


ROW = {"type": "table_row", "table_row": {"cells": [text(), []]}}
CORRECT: dict[str, Any] = {
    "parent": {"type": "data_source_id", "data_source_id": "0" * 32},
    "icon": {"type": "emoji", "emoji": "🧪"},
    "properties": {
        "title": {"title": text("Title")},
        "a": {"rich_text": text()},
        "b": {"number": 1.5},
        "c": {"multi_select": [{"name": "tag"}]},
        "d": {"url": None},
        "e": {"date": {"start": "2026-01-01"}},
        "f": {"status": {"name": "Done"}},
    },
    "children": [
        paragraph(text("link", link={"url": "https://a.org"})),
        {"type": "code", "code": {"rich_text": text(), "language": "python"}},
        {"type": "table", "table": {"table_width": 2, "children": [ROW]}},
        {"type": "to_do", "to_do": {"rich_text": text(), "checked": True}},
        {"type": "toggle", "toggle": {"rich_text": text(), "children": [paragraph(children=[paragraph()])]}},
        {"type": "equation", "equation": {"expression": "x"}},
    ],
}


def deep(levels: int) -> dict[str, Any]:
    return paragraph(children=[deep(levels - 1)]) if levels > 1 else paragraph()


WRONG = {
    "language": {"type": "code", "code": {"rich_text": text(), "language": "py"}},
    "colour": paragraph(color="cyan"),
    "heading 5": {"type": "heading_5", "heading_5": {"rich_text": text()}},
    "text as a string": paragraph("x"),
    "misspelt key": {"type": "paragraph", "paragraph": {"richtext": text()}},
    "extra key": paragraph(extra=1),
    "type and key differ": {"type": "paragraph", "to_do": {"rich_text": text()}},
    "table without rows": {"type": "table", "table": {"table_width": 2}},
    "children beside the block": {**paragraph(), "children": [paragraph()]},
    "five levels": deep(5),
    "four levels": deep(4),
    "2,001 units": paragraph(text("🙂" * 1000 + "x")),
    "101 items": paragraph(text() * 101),
    "relative address": paragraph(text(link={"url": "a/b"})),
    "empty address": paragraph(text(link={"url": ""})),
    "cells and width differ": {"type": "table", "table": {"table_width": 3, "children": [ROW]}},
    "101 children": {"type": "toggle", "toggle": {"rich_text": text(), "children": [paragraph()] * 101}},
    "1,001 characters of maths": {"type": "equation", "equation": {"expression": "x" * 1001}},
}


def test_a_correct_page_is_accepted():
    assert wrong_with_request("CreatePage", CORRECT) is None


@pytest.mark.parametrize("block", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_block_is_refused(block):
    body = copy.deepcopy(CORRECT)
    body["children"].append(block)
    assert wrong_with_request("CreatePage", body)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("b", {"number": "1"}),
        ("c", {"multi_select": [{"name": "a,b"}]}),
        ("c", {"multi_select": [{"name": "x" * 101}]}),
        ("c", {"multi_select": [{"name": ""}]}),
        ("e", {"date": {"start": "yesterday"}}),
    ],
)
def test_a_wrong_value_is_refused(name, value):
    body = copy.deepcopy(CORRECT)
    body["properties"][name] = value
    assert wrong_with_request("CreatePage", body)


def test_too_much_for_one_request_is_refused():
    append = {"block_id": "0" * 32}
    assert wrong_with_request("AppendBlockChildren", {**append, "children": [paragraph()] * 101})
    wide = [paragraph(children=[paragraph()] * 11)] * 90
    assert wrong_with_request("AppendBlockChildren", {**append, "children": wide}) == "1080 blocks in one request"
    long = [paragraph(text("字" * 2000) * 3)] * 30
    assert "bytes" in str(wrong_with_request("AppendBlockChildren", {**append, "children": long}))
