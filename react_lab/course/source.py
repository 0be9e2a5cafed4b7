"""A lesson's source: one Python file, from which the notebook of each language is made.

The file is in percent format, which editors know and run cell by cell:

    # %% [markdown] lang="en"
    # ## Ask a question
    # %% [markdown] lang="zh"
    # ## 提一个问题

    # %% lang="en"
    question = "What is 6 × 7?"
    # %% lang="zh"
    question = "6 × 7 等于多少？"

    # %% tags=["predict:first"]
    # en: Nothing runs yet.
    # zh: 这里还不会运行。
    trace = agent.run(question)

- Prose stands once in each language, English first.
- Code stands once, for both. Its comments are `# en:` and `# zh:` lines, side by side.
- Where the languages need different texts, a pair of code cells assigns strings to the same names, no more.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, get_args

from react_lab.language import Language

LANGUAGES: tuple[Language, ...] = get_args(Language)


@dataclass(frozen=True)
class Cell:
    """One cell of a lesson, in every language."""

    kind: Literal["markdown", "code"]
    text: Mapping[Language, str]
    tags: tuple[str, ...] = ()


def notebook(lesson: str, cells: Sequence[Cell], language: Language) -> dict[str, Any]:
    """The notebook of a lesson (nbformat 4.5), without outputs; the same cells make the same notebook."""
    return {
        "cells": [notebook_cell(cell, key, language) for cell, key in zip(cells, cell_ids(lesson, cells), strict=True)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "react_lab": {"language": language, "lesson": lesson},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def notebook_cell(cell: Cell, key: str, language: Language) -> dict[str, Any]:
    data: dict[str, Any] = {
        "cell_type": cell.kind,
        "id": key,
        "metadata": {"tags": list(cell.tags)} if cell.tags else {},
        "source": cell.text[language].splitlines(keepends=True),
    }
    return data | {"execution_count": None, "outputs": []} if cell.kind == "code" else data


def cell_ids(lesson: str, cells: Iterable[Cell]) -> Iterator[str]:
    """Ids that the languages share and that stay when text is edited: lesson, section, place in the section.

    A new cell so changes the ids behind it in its section only.
    """
    section, places = "", Counter[str]()
    for cell in cells:
        if cell.kind == "markdown" and (heading := re.search(r"^#+ .+", cell.text["en"], re.MULTILINE)):
            section = heading[0]
        places[section] += 1
        key = f"{lesson}\n{section}\n{places[section]}"
        yield hashlib.sha256(key.encode()).hexdigest()[:12]


def to_json(data: Mapping[str, Any]) -> str:
    """A notebook as the text of its file."""
    return json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


# -- reading the source --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """What stands between two `# %%` lines."""

    line: int
    kind: Literal["markdown", "code"]
    language: Language | None
    tags: tuple[str, ...]
    text: str


def read_source(text: str) -> list[Cell]:
    """The cells of a lesson.

    Raises:
        ValueError: the source breaks a rule above; the message names the line.
    """
    parts = list(read_parts(text))
    cells = []
    while parts:
        part = parts.pop(0)
        if part.language is None:
            cells.append(shared(part))
        else:
            cells.append(pair(part, parts.pop(0) if parts else None))
    return cells


def read_parts(text: str) -> Iterator[Part]:
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("# %%")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield read_part(start + 1, lines[start], lines[start + 1 : end])


MARKER = re.compile(r'# %%(?P<prose> \[markdown\])?(?: lang="(?P<language>en|zh)")?(?: tags=(?P<tags>\[.*\]))?')


def read_part(number: int, marker: str, lines: Sequence[str]) -> Part:
    found = MARKER.fullmatch(marker.rstrip())
    if found is None:
        raise ValueError(f'line {number}: {marker!r} is not like # %% [markdown] lang="en" tags=["name"]')
    try:
        tags = tuple(json.loads(found["tags"] or "[]"))
    except ValueError:
        raise ValueError(f"line {number}: tags={found['tags']} is not a list of names") from None
    if found["prose"]:
        lines = [uncomment(number + offset, line) for offset, line in enumerate(lines, start=1)]
    kind: Literal["markdown", "code"] = "markdown" if found["prose"] else "code"
    language = next((item for item in LANGUAGES if item == found["language"]), None)
    return Part(number, kind, language, tags, "\n".join(lines))


def uncomment(number: int, line: str) -> str:
    if line.strip() and not line.startswith("#"):
        raise ValueError(f"line {number}: prose lines start with #, not {line[:20]!r}")
    return re.sub(r"^# ?", "", line).rstrip()


def shared(part: Part) -> Cell:
    """A cell of code for both languages: only its comments differ."""
    if part.kind == "markdown":
        raise ValueError(f'line {part.line}: prose needs a language, lang="en" or lang="zh"')
    check_comments(part)
    text = {language: translate_comments(part.text, language).strip("\n") for language in LANGUAGES}
    parse(part, part.text)
    if len({ast.dump(parse(part, item)) for item in text.values()}) > 1:
        raise ValueError(f"line {part.line}: this code is not the same in both languages")
    return Cell("code", text, part.tags)


def pair(english: Part, chinese: Part | None) -> Cell:
    """A cell whose text stands in both languages."""
    if (
        chinese is None
        or (english.language, chinese.language) != ("en", "zh")
        or (english.kind, english.tags) != (chinese.kind, chinese.tags)
    ):
        raise ValueError(f'line {english.line}: an lang="en" cell and its lang="zh" twin, with equal tags, go together')
    if english.kind == "code" and assigned_names(english) != assigned_names(chinese):
        raise ValueError(f"line {chinese.line}: the two languages must set the same names, in the same order")
    text: dict[Language, str] = {"en": english.text.strip("\n"), "zh": chinese.text.strip("\n")}
    return Cell(english.kind, text, english.tags)


def parse(part: Part, text: str) -> ast.Module:
    """The code of a cell, which may hold `await`, as in a notebook.

    Raises:
        ValueError: it is no Python.
    """
    try:
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(text, "<cell>", "exec", flags=flags, dont_inherit=True)
    except SyntaxError as error:
        raise ValueError(f"line {part.line + (error.lineno or 0)}: {error.msg}") from error
    assert isinstance(tree, ast.Module)
    return tree


def assigned_names(part: Part) -> list[str]:
    """The names that a cell of nothing but `name = "text"` lines sets."""
    names = []
    for statement in parse(part, part.text).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str())):
                names.append(name)
            case _:
                line = part.line + statement.lineno
                raise ValueError(f'line {line}: code in one language may only be name = "text"')
    return names


COMMENT = re.compile(r"(?P<indent>\s*)# (?P<language>en|zh):(?P<text>.*)")


def check_comments(part: Part) -> None:
    """Comments stand in both languages, side by side."""
    found = [COMMENT.fullmatch(line) for line in part.text.split("\n")]
    for tagged, group in groupby(enumerate(found, start=1), key=lambda item: item[1] is not None):
        block = list(group)
        if tagged and {match["language"] for _, match in block if match} != set(LANGUAGES):
            raise ValueError(f"line {part.line + block[0][0]}: this comment stands in one language only")


def translate_comments(text: str, language: Language) -> str:
    """Code with the comments of one language."""
    lines = []
    for line in text.split("\n"):
        match = COMMENT.fullmatch(line)
        if match is None:
            lines.append(line)
        elif match["language"] == language:
            lines.append(f"{match['indent']}#{match['text']}")
    return "\n".join(lines)
