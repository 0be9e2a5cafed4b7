"""What a lesson asks of a learner: exercises, quizzes, and sentences to write, each in both languages."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from react_lab.course import exercises
from react_lab.language import Language

Texts = Mapping[Language, str]
Check = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class Wrong:
    """An answer that is known to be wrong, and what to say to it.

    `symptom` is how it shows: the check yields it, so any other code that goes wrong in the same way gets the same
    message. `raised:TypeError` is code that raises, `timeout` code that does not end.
    """

    symptom: str
    code: str
    say: Texts


@dataclass(frozen=True)
class Exercise:
    """One exercise. Comments in `starter` and `solution` are `# en:` and `# zh:` lines, as in a lesson's source.

    `check` gets the names that the learner's code defined, and raises a `Difference` (expect.py) if one of them does
    not do what it should. `part` is the library's own, such as `react_lab.tools.base:Tool`: it must pass the check too,
    and takes the learner's place in later lessons until the exercise is done.
    """

    id: str
    lesson: str
    starter: str
    solution: str
    alternates: tuple[str, ...]
    wrong: tuple[Wrong, ...]
    hints: tuple[Texts, Texts, Texts]  # a nudge, the place, the shape
    check: Check
    part: str = ""
    limit_s: float = 3.0

    @property
    def name(self) -> str:
        """What an answer has to define: the last class or function of the starter."""
        built = [item for item in ast.parse(self.starter).body if isinstance(item, ast.ClassDef | ast.FunctionDef)]
        return built[-1].name

    def say(self, symptom: str, language: Language) -> str:
        """The message to a known wrong answer; "" to any other."""
        return next((item.say[language] for item in self.wrong if item.symptom == symptom), "")


@dataclass(frozen=True)
class Quiz:
    """A question with choices, of which one is right. `lesson` is what it is about; any later lesson may ask it."""

    id: str
    lesson: str
    question: Texts
    choices: tuple[Texts, ...]
    right: int  # from 0
    why: Texts


@dataclass(frozen=True)
class Sentence:
    """Something to explain in a sentence; the model answer is shown after the learner's own."""

    id: str
    lesson: str
    question: Texts
    answer: Texts


def both(en: str, zh: str) -> Texts:
    """A text in both languages."""
    return {"en": en, "zh": zh}


def defined(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement at the top of a cell defines."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (item.id for target in targets for item in ast.walk(target) if isinstance(item, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (item.asname or item.name.split(".")[0] for item in names)


# -- all of them ---------------------------------------------------------------------------------------------


@cache
def all_of(kind: str) -> dict[str, Any]:
    """By id, all `EXERCISES`, `QUIZZES` or `SENTENCES` of the lessons, in their order.

    Raises:
        ValueError: two have one id.
    """
    found: dict[str, Any] = {}
    for module in sorted(item.name for item in pkgutil.iter_modules(exercises.__path__)):
        for item in getattr(importlib.import_module(f"{exercises.__name__}.{module}"), kind, ()):
            if item.id in found:
                raise ValueError(f"two of {kind} have the id {item.id!r}")
            found[item.id] = item
    return found


def all_exercises() -> dict[str, Exercise]:
    return all_of("EXERCISES")


def all_quizzes() -> dict[str, Quiz]:
    return all_of("QUIZZES")


def all_sentences() -> dict[str, Sentence]:
    return all_of("SENTENCES")
