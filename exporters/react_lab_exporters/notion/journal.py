"""What was sent, line by line on disk before and after: a process killed at any moment leaves no doubt behind."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from react_lab.errors import ConfigurationError

Entry = dict[str, Any]


@dataclass
class Record:
    """What the journal knows of one run.

    Args:
        page: The page's id.
        url: Its address.
        hash: Of the content that is on the page as a whole; "" while there is none.
        begun: Of the content whose requests are being sent.
        sent: Ids of the first-level blocks that each finished request made, by its number.
        open: Number of the request that may have been sent.
        file: Name of the file that was last tried to upload.
        upload: Id of its upload, which may not be sent yet.
        expires: When what was sent is forgotten, if it is on no page by then.
        refused: Why Notion does not take the file.
    """

    page: str = ""
    url: str = ""
    hash: str = ""
    begun: str = ""
    sent: dict[int, list[str]] = field(default_factory=dict)
    open: int | None = None
    file: str = ""
    upload: str = ""
    expires: str = ""
    refused: str = ""


class Journal:
    """The journal of one data source. Only one process at a time may write it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.columns: dict[str, str] = {}
        self.records: dict[str, Record] = {}
        for entry in read(path):
            self.take(entry)

    def record(self, run: str) -> Record:
        return self.records.setdefault(run, Record())

    def note(self, event: str, **fields: Any) -> None:
        """Write an entry to the disk, then act on it."""
        entry: Entry = {"event": event, **fields}
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.take(entry)

    def take(self, entry: Entry) -> None:
        if entry["event"] == "columns":
            self.columns = entry["ids"]
            return
        record = self.record(entry["run"])
        record.page, record.url = entry.get("page", record.page), entry.get("url", record.url)
        match entry["event"]:
            case "begin":
                record.begun, record.sent, record.open = entry["hash"], {}, None
            case "send":
                record.open = entry["number"]
            case "sent":
                record.open = None
                record.sent[entry["number"]] = entry["ids"]
            case "upload":
                record.file, record.upload, record.expires, record.refused = entry["file"], entry["id"], "", ""
            case "uploaded":
                record.expires = entry["expires"]
            case "refused":
                record.file, record.refused = entry["file"], entry["problem"]
            case "published":
                record.hash, record.begun = entry["hash"], ""


def read(path: Path) -> Iterator[Entry]:
    """The entries; a last line that was cut off is none."""
    for line in path.read_bytes().split(b"\n") if path.exists() else ():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and "event" in entry:
            yield entry


@contextmanager
def open_journal(path: Path) -> Iterator[Journal]:
    """The journal, locked; the lock ends with the process, however that ends.

    Raises:
        ConfigurationError: another process holds it, or it can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_suffix(".lock").open("a+b")
    except OSError as error:
        raise ConfigurationError(f"can't write {path}: {error.strerror}") from error
    with lock:
        try:
            take_lock(lock)
        except OSError:
            raise ConfigurationError(
                f"another react-lab is publishing to this database ({path}); wait for it"
            ) from None
        end_last_line(path)
        yield Journal(path)


def end_last_line(path: Path) -> None:
    """Have the next entry stand alone, after one that was cut off."""
    if path.exists() and not path.read_bytes().endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")


if sys.platform == "win32":
    import msvcrt

    def take_lock(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def take_lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
