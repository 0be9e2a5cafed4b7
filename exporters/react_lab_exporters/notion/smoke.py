"""A dozen requests to the real Notion, in a page of their own that is removed: what no document tells.

Each check says what was found; the code works with either answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from react_lab_exporters.notion.attachment import Attachment
from react_lab_exporters.notion.client import Notion, NotionError
from react_lab_exporters.notion.columns import COLUMNS, RUN_ID
from react_lab_exporters.notion.content import create_body
from react_lab_exporters.notion.database import create_database, id_in
from react_lab_exporters.notion.reader import children
from react_lab_exporters.notion.text import plain, units
from react_lab_exporters.notion.writer import position

TITLE = "react-lab smoke test (removes itself)"


def smoke(notion: Notion, parent: str) -> Iterator[str]:
    """Try out what is unverified, below a page that is shared with the integration; told line by line.

    Raises:
        NotionError: not even the first page could be made.
    """
    body = {
        "parent": {"type": "page_id", "page_id": id_in(parent)},
        "properties": {"title": {"title": plain(TITLE)}},
        "children": [text_block(f"block {number}") for number in range(3)],
    }
    page = notion.send("POST", "pages", body, repeatable=False)["id"]
    yield f"made a page: {page}"
    try:
        for name, check in CHECKS.items():
            yield f"{name}: {answer_of(check, notion, page)}"
    finally:
        notion.send("PATCH", f"pages/{page}", {"in_trash": True})
    yield "the page is in the trash"


def text_block(text: str) -> dict[str, Any]:
    return {"type": "paragraph", "paragraph": {"rich_text": plain(text)}}


def answer_of(check: Callable[[Notion, str], str], notion: Notion, page: str) -> str:
    try:
        return check(notion, page)
    except NotionError as error:
        return f"refused: {error}"


def append(notion: Notion, page: str, *blocks: dict[str, Any], before: str | None = None) -> list[dict[str, Any]]:
    body: dict[str, Any] = {"children": list(blocks)}
    if before is not None:
        body["position"] = position(before)
    results: list[dict[str, Any]] = notion.send("PATCH", f"blocks/{page}/children", body, repeatable=False)["results"]
    return results


def emoji_length(notion: Notion, page: str) -> str:
    """Whether 1,001 emoji, 2,002 units, fit into one item."""
    text = "🙂" * 1001
    item = {"type": "text", "text": {"content": text}}
    try:
        append(notion, page, {"type": "paragraph", "paragraph": {"rich_text": [item]}})
    except NotionError as error:
        return f"counted as {units(text)} units, as we do" if error.status == 400 else str(error)
    return "counted as 1,001 characters; we cut earlier than needed"


def block_cursor(notion: Notion, page: str) -> str:
    """Whether the id of a block serves as the cursor of a list."""
    ids = [block["id"] for block in children(notion, page)]
    found = notion.send("GET", f"blocks/{page}/children", query={"start_cursor": ids[1], "page_size": 1})
    return "yes" if [each["id"] for each in found["results"]] == ids[1:2] else "no, it lists something else"


def insert_position(notion: Notion, page: str) -> str:
    """Whether an append after a block gives back the new blocks only."""
    first = next(children(notion, page))["id"]
    made = append(notion, page, text_block("inserted"), before=first)
    there = [block["id"] for block in children(notion, page)]
    return "new blocks only" if len(made) == 1 and there.index(made[0]["id"]) == 1 else f"{len(made)} blocks"


def author(notion: Notion, page: str) -> str:
    """Whether our blocks carry our name, by which an update knows them."""
    me = notion.send("GET", "users/me")["id"]
    block = next(children(notion, page))
    return (
        "yes" if {block["created_by"]["id"], block["last_edited_by"]["id"]} == {me} else "no: updates keep old blocks"
    )


def heading_4(notion: Notion, page: str) -> str:
    append(notion, page, {"type": "heading_4", "heading_4": {"rich_text": plain("four")}})
    return "yes"


def markdown_endpoint(notion: Notion, page: str) -> str:
    return f"{len(notion.send('GET', f'pages/{page}/markdown')['markdown'])} characters"


def file_upload(notion: Notion, page: str) -> str:
    """Whether a file can be hung up, and keeps the name by which an update knows it."""
    file = Attachment("smoke-0123abcd.jsonl.txt", b"{}\n")
    upload = notion.send("POST", "file_uploads", file.request)["id"]
    notion.send("POST", f"file_uploads/{upload}/send", form=file.form, repeatable=False)
    [block] = append(notion, page, file.block(upload))
    return "yes" if file.is_in(block) else f"yes, but under the name {block['file'].get('name')!r}"


def rows_by_id(notion: Notion, page: str) -> str:
    """Whether a row can be written and found by ids of columns, and how long a query lags behind."""
    source = create_database(notion, page)
    ids = {column.name: source.schema[column.name]["id"] for column in COLUMNS}
    values = {ids[RUN_ID.name]: {"rich_text": plain("smoke")}}
    row = notion.send("POST", "pages", create_body(source.id, values, []), repeatable=False)["id"]
    query = {"filter": {"property": ids[RUN_ID.name], "rich_text": {"equals": "smoke"}}}
    started = time.monotonic()
    for _ in range(5):
        found = notion.send("POST", f"data_sources/{source.id}/query", query)["results"]
        if [each["id"] for each in found] == [row]:
            return f"yes, found after {time.monotonic() - started:.1f} s"
        notion.sleep(2)
    return "written, but not found within 10 s"


CHECKS: dict[str, Callable[[Notion, str], str]] = {
    "length of emoji": emoji_length,
    "a block's id as cursor": block_cursor,
    "insert after a block": insert_position,
    "blocks carry our name": author,
    "headings of level 4": heading_4,
    "markdown endpoint": markdown_endpoint,
    "a file": file_upload,
    "columns by id": rows_by_id,
}
