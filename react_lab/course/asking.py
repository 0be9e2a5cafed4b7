"""A question with choices: to click in a notebook, to answer by letter anywhere."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from react_lab.course import log
from react_lab.course.card import Card
from react_lab.course.exercise import Quiz
from react_lab.course.words import WORDS
from react_lab.language import Language


def letters(item: Quiz, language: Language) -> dict[str, str]:
    return {chr(ord("a") + number): text[language] for number, text in enumerate(item.choices)}


def graded(item: Quiz, choice: str, language: Language, workspace: Path | None = None) -> Card:
    """Record a choice, and say why the right one is right."""
    choices, words = letters(item, language), WORDS[language]
    letter = choice.strip().casefold()
    if letter not in choices:
        raise ValueError(words["no such"].format(words["a choice"], choice, ", ".join(choices)))
    right = letter == chr(ord("a") + item.right)
    log.record("quiz", workspace, id=item.id, choice=letter, right=right)
    return Card(words["quiz right" if right else "quiz wrong"], "good" if right else "bad", notes=[item.why[language]])


def buttons(item: Quiz, language: Language) -> Any:
    """The question as a widget; without widgets it reads as text."""
    import ipywidgets  # type: ignore[import-untyped]

    choices, words = letters(item, language), WORDS[language]
    answer = ipywidgets.Output()

    def choose(letter: str) -> None:
        answer.clear_output()
        answer.append_display_data(graded(item, letter, language))

    boxes = []
    for letter, text in choices.items():
        button = ipywidgets.Button(description=f"{letter}  {text}", layout={"width": "auto", "max_width": "60em"})
        button.add_class("react-lab-choice")
        button.on_click(lambda _, letter=letter: choose(letter))
        boxes.append(button)
    lines = [item.question[language], *(f"  {letter}  {text}" for letter, text in choices.items())]
    text = "\n".join([*lines, words["quiz"].format(item.id)])
    style = "<style>.react-lab-choice { text-align: left; white-space: normal; height: auto }</style>"
    question = ipywidgets.HTML(f"{style}<strong>{html.escape(item.question[language])}</strong>")
    return Widget(ipywidgets.VBox([question, *boxes, answer]), text)


class Widget:
    """A widget, and the text that takes its place where there are no widgets."""

    def __init__(self, widget: Any, text: str) -> None:
        self.widget, self.text = widget, text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **options: Any) -> Any:
        data = self.widget._repr_mimebundle_(**options)
        data = data[0] if isinstance(data, tuple) else data
        return {**data, "text/plain": self.text}
