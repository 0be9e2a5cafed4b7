"""Any Markdown report as a page of Notion: `react-lab notion publish-report`."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from react_lab.errors import ConfigurationError
from react_lab_exporters.exporter import Published
from react_lab_exporters.notion.blocks import Rendered, code_blocks, to_blocks
from react_lab_exporters.notion.client import NotionError
from react_lab_exporters.notion.content import text_content
from react_lab_exporters.notion.text import clean
from react_lab_exporters.notion.writer import Writer

FRONT_MATTER = re.compile(r"\A---\n((?:[\w-]+:.*\n|[ \t-].*\n)+)---\n")


def publish_report(writer: Writer, file: Path) -> Published:
    """Publish a report as a row and page of its own; the file's place is what it is known by.

    A report is the person's own text, so its images are shown.

    Raises:
        ConfigurationError: the file can't be read.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"can't read {file}: {error}") from error
    rendered = render_report(text)
    run = "report-" + hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:16]
    content = text_content(run, title_of(text) or file.stem, "report", rendered.blocks)
    record = writer.journal.record(run)
    try:
        there = None if record.page or record.begun else writer.find([run]).get(run, {}).get("id")
        action = writer.publish(content, there)
    except NotionError as error:
        return Published(str(file), "failed", (str(error),))
    return Published(record.url, action, tuple(rendered.warnings))


def render_report(text: str) -> Rendered:
    """The blocks of a report; its front matter is shown as code."""
    text = clean(text).replace("\r\n", "\n")
    front = FRONT_MATTER.match(text)
    if front is None:
        return to_blocks(text, embed_images=True)
    rendered = to_blocks(text[front.end() :], embed_images=True)
    return Rendered([*code_blocks(front[1].rstrip("\n"), "yaml"), *rendered.blocks], rendered.warnings)


def title_of(text: str) -> str:
    """The first heading of level one."""
    found = re.search(r"^# +(.+?)#* *$", clean(text), re.MULTILINE)
    return found[1].strip() if found else ""
