"""What a learner calls in a notebook: check, hint, solution, show, predict, explain, quiz, progress."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from react_lab.course import log, parts
from react_lab.course.asking import buttons, graded
from react_lab.course.attempt import find_attempt
from react_lab.course.card import Card, Source, put
from react_lab.course.exercise import Exercise, all_exercises, all_quizzes, all_sentences
from react_lab.course.judge import Judge, Verdict
from react_lab.course.source import translate_comments
from react_lab.course.words import WORDS
from react_lab.language import Language, interface_language

Item = TypeVar("Item")
NO_GUESS = ("", "?", "？")


def notebook_language() -> Language:
    """The language of the notebook: what its `language` says, else the folder it lies in, else the person's."""
    said = notebook_names().get("language", Path.cwd().name)
    return said if said in WORDS else interface_language()


def notebook_names() -> Mapping[str, Any]:
    """The names of the running notebook, or of the interactive Python."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    return shell.user_ns if shell else vars(sys.modules["__main__"])


def named(kind: str, items: Mapping[str, Item], id: str) -> Item:
    """The item with that id.

    Raises:
        ValueError: there is none; the message lists the ids that there are.
    """
    if id not in items:
        words = WORDS[notebook_language()]
        raise ValueError(words["no such"].format(words[f"a {kind}"], id, ", ".join(items)))
    return items[id]


def check(id: str) -> None:
    """Check what you wrote: of the cells that you ran, the last that defines what the exercise asks for."""
    exercise, language = named("exercise", all_exercises(), id), notebook_language()
    attempt = find_attempt(exercise, notebook_names().get("In", ()))
    if attempt is None or attempt.is_untouched:
        put(Card(WORDS[language]["not run" if attempt is None else "not attempted"]))
        log.record("check", id=id, outcome="not attempted")
        return
    with Judge() as judge:
        verdict = judge.verdict(exercise, attempt.code)
    log.record("check", id=id, outcome=verdict.outcome, symptom=verdict.symptom, seconds=verdict.seconds)
    if verdict.outcome == "right":
        parts.keep(exercise, attempt.code)
    put(card(exercise, verdict, language))
    if verdict.trace:
        put(player(verdict, language))


def card(exercise: Exercise, verdict: Verdict, language: Language) -> Card:
    """A verdict, as the learner reads it."""
    words = WORDS[language]
    labels = ("line", "doing", "expected", "got")
    rows = [(words[name], str(getattr(verdict, name))) for name in labels if getattr(verdict, name)]
    title = words[verdict.outcome]
    match verdict.outcome:
        case "right":
            name = exercise.part.partition(":")[2]
            return Card(title, "good", notes=[words["kept"].format(name)] if name else [])
        case "broken":
            return Card(title, "bad", rows, [words["mend"].format(sys.executable)])
    known = exercise.say(verdict.symptom, language) or words.get(verdict.symptom, "")
    notes = [*filter(None, [known]), words["hint?"].format(exercise.id)]
    return Card(title, "bad", rows, notes, compared=bool(verdict.expected and verdict.got))


def player(verdict: Verdict, language: Language) -> Any:
    """The learner's run, opened where it parts from what was expected."""
    from react_lab.replay.player import replay
    from react_lab.trace import Trace

    trace = Trace.from_jsonl(verdict.trace)
    shown = replay(trace, lang=language)
    shown.step = verdict.step
    return shown


def hint(id: str | None = None) -> None:
    """The next hint of an exercise, by default of the one that was checked last."""
    language = notebook_language()
    words, events = WORDS[language], log.events_of()
    checked = [event["id"] for event in events if event["event"] == "check" and event.get("id") in all_exercises()]
    if id is None and not checked:
        put(Card(words["no hint"]))
        return
    exercise = named("exercise", all_exercises(), id or checked[-1])
    given = sum(event["event"] == "hint" and event.get("id") == exercise.id for event in events)
    number, total = min(given, len(exercise.hints) - 1), len(exercise.hints)
    log.record("hint", id=exercise.id, number=number + 1)
    more = [words["no more hints"].format(exercise.id)] if number + 1 == total else []
    put(Card(words["hint"].format(number + 1, total), notes=[exercise.hints[number][language], *more]))


def solution(id: str) -> None:
    """A right answer, once you have tried one of your own."""
    exercise, language = named("exercise", all_exercises(), id), notebook_language()
    tried = {event.get("outcome") for event in log.events_of() if event["event"] == "check" and event.get("id") == id}
    words = WORDS[language]
    if not tried - {"not attempted", "broken"}:
        put(Card(words["first try"]))
        return
    log.record("solution", id=id)
    put(Card(words["solution"]), Source(translate_comments(exercise.solution, language).strip("\n")))
    put(Card(words["another"]), Source(translate_comments(exercise.alternates[0], language).strip("\n")))


def show(part: Any) -> None:
    """The source of a part of the library as it is installed, with its line numbers."""
    part = inspect.unwrap(part) if callable(part) else part
    lines, first = inspect.getsourcelines(part)
    path = Path(inspect.getsourcefile(part) or "")
    place = "/".join(path.parts[path.parts.index("react_lab") :]) if "react_lab" in path.parts else path.name
    numbered = "".join(f"{first + offset:4}  {line}" for offset, line in enumerate(lines))
    put(Card(f"{place}, {first}-{first + len(lines) - 1}"), Source(numbered.rstrip("\n")))


def predict(id: str, guess: Any, came: Any) -> None:
    """Put what came beside what you guessed; a wrong guess costs nothing."""
    words = WORDS[notebook_language()]
    if isinstance(guess, str) and guess.strip() in NO_GUESS:
        put(Card(words["no guess"], rows=[(words["came"], str(came))]))
        return
    accepted = came if isinstance(came, tuple) else (came,)
    right = any(says(str(item), str(guess)) for item in accepted)
    log.record("predict", id=id, guess=str(guess), right=right)
    rows = [(words["guess"], str(guess)), (words["came"], str(accepted[0]))]
    put(Card(words["good guess" if right else "bad guess"], "good" if right else "plain", rows))


def says(came: str, guess: str) -> bool:
    """Whether a guess is what came, but for case, blanks and quotes, or stands in it as a whole word or number."""
    plain = ["".join(text.casefold().split()).strip("'\"`.。") for text in (came, guess)]
    word = re.escape(guess.strip())
    return plain[0] == plain[1] or bool(
        len(word) > 1 and re.search(rf"(?<!\w){word}(?!\w)", came, re.ASCII | re.IGNORECASE)
    )


def explain(id: str, sentence: str = "") -> None:
    """Say it in a sentence of your own. It is kept, and you see how we would say it."""
    item, language = named("sentence", all_sentences(), id), notebook_language()
    words = WORDS[language]
    if not sentence.strip(" .…。？?"):
        put(Card(item.question[language], notes=[words["explain"]]))
        return
    log.record("explain", id=id, text=sentence)
    said = [words["yours"].format(sentence), words["ours"].format(item.answer[language])]
    put(Card(item.question[language], "good", notes=said))


def quiz(id: str, choice: str | None = None) -> None:
    """A question with choices: click one, or name its letter."""
    item, language = named("quiz", all_quizzes(), id), notebook_language()
    if choice is not None:
        put(graded(item, choice, language))
        return
    put(buttons(item, language))


def progress() -> None:
    """Where you stand in the course."""
    from react_lab.course.standing import Overview

    put(Overview(log.events_of(), notebook_language()))
