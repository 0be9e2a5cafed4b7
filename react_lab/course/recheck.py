"""The verdicts once more, in a clean process, from the notebooks as they are saved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from react_lab.course import log, parts
from react_lab.course.attempt import Attempt, find_attempt
from react_lab.course.exercise import Exercise, all_exercises
from react_lab.course.judge import Judge, Verdict
from react_lab.course.source import LANGUAGES
from react_lab.course.upgrade import is_lesson
from react_lab.errors import ConfigurationError
from react_lab.language import Language


def recheck(workspace: Path, lesson: str | None, language: Language) -> Iterator[tuple[Exercise, Verdict]]:
    """Check each exercise of a lesson, or of all, as it is saved; what passes is kept, as in the notebook.

    Args:
        workspace: Where the notebooks are.
        lesson: Its number or name, as for `reset`; None for all.
        language: Whose notebook is looked at first; the other one counts where that one is untouched.
    Raises:
        ConfigurationError: there is no such lesson, or it has no exercises.
    """
    chosen = [item for item in all_exercises().values() if lesson is None or is_lesson(item.lesson, lesson)]
    if not chosen:
        names = ", ".join(sorted({item.lesson for item in all_exercises().values()}))
        raise ConfigurationError(f"no lesson with exercises is called {lesson!r}; there are: {names}")
    for exercise in chosen:
        attempt = saved_attempt(exercise, workspace, language)
        if attempt is None:
            yield exercise, Verdict("not attempted")
            continue
        with Judge(workspace) as judge:
            verdict = judge.verdict(exercise, attempt.code)
        log.record("check", workspace, id=exercise.id, outcome=verdict.outcome, symptom=verdict.symptom, clean=True)
        if verdict.outcome == "right":
            parts.keep(exercise, attempt.code, workspace)
        yield exercise, verdict


def saved_attempt(exercise: Exercise, workspace: Path, language: Language) -> Attempt | None:
    """What the learner has written of an exercise, in the one language or the other; None if nothing."""
    for chosen in sorted(LANGUAGES, key=lambda item: item != language):
        attempt = find_attempt(exercise, code_cells(workspace / chosen / f"{exercise.lesson}.ipynb"))
        if attempt and not attempt.is_untouched:
            return attempt
    return None


def code_cells(notebook: Path) -> list[str]:
    """The code of a saved notebook as Python, magics turned into calls; none if it can't be read."""
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    transform = TransformerManager().transform_cell  # type: ignore[no-untyped-call]
    return [transform(source) for source in sources]
