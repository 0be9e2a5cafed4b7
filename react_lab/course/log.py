"""What a learner has done: an append-only file in the workspace, the same in every language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PLACE = ".react-lab"  # a workspace is a folder that holds one
FILE = "progress.jsonl"

Event = Mapping[str, Any]


def find_workspace(start: Path | None = None) -> Path:
    """The workspace that a folder lies in; the folder itself if it lies in none."""
    here = (start or Path.cwd()).resolve()
    return next((folder for folder in (here, *here.parents) if (folder / PLACE).is_dir()), here)


def record(event: str, workspace: Path | None = None, **said: Any) -> None:
    """Append what happened. A file that can't be written costs the record and nothing else."""
    line = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "event": event, **said}
    path = (workspace or find_workspace()) / PLACE / FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    except OSError:
        return


def read_log(path: Path) -> list[Event]:
    """The events of a file, oldest first; lines that can't be read are passed over, as is a file that isn't there."""
    events: list[Event] = []
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            events.append(event)
    return events


def events_of(workspace: Path | None = None) -> list[Event]:
    return read_log((workspace or find_workspace()) / PLACE / FILE)
