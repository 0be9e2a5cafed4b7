"""The trace as a file on its page: with it the run can be stepped through again; it is sent once, whatever happens."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from react_lab.trace import HALF_CHARACTERS, Trace, now
from react_lab_exporters.files import hyphenated
from react_lab_exporters.notion.blocks import Block
from react_lab_exporters.notion.client import Body, Notion, NotionError
from react_lab_exporters.notion.journal import Journal, Record

MAX_BYTES = 20_000_000  # of a file that is sent in one part; of a free workspace it is 5 MiB, as Notion then says
TYPE = "text/plain"  # Notion takes no JSON Lines


@dataclass(frozen=True)
class Attachment:
    """A file; its name says what is in it, so that a page shows whether it has this one already."""

    name: str
    data: bytes

    @property
    def request(self) -> Body:
        """What announces it."""
        return {"filename": self.name, "content_type": TYPE}

    @property
    def form(self) -> Body:
        """What sends it."""
        return {"file": (self.name, self.data, TYPE)}

    def block(self, upload: str) -> Block:
        return {"type": "file", "file": {"type": "file_upload", "file_upload": {"id": upload}, "name": self.name}}

    def is_in(self, block: Block) -> bool:
        return bool(block["type"] == "file" and block["file"].get("name") == self.name)


def trace_file(trace: Trace) -> Attachment:
    """The trace file as it would be on the disk."""
    data = trace.to_jsonl().encode("utf-8", errors=HALF_CHARACTERS)
    mark = hashlib.sha256(data).hexdigest()[:8]
    return Attachment(f"{hyphenated(trace.id)[:32]}-{mark}.jsonl.txt", data)


def upload(notion: Notion, journal: Journal, run: str, file: Attachment) -> str:
    """The id under which Notion has the file; of what an earlier call has done, nothing is done again.

    Raises:
        NotionError: Notion does not take it, or could not be reached.
    """
    if len(file.data) > MAX_BYTES:
        raise NotionError(f"it has {len(file.data):,} bytes, more than {MAX_BYTES:,}", 413)
    record = journal.record(run)

    def attempt() -> str:
        status = status_of(notion, record, file)
        if status not in ("pending", "uploaded"):
            made = notion.send("POST", "file_uploads", file.request)  # one too many expires within the hour
            journal.note("upload", run=run, file=file.name, id=made["id"])
            status = made["status"]
        if status == "pending":
            sent = notion.send("POST", f"file_uploads/{record.upload}/send", form=file.form, repeatable=False)
            journal.note("uploaded", run=run, expires=sent.get("expiry_time") or "")
        return record.upload

    return notion.insist(attempt)


def status_of(notion: Notion, record: Record, file: Attachment) -> str:
    """What has become of an earlier upload of the file: `pending` is made, but not sent."""
    if record.file != file.name or not record.upload:
        return "none"
    if record.expires > now():
        return "uploaded"
    try:
        return str(notion.send("GET", f"file_uploads/{record.upload}")["status"])
    except NotionError as error:
        if error.status != 404:
            raise
        return "expired"
