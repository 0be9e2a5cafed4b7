"""The columns of our database: what each is called, its kind, and what a note puts into it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from react_lab.errors import ConfigurationError
from react_lab_exporters.note import Note
from react_lab_exporters.notion.text import MAX_TEXT, clean, pieces, plain, units

MAX_OPTION = 100
Value = dict[str, Any]
Schema = Mapping[str, Any]  # properties of a data source, by name


@dataclass(frozen=True)
class Column:
    """A column and how a note fills it; None is empty."""

    name: str
    kind: str
    value: Callable[[Note], Any]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def definition(self) -> Value:
        """As a data source is given it."""
        return {"type": self.kind, self.kind: dict(self.settings)}

    def fill(self, note: Note) -> Value:
        """As a page is given it."""
        return {self.kind: FILLERS[self.kind](self.value(note))}


def option(name: str) -> Value:
    """An option that Notion takes: no commas, at most 100 units, and two long names stay two."""
    name = clean(name).replace(",", ";").strip()
    if units(name) > MAX_OPTION:
        mark = hashlib.sha256(name.encode()).hexdigest()[:6]
        name = f"{next(pieces(name, MAX_OPTION - 8))}… {mark}"
    return {"name": name}


FILLERS: Mapping[str, Callable[[Any], Any]] = {
    "title": lambda text: plain(beginning(text or "–")),
    "rich_text": lambda text: plain(beginning(text)) if text else [],
    "number": lambda number: number,
    "select": lambda name: option(name) if name and name.strip() else None,
    "multi_select": lambda names: [option(name) for name in dict.fromkeys(names) if name.strip()][:100],
    "date": lambda moment: {"start": moment} if is_date(moment) else None,
}


def beginning(text: str) -> str:
    """As much of a text as one item holds; the page has it all."""
    return text if units(text) <= MAX_TEXT else next(pieces(text, MAX_TEXT - 1)) + "…"


def is_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


QUESTION = Column("Question", "title", lambda note: note.title)
RUN_ID = Column("Run ID", "rich_text", lambda note: note.run_id)
CONTENT_HASH = Column("Content hash", "rich_text", lambda note: "")  # filled in last: it tells of the rest
TAGS = Column("Tags", "multi_select", lambda note: note.tags)
COLUMNS = (
    QUESTION,
    Column("Answer", "rich_text", lambda note: note.answer),
    Column("Status", "select", lambda note: note.outcome),
    Column("Model", "select", lambda note: note.model),
    Column("Started", "date", lambda note: note.started_at),
    Column("Duration", "number", lambda note: round(note.seconds, 3)),
    Column("Tokens in", "number", lambda note: note.input_tokens),
    Column("Tokens out", "number", lambda note: note.output_tokens),
    Column("Cost", "number", lambda note: note.cost_usd, {"format": "dollar"}),
    Column("Sources", "number", lambda note: len(note.sources)),
    TAGS,
    RUN_ID,
    CONTENT_HASH,
    Column("Error", "rich_text", lambda note: note.reason),
)


@dataclass(frozen=True)
class Match:
    """Our columns in a data source that exists: ids and names by our names, what it lacks, what is of another kind."""

    ids: Mapping[str, str]
    names: Mapping[str, str]
    missing: tuple[Column, ...]
    different: tuple[str, ...]

    def require_run_id(self) -> None:
        """Without it a run could not be found again, and would be published twice.

        Raises:
            ConfigurationError: the column is not there, or holds something else.
        """
        if RUN_ID.name not in self.ids:
            wrong = "; ".join(self.different) or f"there is no column {RUN_ID.name!r}"
            raise ConfigurationError(
                f"this database can't hold runs: {wrong}. `react-lab notion setup --add-columns` adds what is missing"
            )

    @property
    def warnings(self) -> tuple[str, ...]:
        left_out = tuple(f"there is no column {column.name!r}; it is left out" for column in self.missing)
        return (*left_out, *(f"{text}; it is left out" for text in self.different))


def match_columns(schema: Schema, known: Mapping[str, str]) -> Match:
    """Find our columns: by the id they had before, so that a renamed one is found, else by name.

    The title is whichever column is the title: every data source has exactly one.
    """
    by_id = {column["id"]: {"name": name, **column} for name, column in schema.items()}
    ids: dict[str, str] = {}
    names: dict[str, str] = {}
    missing, different = [], []
    for column in COLUMNS:
        named = {"name": column.name, **schema[column.name]} if column.name in schema else None
        title = next(there for there in by_id.values() if there["type"] == "title")
        there = title if column is QUESTION else by_id.get(known.get(column.name, ""), named)
        if there is None:
            missing.append(column)
        elif there["type"] != column.kind:
            different.append(f"column {there['name']!r} is of type {there['type']}, not {column.kind}")
        else:
            ids[column.name], names[column.name] = there["id"], there["name"]
    return Match(ids, names, tuple(missing), tuple(different))


def properties(note: Note, content_hash: str = "") -> dict[str, Value]:
    """What a page is given, by our names of the columns."""
    values = {column.name: column.fill(note) for column in COLUMNS}
    return {**values, CONTENT_HASH.name: {"rich_text": plain(content_hash) if content_hash else []}}
