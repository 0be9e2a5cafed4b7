"""What the command line does for the course: each function says what a person reads and gives back an exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from react_lab.course import log, standing
from react_lab.course.desk import card
from react_lab.course.recheck import recheck
from react_lab.course.upgrade import reset, upgrade
from react_lab.course.words import WORDS
from react_lab.errors import ConfigurationError
from react_lab.language import Language

Say = Callable[[str], None]


def workspace_of(folder: Path | None) -> Path:
    """The workspace that a person means: the one they name, the one they are in, or the one that `lab` makes.

    Raises:
        ConfigurationError: there is none.
    """
    usual = Path("react-lab-workspace")
    workspace = log.find_workspace(folder or (usual if usual.is_dir() else None))
    if not (workspace / log.PLACE).is_dir():
        raise ConfigurationError(f"{workspace} is no workspace; make one with react-lab lab, or name yours with --dir")
    return workspace


def check(folder: Path | None, lesson: str | None, language: Language, *, say: Say = print) -> int:
    """Repeat the verdicts from the saved notebooks; 0 if everything asked for is right."""
    outcomes = set()
    for exercise, verdict in recheck(workspace_of(folder), lesson, language):
        outcomes.add(verdict.outcome)
        if verdict.outcome in ("right", "not attempted"):
            say(f"{exercise.id:20} {WORDS[language][verdict.outcome]}")
        else:
            say(f"{exercise.id:20} {card(exercise, verdict, language)!r}")
    return 0 if outcomes == {"right"} else 1


def progress(
    folder: Path | None, language: Language, *, to: Path | None = None, name: str = "", say: Say = print
) -> int:
    """Show the table, or with `to` write the file for a teacher."""
    workspace = workspace_of(folder)
    if to is not None:
        say(str(standing.export(workspace, to, name)))
        return 0
    say(repr(standing.Overview(log.events_of(workspace), language)))
    return 0


def review(folder: Path | None, language: Language, *, ask: Callable[[str], str] = input, say: Say = print) -> int:
    standing.review(workspace_of(folder), language, ask=ask, say=say)
    return 0


def upgrade_lessons(folder: Path | None, language: Language, *, say: Say = print) -> int:
    """Bring the workspace up to date and say what became of each notebook that had been worked in."""
    words, changes = WORDS[language], upgrade(workspace_of(folder))
    for change in changes:
        if change.new is None:
            say(words["unreadable"].format(change.name))
        else:
            say(words["upgraded"].format(change.name, change.new, change.own, change.backup))
    say(words["up to date"])
    return 1 if any(change.new is None for change in changes) else 0


def reset_lesson(folder: Path | None, lesson: str, language: Language, *, say: Say = print) -> int:
    for path in reset(workspace_of(folder), lesson):
        say(WORDS[language]["backup"].format(path))
    say(WORDS[language]["reset"].format(lesson))
    return 0


def class_progress(folder: Path, *, as_json: bool = False, say: Say = print) -> int:
    """A row for each learner whose progress file lies in a folder."""
    rows = standing.class_table(folder)
    say(json.dumps(rows, ensure_ascii=False) if as_json else standing.class_text(rows))
    return 0


def lint(lesson: str | None, *, as_json: bool = False, say: Say = print) -> int:
    """Try every exercise and read every text; 0 without problems."""
    from react_lab.course.lint import lint as examine

    report = examine(lesson)
    say(json.dumps(report.as_dict(), ensure_ascii=False) if as_json else str(report))
    return 1 if report.problems else 0
