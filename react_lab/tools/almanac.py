"""The almanac that ships with the package: facts in English and Chinese, found with SQLite's FTS5."""

import json
import math
import re
import sqlite3
import threading
from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from typing import Any

from react_lab.language import Language
from react_lab.tools.fulltext import TOKENIZER, any_of, is_chinese, terms, tokens
from react_lab.tools.passages import Passage

RELEVANT = 0.6  # the share of a query's weight that an entry must hold, unless the query names it
NEARLY_AS_GOOD = 0.9  # of the best entry's share; what falls behind it is left out


class Almanac:
    """The entries and their full-text index; several threads may ask at once."""

    name = "the almanac"

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self._entries = entries
        self._names = [names(entry) for entry in entries]
        self._years = [years(terms(entry["en"]["title"])) for entry in entries]
        self._lock = threading.Lock()
        self._index = sqlite3.connect(":memory:", check_same_thread=False)
        self._index.execute(f'CREATE VIRTUAL TABLE entry USING fts5(title, text, tokenize = "{TOKENIZER}")')
        for row, entry in enumerate(entries):
            both = (f"{entry['en'][part]}\n{entry['zh'][part]}" for part in ("title", "text"))
            columns = (" ".join(tokens(text)) for text in both)
            self._index.execute("INSERT INTO entry (rowid, title, text) VALUES (?, ?, ?)", (row, *columns))

    def find(self, query: str, *, limit: int, language: Language) -> list[Passage]:
        """The entries that a query names, or that hold most of what it says; best first."""
        holders = {word: set(self._rows([word])) for word in terms(query)}
        weights = weigh(holders, len(self._entries))
        wanted_years = years(holders)
        shares: dict[int, float] = {}
        for row in self._rows(holders):
            if wanted_years and self._years[row] and not wanted_years & self._years[row]:
                continue  # the prize of 2023 says nothing about 2024
            held = sum(weight for word, weight in weights.items() if row in holders[word])
            named = any(name <= holders.keys() for name in self._names[row])
            shares[row] = 1.0 if named else held / sum(weights.values())
        needed = max(RELEVANT, NEARLY_AS_GOOD * max(shares.values(), default=0))
        best = [row for row, share in shares.items() if share >= needed]
        if best and self._years[best[0]] and not wanted_years:  # no year given: the latest prize first
            best.sort(key=lambda row: max(self._years[row], default=""), reverse=True)
        passages = (self._entries[row] for row in best[:limit])
        return [Passage(**entry[language], url=entry["source"]) for entry in passages]

    def _rows(self, words: Collection[str]) -> list[int]:
        """The rows that hold any of the words, best first; a word in the title counts ten times."""
        with self._lock:
            sql = "SELECT rowid FROM entry WHERE entry MATCH ? ORDER BY bm25(entry, 10, 1), rowid"
            return [row for (row,) in self._index.execute(sql, (any_of(words),))] if words else []


def almanac() -> Almanac:
    """The shipped almanac, indexed on first use."""
    with _FIRST_USE:
        return _shipped()


_FIRST_USE = threading.Lock()  # searches side by side must not index it once each


@cache
def _shipped() -> Almanac:
    text = resources.files("react_lab.tools").joinpath("almanac.jsonl").read_text(encoding="utf-8")
    return Almanac([json.loads(line) for line in text.splitlines()])


def weigh(holders: Mapping[str, Collection[int]], total: int) -> dict[str, float]:
    """How much each word of a query tells: the rarer, the more, and most if no entry holds it.

    Only a pair of characters that spans two words, such as 星卫 in 火星卫星, tells nothing.
    """
    known = {char for word, rows in holders.items() if rows and is_chinese(word) for char in word}
    return {
        word: 0.0 if not rows and known & set(word) and is_chinese(word) else math.log((total + 1) / (len(rows) + 0.5))
        for word, rows in holders.items()
    }


def names(entry: Mapping[str, Any]) -> list[frozenset[str]]:
    """The names of an entry, each as its terms: "K2 (Qogir)" has two."""
    titles = (entry[language]["title"] for language in ("en", "zh"))
    parts = (terms(part) for title in titles for part in re.split("[(),（），]", title))
    return [frozenset(part) for part in parts if part]


def years(words: Collection[str]) -> set[str]:
    return {word for word in words if re.fullmatch(r"(19|20)\d\d", word)}
