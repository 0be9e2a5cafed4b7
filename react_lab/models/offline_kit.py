"""The tools at hand, as the offline stand-in sees them: which of them is good for what, and how to call it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from react_lab.language import language_of
from react_lab.models.offline_reading import (
    ATTRIBUTES,
    CONCEPTS,
    NUMBER,
    Question,
    clauses,
    numbers_in,
    query_of,
    words_of,
)


@dataclass(frozen=True)
class Wish:
    """A call that a plan asks for."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The same for a wish and for the action that was written for it, in any syntax."""
        return " ".join([self.name, *(str(value) for value in self.arguments.values())])


@dataclass(frozen=True)
class Card:
    """A tool as a model sees it: parameters are name → (type, required, choices)."""

    name: str
    description: str
    parameters: Mapping[str, tuple[str, bool, tuple[Any, ...]]]

    @property
    def words(self) -> set[str]:
        spaced = re.sub(r"[_-]", " ", self.name)
        return set(words_of(f"{spaced} {' '.join(self.parameters)} {self.description}"))

    def of_type(self, *types: str) -> list[str]:
        return [name for name, (kind, _, _) in self.parameters.items() if kind in types]


SIGNS = {"*": "multiply", "+": "add", "-": "subtract", "/": "divide"}


class Kit:
    """The tools at hand, and which of them is good for what: judged by names and descriptions alone."""

    def __init__(self, cards: Sequence[Card]) -> None:
        self.cards = {card.name: card for card in cards}
        usable = [card for card in cards if "code" not in card.parameters]  # a stand-in can't write programs
        usable.sort(key=lambda card: card.name != "search")  # rather than search_notes and the like
        self.search = next((c for c in usable if "search" in c.words and c.of_type("string")), None)
        others = [c for c in usable if c is not self.search]
        self.calculator = next((c for c in others if "calculate" in c.words and len(c.of_type("string")) == 1), None)
        self.others = [c for c in others if c is not self.calculator]

    def special(self, question: Question) -> str | None:
        """A tool, neither search nor calculator, whose words the question shares."""
        asked = set(words_of(question.text))
        best = max(self.others, key=lambda card: len(_shared(card, asked)), default=None)
        return best.name if best and _shared(best, asked) else None

    def searching(self, query: str) -> Wish:
        assert self.search is not None
        return Wish(self.search.name, {self.search.of_type("string")[0]: query})

    def calculation(self, expression: str) -> Wish | None:
        if self.calculator is not None:
            return Wish(self.calculator.name, {self.calculator.of_type("string")[0]: expression})
        two = re.fullmatch(rf"\(?(-?{NUMBER})\s*([*/+-])\s*(-?{NUMBER})\)?", expression)
        for card in self.cards.values():
            numbers = card.of_type("number", "integer")
            if two and len(numbers) == 2 and SIGNS[two[2]] in card.words:
                return Wish(card.name, dict(zip(numbers, (_number(two[1]), _number(two[3])), strict=True)))
        return None

    def arguments(self, name: str, question: Question, *, entity: str | None = None) -> dict[str, Any]:
        """Fill a tool's parameters from the question: choices it names, numbers in order, the thing it is about."""
        card = self.cards[name]
        numbers = [_number(text) for text in numbers_in(question.text)]
        filled: dict[str, Any] = {}
        for parameter, (kind, required, choices) in card.parameters.items():
            named = [choice for choice in choices if str(choice).casefold() in question.text.casefold()]
            if choices:
                value = named[0] if named else choices[0] if required else None
            elif kind in ("number", "integer"):
                value = numbers.pop(0) if numbers else 0 if required else None
            elif kind == "array":
                value = [query_of(part) for part in clauses(question.text)]
            else:
                value = (entity or _subject_of(question, card)) if required else None
            if value is not None:
                filled[parameter] = value
        return filled


def _shared(card: Card, asked: set[str]) -> set[str]:
    """What a question has of a tool: its whole name, and the concepts in its first sentence."""
    name = set(words_of(re.sub(r"[_-]", " ", card.name)))
    first = re.split(r"[.。\n]", card.description, maxsplit=1)[0]
    return (name if name <= asked else set()) | (ATTRIBUTES.intersection(words_of(first)) & asked)


def _subject_of(question: Question, card: Card) -> str:
    """What a question is about, for a tool that takes a text: the quoted words, else those that are not the tool's."""
    if quoted := re.search(r"[\"“'‘「](.+?)[\"”'’」]", question.text):
        return quoted[1]
    text = question.text
    for word in sorted(
        (w for w in CONCEPTS if language_of(w) == "zh" and CONCEPTS[w] in card.words), key=len, reverse=True
    ):
        text = text.replace(word, " ")
    words = [word for word in query_of(text).split() if not set(words_of(word)) & card.words]
    capitals = [word for word in words if word[:1].isupper()]
    return " ".join(capitals or words) or question.text


def _number(text: str) -> int | float:
    return float(text.replace(",", "")) if "." in text else int(text.replace(",", ""))
