"""What an author is told about the course: every exercise is tried, every text is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from react_lab.course import prose
from react_lab.course.attempt import find_attempt
from react_lab.course.build import LESSONS, read_lesson
from react_lab.course.exercise import Exercise, all_exercises, all_quizzes, all_sentences
from react_lab.course.judge import Judge, Verdict
from react_lab.course.source import LANGUAGES, Cell
from react_lab.errors import ConfigurationError
from react_lab.language import CJK

MAX_SECONDS = 1.0
MAX_LONGER = 2.0  # times the longest of the wrong choices
FEWEST = {"alternates": 2, "wrong": 4, "hints": 3}
TAGGED = {"predict": 3, "exercise": 1, "break": 1, "explain": 1, "live": 1}  # in a lesson with exercises


@dataclass
class Report:
    """How much there is, and what is wrong with it."""

    lessons: int = 0
    exercises: int = 0
    solutions: int = 0
    wrong_answers: int = 0
    hints: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = [f"{value} {name.replace('_', ' ')}" for name, value in self.as_dict().items() if name != "problems"]
        return "\n".join([*self.problems, ", ".join([*counts, f"{len(self.problems)} problems"])])

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def lint(only: str | None = None, *, folder: Path = LESSONS, say: Callable[[str], None] = lambda _: None) -> Report:
    """Try each exercise as a learner would, and read each text.

    Args:
        only: A part of a lesson's name, such as `01`; all by default.
        folder: `lessons/` of a clone.
        say: Called with the name of each lesson and exercise as it is begun.
    Raises:
        ConfigurationError: there are no sources; an installed package has notebooks only.
    """
    report = Report()
    sources = [path for path in sorted((folder / "source").glob("*.py")) if only is None or only in path.stem]
    if not sources:
        raise ConfigurationError(f"no lesson {only or ''} in {folder / 'source'}; run it from a clone")
    for source in sources:
        say(source.stem)
        try:
            cells = read_lesson(source)
        except ValueError as error:
            report.problems.append(str(error))
            continue
        report.lessons += 1
        problems = [*structure(source.stem, cells), *questions(source.stem), *texts(source, cells, folder.parent)]
        report.problems += [f"{source.stem}: {problem}" for problem in problems]
        with Judge() as judge:
            judge.start()
            for exercise in all_exercises().values():
                if exercise.lesson == source.stem:
                    say(f"  {exercise.id}")
                    count(report, exercise)
                    found = [*shape(exercise), *tries(exercise, cells, judge)]
                    report.problems += [f"{exercise.id}: {problem}" for problem in found]
    return report


def count(report: Report, exercise: Exercise) -> None:
    report.exercises += 1
    report.solutions += 1 + len(exercise.alternates)
    report.wrong_answers += len(exercise.wrong)
    report.hints += len(exercise.hints)


# -- exercises -----------------------------------------------------------------------------------------------


def shape(exercise: Exercise) -> Iterator[str]:
    """What an exercise has too little of, or says twice."""
    for name, least in FEWEST.items():
        if len(getattr(exercise, name)) < least:
            yield f"{len(getattr(exercise, name))} {name}; at least {least} are needed"
    for language in LANGUAGES:
        said = [wrong.say[language].strip() for wrong in exercise.wrong]
        if len(set(said)) < len(said) or not all(said):
            yield f"two wrong answers have the same message in {language}, or one has none"
    symptoms = [wrong.symptom for wrong in exercise.wrong]
    if len(set(symptoms)) < len(symptoms):
        yield "two wrong answers have the same symptom"
    chinese = [wrong.say["zh"] for wrong in exercise.wrong] + [text["zh"] for text in exercise.hints[:2]]
    yield from (f"not in Chinese: {text[:30]!r}" for text in chinese if not CJK.search(text))


def tries(exercise: Exercise, cells: Sequence[Cell], judge: Judge) -> Iterator[str]:
    """Whether each answer gets the verdict that it should get, in the notebook of the lesson and in time."""
    untouched = find_attempt(exercise, notebook_with(exercise, cells, exercise.starter))
    if untouched is None or not untouched.is_untouched:
        yield "the starter does not count as not attempted"
    right = {"solution": exercise.solution, **{f"alternate {i}": code for i, code in enumerate(exercise.alternates, 1)}}
    if exercise.part:
        ours = judge.verdict(exercise, "from {} import {}".format(*exercise.part.split(":")))
        if ours.outcome != "right":
            yield f"the library's own part is not right: {ours}"
    for name, code in right.items():
        verdict = attempt(exercise, cells, code, judge)
        if verdict.outcome != "right":
            yield f"{name} is not right: {verdict}"
        yield from slow(name, verdict)
    for wrong in exercise.wrong:
        verdict = attempt(exercise, cells, wrong.code, judge)
        if verdict.symptom != wrong.symptom:
            yield f"wrong answer {wrong.symptom} shows as {verdict.outcome} {verdict.symptom}: {verdict}"
        elif not verdict.got or (verdict.outcome == "wrong" and not verdict.expected and "raised" not in wrong.symptom):
            yield f"wrong answer {wrong.symptom} does not say what was expected and what came"
        if wrong.symptom != "timeout":
            yield from slow(wrong.symptom, verdict)


def slow(name: str, verdict: Verdict) -> Iterator[str]:
    if verdict.seconds > MAX_SECONDS:
        yield f"the check of {name} takes {verdict.seconds} s; it may take {MAX_SECONDS:g} s"


def attempt(exercise: Exercise, cells: Sequence[Cell], code: str, judge: Judge) -> Verdict:
    """The verdict on an answer that stands in its cell of the otherwise untouched lesson."""
    found = find_attempt(exercise, notebook_with(exercise, cells, code))
    if found is None:
        return Verdict("not attempted")
    return Verdict("not attempted", "untouched") if found.is_untouched else judge.verdict(exercise, found.code)


def notebook_with(exercise: Exercise, cells: Sequence[Cell], code: str) -> list[str]:
    """The code cells of a lesson, all run in order, with an answer in the exercise's cell."""
    return [
        code if f"exercise:{exercise.id}" in cell.tags else cell.text["en"] for cell in cells if cell.kind == "code"
    ]


