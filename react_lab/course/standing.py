"""Where a learner stands, what is due for a second look, and what a teacher gets to see."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from react_lab.course.asking import graded, letters
from react_lab.course.card import columns
from react_lab.course.exercise import all_quizzes
from react_lab.course.log import Event, events_of, read_log
from react_lab.course.words import WORDS
from react_lab.course.workspace import lessons_folder
from react_lab.errors import ConfigurationError
from react_lab.language import Language

AFTER_DAYS = (1, 3, 7)  # a question comes back; after the third right answer it is done
BAR = 20


@dataclass(frozen=True)
class Standing:
    """One lesson: by kind, how much is done of how many.

    Done is an exercise that has passed once, a question whose last answer was right, a prediction that was made.
    """

    lesson: str
    counts: Mapping[str, tuple[int, int]]

    @property
    def share(self) -> float:
        done, asked = map(sum, zip(*self.counts.values(), strict=True))
        return done / asked if asked else 0.0


def standings(events: Sequence[Event]) -> list[Standing]:
    """A row for each lesson, in the course's order."""
    passed = {str(event.get("id")) for event in events if event["event"] == "check" and event.get("outcome") == "right"}
    known = {id for id, event in last(events, "quiz").items() if event.get("right") is True}
    done: dict[str, set[str]] = {"exercises": passed, "questions": known, "predictions": set(last(events, "predict"))}
    return [
        Standing(lesson, {kind: (len(done[kind] & ids), len(ids)) for kind, ids in asked.items()})
        for lesson, asked in lessons().items()
    ]


@cache
def lessons() -> dict[str, dict[str, set[str]]]:
    """By lesson, the ids of what its notebook asks for, by kind."""
    found = {}
    for path in sorted((lessons_folder() / "en").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        tags = [tag.partition(":") for cell in cells for tag in cell["metadata"].get("tags", ())]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        found[path.stem] = {
            "exercises": {id for kind, _, id in tags if kind == "exercise"},
            "questions": set(re.findall(r'^quiz\("([\w-]+)"', code, re.MULTILINE)),
            "predictions": {id for kind, _, id in tags if kind == "predict"},
        }
    return found


def last(events: Iterable[Event], kind: str) -> dict[str, Event]:
    """By id, the last event of a kind."""
    return {event["id"]: event for event in events if event["event"] == kind and isinstance(event.get("id"), str)}


class Overview:
    """Progress as a table with a bar a lesson, for a notebook and for a terminal."""

    def __init__(self, events: Sequence[Event], language: Language) -> None:
        self.rows, self.words = standings(events), WORDS[language]
        self.due = len(due(events))

    def __repr__(self) -> str:
        lines = [self.words["progress"]]
        for row in self.rows:
            bar = "#" * round(BAR * row.share) + "." * (BAR - round(BAR * row.share))
            lines.append(f"{row.lesson:14} {bar}  " + "  ".join(f"{name} {count}" for name, count in self.counts(row)))
        return "\n".join([*lines, *self.reminder()])

    def counts(self, row: Standing) -> list[tuple[str, str]]:
        return [(self.words[kind], f"{done}/{asked}") for kind, (done, asked) in row.counts.items() if asked]

    def reminder(self) -> list[str]:
        return [self.words["due"].format(self.due)] if self.due else []

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr style="background: none"><td style="text-align: left">{row.lesson}</td><td><progress max="1" '
            f'value="{row.share:.2f}" style="width: 12em" aria-label="{row.lesson}"></progress></td>'
            f'<td style="text-align: left; opacity: .8">'
            f"{' · '.join(f'{html.escape(name)} {count}' for name, count in self.counts(row))}</td></tr>"
            for row in self.rows
        )
        notes = "".join(f"<p>{html.escape(line)}</p>" for line in self.reminder())
        return f"<strong>{html.escape(self.words['progress'])}</strong><table>{rows}</table>{notes}"


# -- a second look -------------------------------------------------------------------------------------------


def due(events: Sequence[Event], now: datetime | None = None) -> list[str]:
    """The ids of the questions to ask again: 1, 3 and 7 days after each right answer, a day after a wrong one."""
    moment = now or datetime.now(UTC)
    found = []
    for id in all_quizzes():
        answers = [event for event in events if event["event"] == "quiz" and event.get("id") == id]
        streak = 0
        for event in answers:
            streak = streak + 1 if event.get("right") else 0
        if answers and streak <= len(AFTER_DAYS):
            wait = timedelta(days=AFTER_DAYS[max(streak - 1, 0)])
            if moment >= datetime.fromisoformat(answers[-1]["at"]) + wait:
                found.append(id)
    return found


def review(
    workspace: Path, language: Language, *, ask: Callable[[str], str] = input, say: Callable[[str], None] = print
) -> int:
    """Ask the questions that are due, in the terminal; gives back how many were answered."""
    asked = 0
    for id in due(events_of(workspace)):
        item = all_quizzes()[id]
        say(
            "\n".join([item.question[language], *(f"  {key}  {text}" for key, text in letters(item, language).items())])
        )
        while (choice := ask("> ").strip().casefold()) not in letters(item, language):
            if choice in ("", "q", "quit", "exit"):
                return asked
        say(repr(graded(item, choice, language, workspace)) + "\n")
        asked += 1
    say(WORDS[language]["nothing due"])
    return asked


# -- for a teacher -------------------------------------------------------------------------------------------


def export(workspace: Path, target: Path, name: str) -> Path:
    """Write the log to a file for a teacher: the learner's name, then every event as it was recorded."""
    events = [{"event": "learner", "name": name, "exported_at": datetime.now(UTC).isoformat(timespec="seconds")}]
    lines = [json.dumps(event, ensure_ascii=False) for event in [*events, *events_of(workspace)]]
    try:
        target.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConfigurationError(f"can't write {target}: {error.strerror}; name another file") from error
    return target


def class_table(folder: Path) -> list[dict[str, object]]:
    """A row for each progress file below a folder: the learner, exercises passed by lesson, and the last event's time.

    Raises:
        ConfigurationError: no file there holds progress.
    """
    rows: list[dict[str, object]] = []
    for path in sorted(folder.rglob("*.jsonl")):
        events = read_log(path)
        if not any(event["event"] in ("learner", "check", "quiz", "predict") for event in events):
            continue
        name = next((event["name"] for event in events if event["event"] == "learner"), None)
        exercises = {row.lesson: row.counts["exercises"] for row in standings(events)}
        done = {lesson: f"{passed}/{asked}" for lesson, (passed, asked) in exercises.items() if asked}
        active = max((str(event.get("at", "")) for event in events), default="")
        rows.append(
            {"learner": name or path.relative_to(folder).parts[0].removesuffix(".jsonl"), **done, "last active": active}
        )
    if not rows:
        raise ConfigurationError(
            f"no progress file (.jsonl) below {folder}; learners make one with progress --export FILE"
        )
    return rows


def class_text(rows: Sequence[dict[str, object]]) -> str:
    """The table as text, a column as wide as its widest entry."""
    table = [list(rows[0]), *([str(value) for value in row.values()] for row in rows)]
    widths = [max(map(columns, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(cell + " " * (width - columns(cell)) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    )
