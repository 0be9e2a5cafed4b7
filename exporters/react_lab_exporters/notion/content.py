"""What a page shall be, and the request that makes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from react_lab_exporters.note import Note
from react_lab_exporters.notion.attachment import Attachment
from react_lab_exporters.notion.blocks import Block
from react_lab_exporters.notion.client import Body
from react_lab_exporters.notion.columns import CONTENT_HASH, QUESTION, RUN_ID, TAGS, option, properties
from react_lab_exporters.notion.text import plain


@dataclass(frozen=True)
class Content:
    """What a run's page shall be."""

    run: str
    properties: Mapping[str, Any]  # by our names of the columns
    blocks: Sequence[Block]
    hash: str
    file: Attachment | None = None  # hung up at the end


def content_hash(note: Note, blocks: Sequence[Block], file: Attachment | None = None) -> str:
    """A mark that changes with anything on the page."""
    text = json.dumps([properties(note), blocks, file and file.name], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def text_content(run: str, title: str, tag: str, blocks: Sequence[Block]) -> Content:
    """A page that is no run: a report, a digest. `run` is what it is known by."""
    mark = hashlib.sha256(json.dumps([title, blocks]).encode()).hexdigest()[:16]
    values = {
        QUESTION.name: {"title": plain(title)[:1]},
        TAGS.name: {"multi_select": [option(tag)]},
        RUN_ID.name: {"rich_text": plain(run)},
        CONTENT_HASH.name: {"rich_text": plain(mark)},
    }
    return Content(run, values, blocks, mark)


def create_body(data_source: str, values: Mapping[str, Any], blocks: Sequence[Block]) -> Body:
    parent = {"type": "data_source_id", "data_source_id": data_source}
    body: Body = {"parent": parent, "properties": dict(values)}
    return {**body, "children": list(blocks)} if blocks else body
