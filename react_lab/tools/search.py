"""Look things up in the almanac that ships with the package, in English and Chinese, with SQLite's FTS5.

SQLite takes a whole run of Chinese for one word. So `tokens` cuts it into overlapping pairs of characters, in
the index and in the query alike: 北京 is found in 北京是中国的首都, and no dictionary is needed.
"""

import json
import math
import re
import sqlite3
import threading
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from react_lab.language import Language, language_of
from react_lab.tools.base import tool

MAX_RESULTS = 10
MAX_TERMS = 60  # of one query; what is longer is a pasted text
RELEVANT = 0.6  # the share of a query's weight that an entry must hold, unless the query names it
NEARLY_AS_GOOD = 0.9  # of the best entry's share; what falls behind it is left out


@tool
def search(query: str, limit: int = 3) -> str:
    """Look something up in the almanac that ships with this package. It is not the web and knows no news.

    It holds Nobel Prizes from 2015 to 2025 with the laureates' dates of birth, countries, cities, chemical
    elements, planets and moons, mountains, rivers, programming languages, and papers on language models and
    agents. Ask about one subject at a time, in a few words: "Australia capital", "金的原子序数".

    Args:
        query: A few words in English or Chinese; the result is in the same language.
        limit: The largest number of entries to give back, from 1 to 10.
    """
    if not query.strip():
        raise ValueError('the query is empty: give a few words, such as "Australia capital"')
    if not 1 <= limit <= MAX_RESULTS:
        raise ValueError(f"limit {limit} is out of range: give a number from 1 to {MAX_RESULTS}")
    language = language_of(query)
    passages = almanac().find(query, limit=int(limit), language=language)
    if not passages:
        return nothing_found(query, language)
    return "\n\n".join(f"[{number}] {passage}" for number, passage in enumerate(passages, start=1))


def nothing_found(query: str, language: Language) -> str:
    if language == "zh":
        return f"年鉴中没有与“{query}”相符的条目。请只用主题的名称再查一次；年鉴不收录新闻和实时数据。"
    return (
        f'No entry in the almanac matches "{query}". Try the name of the subject alone; '
        "the almanac holds neither news nor live data."
    )


@dataclass(frozen=True)
class Passage:
    """What a search gives back: one text and where it comes from."""

    title: str
    text: str
    source: str

    def __str__(self) -> str:
        if language_of(self.text) == "zh":
            return f"{self.title}：{self.text}\n来源：{self.source}"
        return f"{self.title}: {self.text}\nSource: {self.source}"


class Almanac:
    """The entries and their full-text index; several threads may ask at once."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self._entries = entries
        self._names = [names(entry) for entry in entries]
        self._years = [years(terms(entry["en"]["title"])) for entry in entries]
        self._lock = threading.Lock()
        self._index = sqlite3.connect(":memory:", check_same_thread=False)
        tokenizer = "porter unicode61 tokenchars '+#'"
        self._index.execute(f'CREATE VIRTUAL TABLE entry USING fts5(title, text, tokenize = "{tokenizer}")')
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
        return [Passage(**entry[language], source=entry["source"]) for entry in passages]

    def _rows(self, words: Collection[str]) -> list[int]:
        """The rows that hold any of the words, best first; a word in the title counts ten times."""
        match = " OR ".join(f'"{word}"' for word in words)  # quoted, so that nothing is read as FTS5 syntax
        with self._lock:
            sql = "SELECT rowid FROM entry WHERE entry MATCH ? ORDER BY bm25(entry, 10, 1), rowid"
            return [row for (row,) in self._index.execute(sql, (match,))] if words else []


@cache
def almanac() -> Almanac:
    """The shipped almanac, indexed on first use."""
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


CHINESE = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
WORD = re.compile(rf"[{CHINESE}]+|[a-z](?:\+\+|#)|(?:(?![{CHINESE}])[^\W_])+")  # a Chinese run, C++, a word
STOP_WORDS = frozenset(
    "a about after age all am an and any are at be been between birth birthday born both by can could "
    "current date did do does each find for from get give got had has have how i in into is it its "
    "latest laureate laureates list many me more most much my name named of old on or our please "
    "received s tell than that the their them then there these they this those to today was we were "
    "what when where which who whom whose why will win winner winners winning with won would year years "
    "you".split()
)
STOP_CHINESE = re.compile(
    r"请告诉我|告诉我|请问|请|帮我|查一下|一下|出生日期|出生|生日|年龄|获奖者|获得者|得主|获得|名单|颁发给|颁给|授予|"
    r"今天|现在|目前|一共|总共|之间|之和|是多少|多少|是什么|什么|哪里|哪个|哪些|哪年|是谁|(?<=世界)上|"
    r"几(?!内)|(?<!埃)及|和(?!平|国)|[的是谁哪吗呢吧了在有与或]|(?<=\d)\s*年"
)

APART = re.compile("原子序数|元素符号|化学符号")  # an element's name is one character: 金原子序数 is 金, 原子序数


def tokens(text: str) -> list[str]:
    """What is indexed of a text: its words, and of a run of Chinese the pairs and the single characters."""
    found: list[str] = []
    for run in WORD.findall(plain(text)):
        found += [*pairs(run), *run] if is_chinese(run) else [run]
    return found


def terms(query: str) -> list[str]:
    """What is looked up for a query: its telling words, and of a run of Chinese the pairs."""
    found: list[str] = []
    for run in WORD.findall(APART.sub(r" \g<0> ", STOP_CHINESE.sub(" ", plain(query)))):
        found += pairs(run) if is_chinese(run) else [run]
    return [word for word in dict.fromkeys(found) if word not in STOP_WORDS][:MAX_TERMS]


def names(entry: Mapping[str, Any]) -> list[frozenset[str]]:
    """The names of an entry, each as its terms: "K2 (Qogir)" has two."""
    titles = (entry[language]["title"] for language in ("en", "zh"))
    parts = (terms(part) for title in titles for part in re.split("[(),（），]", title))
    return [frozenset(part) for part in parts if part]


def years(words: Collection[str]) -> set[str]:
    return {word for word in words if re.fullmatch(r"(19|20)\d\d", word)}


def pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def is_chinese(word: str) -> bool:
    return re.match(f"[{CHINESE}]", word) is not None


def plain(text: str) -> str:
    """A text in lower case, without accents and with full-width characters made ordinary."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))