# -- lessons -------------------------------------------------------------------------------------------------

CALL = re.compile(r'^\s*(check|predict|explain|quiz)\("([\w-]+)"', re.MULTILINE)


def structure(lesson: str, cells: Sequence[Cell]) -> Iterator[str]:
    """What every lesson has; ids that name nothing, or stand nowhere."""
    tags = [tag for cell in cells for tag in cell.tags]
    code = "\n".join(cell.text["en"] for cell in cells if cell.kind == "code")
    calls = CALL.findall(code)
    own = [item for item in all_exercises().values() if item.lesson == lesson]
    known: Mapping[str, set[str]] = {
        "check": set(all_exercises()),
        "quiz": set(all_quizzes()),
        "explain": set(all_sentences()),
        "predict": {tag.removeprefix("predict:") for tag in tags if tag.startswith("predict:")},
    }
    for kind, id in calls:
        if id not in known[kind]:
            yield f"{kind}({id!r}) names nothing"
    for id in known["predict"] - {id for kind, id in calls if kind == "predict"}:
        yield f"the guess predict:{id} is never compared with what came"
    prefix = lesson.split("_", 1)[1] + "-"
    yield from (f"predict:{id} must begin with {prefix}" for id in known["predict"] if not id.startswith(prefix))
    for item in own:
        if f"exercise:{item.id}" not in tags or ("check", item.id) not in calls:
            yield f"exercise {item.id} has no cell tagged exercise:{item.id}, or no check under it"
    if own:
        yield from missing(lesson, cells, tags, [id for kind, id in calls if kind == "quiz"])


def missing(lesson: str, cells: Sequence[Cell], tags: Sequence[str], quizzes: Sequence[str]) -> Iterator[str]:
    for name, least in TAGGED.items():
        if (there := sum(tag.split(":")[0] == name for tag in tags)) < least:
            yield f"{there} cells tagged {name}; at least {least} are needed"
    recalled = [id for id in quizzes if id in all_quizzes() and all_quizzes()[id].lesson < lesson]
    if len(recalled) < 2:
        yield f"{len(recalled)} questions from earlier lessons; two are needed"
    if not any(cell.kind == "code" and "show(" in cell.text["en"] for cell in cells):
        yield "the library's code is never shown with show(...)"
    if not any(cell.kind == "code" and "progress()" in cell.text["en"] for cell in cells):
        yield "progress() is missing at the top"


def questions(lesson: str) -> Iterator[str]:
    """Quizzes whose right choice can be told by its length, or isn't there; texts that are not in Chinese."""
    for item in all_quizzes().values():
        if item.lesson != lesson:
            continue
        for language in LANGUAGES:
            choices = [choice[language] for choice in item.choices]
            others = [len(text) for place, text in enumerate(choices) if place != item.right]
            if len(others) == len(choices) or len(set(choices)) < len(choices):
                yield f"quiz {item.id}: no choice number {item.right}, or the same one twice"
            elif len(choices[item.right]) > MAX_LONGER * max(others):
                yield f"quiz {item.id}: in {language} the right choice can be told by its length"
        if not all(CJK.search(text["zh"]) for text in (item.question, item.why)):
            yield f"quiz {item.id} is not in Chinese"
    for sentence in all_sentences().values():
        if sentence.lesson == lesson and not all(
            CJK.search(text["zh"]) for text in (sentence.question, sentence.answer)
        ):
            yield f"explain {sentence.id} is not in Chinese"


def texts(source: Path, cells: Sequence[Cell], root: Path) -> Iterator[str]:
    """Words, names and translations."""
    yield from prose.new_terms(cells)
    yield from prose.unknown_names(source.stem, cells, root)
    for cell in cells:
        for language in LANGUAGES:
            yield from prose.model_names(cell.text[language])
            if cell.kind == "markdown":
                yield from prose.misused_terms(cell.text[language], language)
    for place, language, text in prose.texts_of(source.stem):
        yield from (
            f"{place} {problem}" for problem in (*prose.misused_terms(text, language), *prose.model_names(text))
        )
    for key in prose.untranslated(source, cells):
        yield (
            f"cell {key}: the Chinese is older than the English; if it still says the same: "
            f"python -m react_lab.course.build --translated {source.stem}"
        )
