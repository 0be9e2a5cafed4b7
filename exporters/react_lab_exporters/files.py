"""Notes as files: written whole, and only over what nobody has edited."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from react_lab.errors import ConfigurationError
from react_lab_exporters.exporter import Action, Published
from react_lab_exporters.note import Note

MAX_SLUG_CHARS = 50  # of up to 4 bytes each: with date and id, well within the 255 bytes of a file name


@dataclass(frozen=True)
class Seal:
    """Where a kind of file keeps the hash of what was written: `start` + hash + `end`, a line of its own."""

    start: str
    end: str
    line: re.Pattern[str]  # the line as it may come back from an editor

    @property
    def blank(self) -> str:
        return f"{self.start}{self.end}\n"

    def close(self, text: str) -> str:
        """The text with its hash filled in."""
        return text.replace(self.blank, f"{self.start}{self.content_hash(text)}{self.end}\n", 1)

    def recorded_hash(self, text: str) -> str | None:
        found = self.line.search(text)
        return found[1] if found else None

    def content_hash(self, text: str) -> str:
        return hashlib.sha256(self.line.sub("", text, count=1).encode("utf-8", errors="replace")).hexdigest()[:16]


def publish_file(path: Path, text: str, seal: Seal, *, dry_run: bool) -> Published:
    """Write a note whose seal is still blank.

    Raises:
        ConfigurationError: the file can't be read or written.
    """
    text = seal.close(text)
    try:
        action = what_to_do(path, text, seal)
        if action in ("unchanged", "kept"):
            return Published(str(path), action)
        if dry_run:
            return Published(str(path), "would create" if action == "created" else "would update")
        write(path, text)
    except OSError as error:
        raise ConfigurationError(f"can't write {path}: {error.strerror}") from error
    return Published(str(path), action)


def what_to_do(path: Path, text: str, seal: Seal) -> Action:
    if not path.exists():
        return "created"
    there = path.read_text(encoding="utf-8", errors="replace")
    if seal.recorded_hash(there) == seal.recorded_hash(text):
        return "unchanged"
    return "updated" if seal.recorded_hash(there) == seal.content_hash(there) else "kept"


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", errors="replace", newline="\n")  # a lone surrogate becomes "?"
    part.replace(path)


def file_name(note: Note, suffix: str) -> str:
    """Letters and digits of any script and hyphens: legal on every system, and no way out of the folder."""
    slug = hyphenated(note.question)[:MAX_SLUG_CHARS].rstrip("-").lower()
    parts = (hyphenated(note.started_at[:10]), slug, hyphenated(note.run_id)[:32])
    return "-".join(part for part in parts if part) + suffix


def hyphenated(text: str) -> str:
    return re.sub(r"[\W_]+", "-", text).strip("-")
