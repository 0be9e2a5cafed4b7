"""English and Chinese text cut into words for SQLite's full-text index, FTS5.

SQLite takes a whole run of Chinese for one word. So `tokens` cuts it into overlapping pairs of characters, in
the index and in the query alike: 北京 is found in 北京是中国的首都, and no dictionary is needed.
"""

import re
import unicodedata
from collections.abc import Collection

MAX_TERMS = 60  # of one query; what is longer is a pasted text
TOKENIZER = "porter unicode61 tokenchars '+#'"  # of an FTS5 table that holds tokens

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


def any_of(words: Collection[str]) -> str:
    """An FTS5 query for the rows that hold any of the words; quoted, so that nothing in them is read as its syntax."""
    return " OR ".join(f'"{word}"' for word in words)


def pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def is_chinese(word: str) -> bool:
    return re.match(f"[{CHINESE}]", word) is not None


def plain(text: str) -> str:
    """A text in lower case, without accents and with full-width characters made ordinary."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))
