"""Order among notes: proposes tags, relations and weekly digests as a plan that a person reviews, applies, can undo.

The plan is a JSON file: delete from it what you do not want. A row that has changed since is left alone.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any

from react_lab.errors import ConfigurationError
from react_lab_exporters.notion.blocks import to_blocks
from react_lab_exporters.notion.client import NotionError
from react_lab_exporters.notion.columns import QUESTION, RUN_ID, TAGS, option
from react_lab_exporters.notion.content import Content, text_content
from react_lab_exporters.notion.text import text_of
from react_lab_exporters.notion.writer import Writer

MAX_ROWS = 10_000  # of one query
RELATED = "Related"
ALIKE = 0.5  # share of common terms from which on two questions are related
MAX_RELATED = 10
MAX_NEW_TAGS = 3
DIGEST = "digest"
COMMON = frozenset(
    "about after also been between could does from have into many much more most over same should some than that their "
    "them then there these they this those what when where which while will with would year your".split()
)


@dataclass(frozen=True)
class Row:
    """A row as far as order goes."""

    page: str
    title: str
    url: str
    run: str
    created: str
    tags: tuple[str, ...]
    related: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """What a row has and what it shall have."""

    page: str
    title: str
    tags: tuple[Sequence[str], Sequence[str]]
    related: tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True)
class Plan:
    """Changes of rows, and pages that list the runs of a week (by their ISO week)."""

    changes: list[Change] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)

    def save(self, file: Path) -> None:
        file.write_text(json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, file: Path) -> Plan:
        """Read a plan.

        Raises:
            ConfigurationError: there is none in the file.
        """
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            return cls([Change(**change) for change in data["changes"]], data["digests"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(f"{file} holds no plan: {error}") from error


# -- proposing -----------------------------------------------------------------------------------------------


def propose(writer: Writer) -> Plan:
    """A plan for the database as it is; applying it leaves nothing to propose."""
    rows = [row for row in read_rows(writer) if row.run and DIGEST not in row.tags]
    held = {row.page: terms(row.title) for row in rows}
    wanted_tags = new_tags(held)
    wanted_related = relations(held)
    changes = []
    for row in rows:
        tags = (*row.tags, *(tag for tag in wanted_tags[row.page] if tag not in row.tags))
        related = (*row.related, *(page for page in wanted_related[row.page] if page not in row.related))
        if (tags, related) != (row.tags, row.related):
            changes.append(Change(row.page, row.title, (row.tags, tags), (row.related, related)))
    return Plan(changes, digests(rows))


def terms(text: str) -> frozenset[str]:
    """Words of a question that may say what it is about; of Chinese, every two to four characters."""
    latin = (word.lower() for word in re.findall(r"[^\W\d_]{4,}", text) if word.isascii())
    runs = re.findall(r"[\u4e00-\u9fff]+", text)
    chinese = (run[at : at + size] for run in runs for size in (2, 3, 4) for at in range(len(run) - size + 1))
    return frozenset(word for word in (*latin, *chinese) if word not in COMMON)


def new_tags(held: dict[str, frozenset[str]]) -> dict[str, list[str]]:
    """Terms that at least three rows share, and not most of them; the most common first."""
    counts = Counter(term for words in held.values() for term in words)
    shared = {term: n for term, n in counts.items() if 3 <= n <= max(3, len(held) // 2)}
    # Of 日落时 and 日落时间 in the same rows, the longer one.
    kept = [term for term in shared if not any(term != t and term in t and shared[t] == shared[term] for t in shared)]
    kept.sort(key=lambda term: (-shared[term], term))
    return {page: [term for term in kept if term in words][:MAX_NEW_TAGS] for page, words in held.items()}


def relations(held: dict[str, frozenset[str]]) -> dict[str, list[str]]:
    """The rows that each row has most terms in common with."""
    found: dict[str, list[tuple[float, str]]] = {page: [] for page in held}
    for (one, here), (two, there) in combinations(held.items(), 2):
        likeness = len(here & there) / max(len(here | there), 1)
        if likeness >= ALIKE:
            found[one].append((-likeness, two))
            found[two].append((-likeness, one))
    return {page: [other for _, other in sorted(others)[:MAX_RELATED]] for page, others in found.items()}


def digests(rows: Iterable[Row]) -> dict[str, str]:
    """For each week a list of its runs, as Markdown."""
    weeks: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: row.created):
        year, week, _ = datetime.fromisoformat(row.created).isocalendar()
        title = re.sub(r"([\\\[\]*_`<])", r"\\\1", row.title)
        weeks.setdefault(f"{year}-W{week:02}", []).append(f"- [{title}]({row.url})")
    return {week: "\n".join(lines) for week, lines in weeks.items()}


def read_rows(writer: Writer) -> list[Row]:
    """Every row, also where there are more than one query gives."""
    pages: dict[str, Any] = {}
    since: str | None = None
    while True:
        query: dict[str, Any] = {"sorts": [{"timestamp": "created_time", "direction": "ascending"}]}
        if since is not None:
            query["filter"] = {"timestamp": "created_time", "created_time": {"on_or_after": since}}
        window = list(writer.notion.pages_of("POST", f"data_sources/{writer.data_source}/query", query))
        new = [page for page in window if page["id"] not in pages]
        pages.update((page["id"], page) for page in new)
        if len(window) < MAX_ROWS or not new:
            return [as_row(page, writer) for page in pages.values()]
        since = window[-1]["created_time"]


def as_row(page: Any, writer: Writer) -> Row:
    values = {value["id"]: value for value in page["properties"].values()}

    def value(name: str) -> Any:
        found = values.get(writer.matched.ids.get(name, ""))
        return found[found["type"]] if found else []

    related = page["properties"].get(RELATED, {}).get("relation", [])
    return Row(
        page["id"],
        text_of(value(QUESTION.name)),
        str(page.get("url", "")),
        text_of(value(RUN_ID.name)),
        page["created_time"],
        tuple(tag["name"] for tag in value(TAGS.name)),
        tuple(other["id"] for other in related),
    )


# -- applying and undoing ------------------------------------------------------------------------------------


def apply(writer: Writer, plan: Plan) -> Iterator[str]:
    """Carry out a plan, at most one write a row; what is done already, or was changed since, is left alone."""
    if any(change.related[1] for change in plan.changes):
        ensure_related(writer)
    rows = {row.page: row for row in read_rows(writer)}
    for change in plan.changes:
        if (row := rows.get(change.page)) is not None:
            yield from apply_change(writer, change, row)
    for week, markdown in plan.digests.items():
        there = writer.find([digest_run(week)]).get(digest_run(week), {}).get("id")
        yield f"digest {week}: {writer.publish(digest(writer, week, markdown), there)}"


def apply_change(writer: Writer, change: Change, row: Row) -> Iterator[str]:
    values: dict[str, Any] = {}
    others: dict[str, Any] = {}
    if set(row.tags) == set(change.tags[0]) != set(change.tags[1]):
        values[TAGS.name] = {"multi_select": [option(tag) for tag in change.tags[1]]}
    if set(row.related) == set(change.related[0]) != set(change.related[1]):
        others[RELATED] = {"relation": [{"id": page} for page in change.related[1]]}
    if values or others:
        writer.set_columns(change.page, values, others)
        yield f"changed: {change.title}"


def undo(writer: Writer, plan: Plan) -> Iterator[str]:
    """Take back what `apply` did, but nothing that was changed since; digests go to the trash."""
    back = [replace(change, tags=change.tags[::-1], related=change.related[::-1]) for change in plan.changes]
    yield from apply(writer, Plan(back))
    for week, page in writer.find(map(digest_run, plan.digests)).items():
        writer.notion.send("PATCH", f"pages/{page['id']}", {"in_trash": True})
        yield f"to the trash: {week}"


def ensure_related(writer: Writer) -> None:
    """Add the column that relates rows to one another, if there is none.

    Raises:
        NotionError: a column of that name holds something else.
    """
    path = f"data_sources/{writer.data_source}"
    there = writer.notion.send("GET", path)["properties"].get(RELATED)
    if there is None:
        relation = {"data_source_id": writer.data_source, "type": "single_property", "single_property": {}}
        column = {"type": "relation", "relation": relation}
        writer.notion.send("PATCH", path, {"properties": {RELATED: column}})
    elif there["type"] != "relation":
        raise NotionError(f"the column {RELATED!r} is of type {there['type']}, not relation; rename it")


def digest(writer: Writer, week: str, markdown: str) -> Content:
    return text_content(digest_run(week), week, DIGEST, to_blocks(markdown).blocks)


def digest_run(week: str) -> str:
    return f"{DIGEST}-{week}"
