"""How the offline stand-in does desk work: it fills in forms, and writes from notes that stand in its prompt.

A prompt of that kind is a question and, below it, sections: a heading with a colon, then numbered or listed lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from react_lab.models.offline_kit import Card, Kit
from react_lab.models.offline_plans import SAYINGS, Observation, answer_question
from react_lab.models.offline_reading import (
    Question,
    Sentence,
    best_sentence,
    clauses,
    query_of,
    read_question,
    sentences_in,
    words_of,
)
from react_lab.tools.passages import texts_of

SECTION = re.compile(r"\n\n[^\n:：]{1,40}[:：]\n(?=\[\d+\] |- |\d+\. )")
LISTED = re.compile(r"(?m)^\d+\. (.+)$")  # a list to go on with
NOTED = re.compile(r"(?m)^- (.+?) ?(\[[\d, ]+\])$")  # a note and the numbers of its sources
SEARCH = Card("search", "search", {"query": ("string", True, ())})


def without_material(text: str) -> str:
    """The question alone."""
    return SECTION.split(text, maxsplit=1)[0]


def material_of(text: str) -> str:
    """What stands below the question; "" if there is nothing."""
    return text.removeprefix(without_material(text))


def fill_in(schema: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The fields of a form, from a question and its material."""
    question, material = read_question(without_material(text)), material_of(text)
    return {name: _field(name, field, question, material) for name, field in schema.get("properties", {}).items()}


def _field(name: str, schema: Mapping[str, Any], question: Question, material: str) -> Any:
    match schema:
        case {"type": "array", "items": {"type": "object"}}:
            return [{"text": sentence.text, "sources": [number]} for number, sentence in _findings(question, material)]
        case {"type": "array"} if name == "missing":
            found = " ".join(sentence.text for _, sentence in _findings(question, material))
            return [name for name in question.entities if set(words_of(name)) - set(words_of(found))]
        case {"type": "array"}:
            return LISTED.findall(material) if material else _parts(question)
        case {"type": "boolean"}:
            return True
        case {"type": "integer" | "number"}:
            return 0
    return query_of(question.text)


def _parts(question: Question) -> list[str]:
    """What has to be found out, each in a few words."""
    if question.entities and "award" not in question.topic:
        topic = query_of(question.subject)
        return [f"{name} {topic}".strip() for name in question.entities]
    return [query_of(part) or part for part in clauses(question.text)] or [question.text]


def _findings(question: Question, material: str) -> Iterator[tuple[int, Sentence]]:
    """For each part of the question the sentence that answers it, with the number of its passage."""
    numbered = [
        (number, sentence)
        for number, passage in enumerate(texts_of(material), start=1)
        for sentence in sentences_in(f"[1] {passage}")
    ]
    seen: list[str] = []
    for part in _parts(question):
        names = [name for name in question.entities if part.startswith(name)]
        best = best_sentence(words_of(part), (sentence for _, sentence in numbered), must_hold="".join(names))
        if best and best.text not in seen:
            seen.append(best.text)
            yield next(number for number, sentence in numbered if sentence is best), best


def write_from(text: str) -> str:
    """An answer from notes: what they say to the question, then the notes with their sources."""
    question, material = read_question(without_material(text)), material_of(text)
    notes = [(match[1], match[2]) for match in NOTED.finditer(material)]
    if not notes:
        return SAYINGS[question.language]["no tool"]
    gap = "" if question.language == "zh" else " "
    numbers = sorted({int(number) for _, cited in notes for number in re.findall(r"\d+", cited)})
    head = _conclusion(question, [note for note, _ in notes])
    lines = [f"{head}{gap}[{', '.join(map(str, numbers))}]"] if head else []
    return "\n".join([*lines, *(f"{note}{gap}{cited}" for note, cited in notes)])


def _conclusion(question: Question, notes: list[str]) -> str | None:
    """What follows from several notes, such as which of two is higher; None where it takes a tool."""
    if not question.comparison:
        return None
    observed = Observation("\n\n".join(f"[1] {note}" for note in notes), is_error=False)
    plan = answer_question(question, Kit([SEARCH]))
    try:
        _, wishes = next(plan)
        while True:
            _, wishes = plan.send([observed] * len(wishes))
    except StopIteration as end:
        said: str = end.value
    return (
        None
        if said.startswith((SAYINGS[question.language]["unknown"], SAYINGS[question.language]["no tool"]))
        else said
    )
