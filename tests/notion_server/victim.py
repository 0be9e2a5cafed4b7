"""A process that publishes a run and is killed.

Run: python -m tests.notion_server.victim ADDRESS FOLDER TRACE MOMENT N
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from react_lab.trace import Trace
from react_lab_exporters.notion.client import Notion
from react_lab_exporters.notion.exporter import NotionExporter
from react_lab_exporters.notion.journal import Journal
from tests.notion_server.server import TOKEN

MOMENTS = ("before it is sent", "after it took effect", "before it is in the journal")


def die() -> None:
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def arm(notion: Notion, moment: str, number: int, kill: Any = die) -> None:
    """Have the process killed at its write number `number`, from 0."""
    send, note = notion.api.request, Journal.note
    writes = -1

    def request(path: str, method: str, **parts: Any) -> Any:
        nonlocal writes
        is_write = method == "PATCH" or path == "pages" or (method == "POST" and path.startswith("file_uploads"))
        writes += is_write
        due = writes == number and is_write
        if due and moment == MOMENTS[0]:
            kill()
        answer = send(path, method, **parts)
        if due and moment == MOMENTS[1]:
            kill()
        return answer

    def noted(journal: Journal, event: str, **fields: Any) -> None:
        if event in ("sent", "upload", "uploaded") and writes == number and moment == MOMENTS[2]:
            kill()
        note(journal, event, **fields)

    notion.api.request = request  # type: ignore[method-assign]
    Journal.note = noted  # type: ignore[method-assign]


if __name__ == "__main__":
    address, folder, trace, moment, number = sys.argv[1:]
    client = Notion(TOKEN, address=address, sleep=lambda _: None)
    arm(client, moment, int(number))
    list(NotionExporter(client, Path(folder)).publish([Trace.load(trace)]))
