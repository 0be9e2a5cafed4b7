"""Checking citations: does the cited source exist, and does it hold the claim's numbers and names?

This finds invented numbers, names and sources. It does not tell whether a claim follows from its source.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from react_lab.language import CJK, Language

CITATION = re.compile(r"\s*\[(\d+(?:\s*[,，、]\s*\d+)*)\]")
SENTENCE = re.compile(r"\S[^\n]*?(?:[.!?。！？]+(?=[\s\[\u3400-\u9fff]|$)(?:\s*\[[\d,，、 ]+\])*|(?=\n)|$)", re.M)
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’-]+")
ENOUGH = 0.5  # of a claim's names, or pairs of Chinese characters, must stand in its sources

UNSUPPORTED = {"en": " (not supported by its source)", "zh": "（来源不支持）"}


def cited(text: str) -> list[int]:
    """The numbers of the sources that a text cites, in order, each once."""
    found = (int(number) for match in CITATION.finditer(text) for number in re.findall(r"\d+", match[1]))
    return list(dict.fromkeys(found))


def without_citations(text: str) -> str:
    return CITATION.sub("", text)


def is_supported(claim: str, sources: Iterable[str]) -> bool:
    """Whether the sources hold every number of a claim and most of its names; without sources, no."""
    source = _plain(" ".join(sources))
    claim = _plain(without_citations(claim))
    if not source.strip() or not set(_numbers(claim)) <= set(_numbers(source)):
        return False
    names = _names(claim, source)
    return not names or sum(name in source.casefold() for name in names) >= ENOUGH * len(names)


def flag(answer: str, sources: Mapping[int, str], language: Language) -> tuple[str, list[str]]:
    """An answer with a mark behind every claim that its citation does not support, and those claims."""
    claims = []

    def checked(match: re.Match[str]) -> str:
        numbers = cited(match[0])
        known = [sources[number] for number in numbers if number in sources]
        if not numbers or (len(known) == len(numbers) and is_supported(match[0], known)):
            return match[0]
        claims.append(match[0])
        return match[0] + UNSUPPORTED[language]

    return SENTENCE.sub(checked, answer), claims


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _numbers(text: str) -> list[str]:
    return [number.replace(",", "") for number in NUMBER.findall(text)]


def _names(claim: str, source: str) -> Sequence[str]:
    """What has to be found again: capitalised words, in Chinese pairs of characters; nothing across two languages."""
    if CJK.search(claim):
        runs = re.findall(r"[\u3400-\u9fff]{2,}", claim) if CJK.search(source) else []
        return [run[i : i + 2] for run in runs for i in range(len(run) - 1)]
    if CJK.search(source):
        return []
    first = re.match(r"\W*(\w+)", claim)  # capital because it begins the sentence
    words = NAME.findall(claim)
    return [word.casefold() for word in words if not first or word != first[1] or len(words) == 1]
