"""What the prose of a lesson must keep: the glossary's words, names that exist, fresh translations."""

from __future__ import annotations

import ast
import builtins
import hashlib
import json
import keyword
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import react_lab
from react_lab.course.exercise import Texts, all_exercises, all_quizzes, all_sentences
from react_lab.course.glossary import GLOSSARY, TERMS
from react_lab.course.source import LANGUAGES, Cell, cell_ids
from react_lab.language import Language

MAX_NEW = 2
MODEL_NAME = re.compile(
    r"\b(claude|gpt|gemini|deepseek|qwen|llama|mistral|glm|kimi|grok)-?[a-z]*-?\d[\w.-]*|\bo[134]-(mini|pro)\b",
    re.IGNORECASE,
)
IN_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
FILE = re.compile(r"[\w./-]*[\w-]\.(?:py|md|ipynb|jsonl?|toml|txt|html)|[\w-]+/[\w./-]*")
OTHERS = frozenset(("?", ".env", "pip", "import"))  # files of the learner's own, and words


def texts_of(lesson: str) -> Iterator[tuple[str, Language, str]]:
    """Place, language and text of all that a lesson's exercises and questions say."""
    found: list[tuple[str, Texts]] = []
    for item in all_exercises().values():
        if item.lesson == lesson:
            found += [(f"hint {number} of {item.id}", text) for number, text in enumerate(item.hints, start=1)]
            found += [(f"message to {wrong.symptom} of {item.id}", wrong.say) for wrong in item.wrong]
    for quiz in all_quizzes().values():
        if quiz.lesson == lesson:
            found += [(f"quiz {quiz.id}", text) for text in (quiz.question, *quiz.choices, quiz.why)]
    for sentence in all_sentences().values():
        if sentence.lesson == lesson:
            found += [(f"explain {sentence.id}", text) for text in (sentence.question, sentence.answer)]
    for place, texts in found:
        yield from ((place, language, texts[language]) for language in LANGUAGES)


def misused_terms(text: str, language: Language) -> Iterator[str]:
    plain = re.sub(r"`[^`]*`", "", text)
    for term in GLOSSARY:
        for word in term.misused(plain, language):
            yield f"says {word!r}; the glossary says {term.in_language(language)!r}"


def new_terms(cells: Sequence[Cell]) -> Iterator[str]:
    """Problems with the cells tagged `new:TERM`: two a lesson, known to the glossary, and there in both languages."""
    new = [(cell, tag.removeprefix("new:")) for cell in cells for tag in cell.tags if tag.startswith("new:")]
    if len(new) > MAX_NEW:
        yield f"{len(new)} new terms ({', '.join(name for _, name in new)}); a lesson has at most {MAX_NEW}"
    for cell, name in new:
        if name not in TERMS:
            yield f"new:{name} is not in the glossary"
            continue
        for language in LANGUAGES:
            if TERMS[name].in_language(language).casefold() not in cell.text[language].casefold():
                yield f"the cell tagged new:{name} does not say {TERMS[name].in_language(language)!r} in {language}"


def model_names(text: str) -> Iterator[str]:
    yield from (f"names a model, {found[0]!r}: models go, lessons stay" for found in MODEL_NAME.finditer(text))


def unknown_names(lesson: str, cells: Sequence[Cell], root: Path) -> Iterator[str]:
    """Code in the prose that names nothing: neither in the lesson's code, nor of the library, Python or the files."""
    known = names_in_code(lesson, cells)
    for cell in cells:
        for language in LANGUAGES if cell.kind == "markdown" else ():
            prose = re.sub(r"```.*?```", "", cell.text[language], flags=re.DOTALL)
            for found in IN_CODE.findall(prose):
                if not exists(found, known, root):
                    yield f"`{found}` in the {language} prose is neither in the code nor a file"


def names_in_code(lesson: str, cells: Sequence[Cell]) -> set[str]:
    code = [cell.text["en"] for cell in cells if cell.kind == "code"]
    code += [item.solution for item in all_exercises().values() if item.lesson == lesson]
    words = {word for text in code for word in re.findall(r"\w+", text)}
    return words | set(dir(builtins)) | set(keyword.kwlist) | set(react_lab.__all__)


def exists(text: str, known: set[str], root: Path) -> bool:
    if text in OTHERS or (root / text).exists():
        return True
    if text.startswith("react-lab "):
        return f"def {text.split()[1]}(" in (root / "react_lab" / "cli.py").read_text(encoding="utf-8")
    if FILE.fullmatch(text):
        return False
    if is_value(text):
        return True
    words = re.findall(r"[^\W\d]\w*", re.sub(r"(['\"]).*?\1", "", text))
    return all(word in known or word in words_of_library(root) for word in words)


def is_value(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


@cache
def words_of_library(root: Path) -> set[str]:
    files = [*(root / "react_lab").rglob("*.py"), *(root / "exporters").rglob("*.py")]
    texts = [path.read_text(encoding="utf-8") for path in files if "course" not in path.parts]
    return {word for text in texts for word in re.findall(r"[^\W\d]\w*", text)}


# -- translations --------------------------------------------------------------------------------------------
# Beside each source stands NN_name.json: by cell id the hashes of the English and the Chinese prose that were last seen
# to say the same. Where only the English has changed since, the Chinese is older than its original.


def hashes(lesson: str, cells: Sequence[Cell]) -> dict[str, list[str]]:
    ids = cell_ids(lesson, cells)
    pairs = [(key, cell) for key, cell in zip(ids, cells, strict=True) if cell.text["en"] != cell.text["zh"]]
    return {
        key: [short(cell.text[language]) for language in LANGUAGES] for key, cell in pairs if cell.kind == "markdown"
    }


def short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def record_of(source: Path) -> dict[str, list[str]]:
    path = source.with_suffix(".json")
    record: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return record


def untranslated(source: Path, cells: Sequence[Cell]) -> list[str]:
    """The ids of the cells whose English has changed since the Chinese was last seen to say the same."""
    record, now = record_of(source), hashes(source.stem, cells)
    return [key for key in now if key in record and record[key][0] != now[key][0] and record[key][1] == now[key][1]]


def seen(source: Path, cells: Sequence[Cell], *, still_fits: bool = False) -> str:
    """The record brought up to date; what was left behind stays in it, unless a person says that it still fits."""
    record, left = record_of(source), [] if still_fits else untranslated(source, cells)
    now = hashes(source.stem, cells)
    return json.dumps({key: record[key] if key in left else pair for key, pair in now.items()}, indent=1) + "\n"
