"""The shipped almanac: every line has its shape, and both languages say the same."""

import json
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from fractions import Fraction
from functools import cache
from importlib import resources
from threading import Barrier
from typing import Any

import pytest

from react_lab.tools import almanac as module
from react_lab.tools.almanac import Almanac

Entry = dict[str, Any]

FILE = resources.files("react_lab.tools").joinpath("almanac.jsonl")
LINES = FILE.read_text(encoding="utf-8").splitlines()
ENTRIES: list[Entry] = [json.loads(line) for line in LINES]
BY_ID = {entry["id"]: entry for entry in ENTRIES}
KINDS = Counter(entry["id"].split("-")[0] for entry in ENTRIES)

MONTHS = "January February March April May June July August September October November December".split()
CATEGORIES = ("physics", "chemistry", "medicine", "literature", "peace", "economic-sciences")
SCALES = {"million": 10**6, "billion": 10**9, "万": 10**4, "亿": 10**8}


def quantities(text: str) -> set[Fraction]:
    """The numbers of a text in one form: "June" is 6, "1.5 million" and "150 万" are 1500000."""
    digits = re.sub(rf"\b({'|'.join(MONTHS)})\b", lambda month: str(MONTHS.index(month[0]) + 1), text)
    found = re.findall(r"(\d+(?:\.\d+)?)(?:\s*(million|billion|万|亿))?", digits)
    return {Fraction(number) * SCALES.get(scale, 1) for number, scale in found}


def birth_dates(entry: Entry) -> tuple[list[tuple[str, date]], list[date]]:
    """The dates of birth that an entry states: with the names in English, and the same in Chinese."""
    english = re.findall(r"([^.]+(?:[A-Z]\. ?[^.]+)*) was born on (\d+) (\w+) (\d{4})\.", entry["en"]["text"])
    chinese = re.findall(r"生于 (\d{4}) 年 (\d+) 月 (\d+) 日。", entry["zh"]["text"])
    return (
        [(name.strip(), date(int(year), MONTHS.index(month) + 1, int(day))) for name, day, month, year in english],
        [date(int(year), int(month), int(day)) for year, month, day in chinese],
    )


def test_the_file_is_small_and_ends_with_a_line_break() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert len(text.encode()) < 600_000


def test_every_entry_has_both_languages_and_a_source() -> None:
    for entry in ENTRIES:
        assert list(entry) == ["id", "en", "zh", "source"], entry
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", entry["id"]), entry
        assert re.fullmatch(r"https://(www\.nobelprize|en\.wikipedia|arxiv)\.org/\S+", entry["source"]), entry
        for language in ("en", "zh"):
            assert list(entry[language]) == ["title", "text"], entry
            assert all(value and value == value.strip() for value in entry[language].values()), entry
        assert re.search("[\u4e00-\u9fff]", entry["zh"]["text"]), entry
        assert not re.search("[\u4e00-\u9fff]", entry["en"]["title"] + entry["en"]["text"]), entry


def test_ids_are_unique() -> None:
    assert len(BY_ID) == len(ENTRIES)


def test_sentences_are_complete_and_name_their_subject() -> None:
    for entry in ENTRIES:
        assert entry["en"]["text"].endswith("."), entry
        assert entry["zh"]["text"].endswith("。"), entry
        assert not re.search(r"(^|\. )(It|He|She|They|This|Its|His|Her)\b", entry["en"]["text"]), entry
        assert not re.search(r"(^|。)(它|他|她|其|该|这)", entry["zh"]["text"]), entry


def test_large_numbers_are_written_as_plain_digits() -> None:
    for entry in ENTRIES:
        assert not re.search(r"\d[,，]\d{3}", entry["en"]["text"] + entry["zh"]["text"]), entry


def test_numbers_agree_in_both_languages() -> None:
    for entry in ENTRIES:
        assert quantities(entry["en"]["text"]) == quantities(entry["zh"]["text"]), entry
        assert quantities(entry["en"]["title"]) == quantities(entry["zh"]["title"]), entry


def test_every_kind_of_subject_is_there() -> None:
    least = {"country": 180, "city": 60, "element": 118, "planet": 8, "moon": 10, "mountain": 30, "river": 20}
    least |= {"language": 40, "paper": 60, "nobel": 66}
    assert {kind: count for kind, count in least.items() if KINDS[kind] < count} == {}


def test_all_elements_are_there_with_the_same_number_and_symbol_in_both_languages() -> None:
    numbers, symbols = [], set()
    for entry in ENTRIES:
        if entry["id"].startswith("element-"):
            english, chinese = entry["en"]["text"], entry["zh"]["text"]
            (number,) = re.findall(r"The atomic number of [a-z]+ is (\d+)\.", english)
            (symbol,) = re.findall(r"The chemical symbol of [a-z]+ is ([A-Z][a-z]?)\.", english)
            assert f"的原子序数是 {number}。" in chinese
            assert f"的元素符号（化学符号）是 {symbol}。" in chinese
            numbers.append(int(number))
            symbols.add(symbol)
    assert sorted(numbers) == list(range(1, 119))
    assert len(symbols) == 118


@pytest.mark.parametrize("year", range(2015, 2026))
@pytest.mark.parametrize("category", CATEGORIES)
def test_every_nobel_prize_since_2015_is_there(category: str, year: int) -> None:
    entry = BY_ID[f"nobel-{category}-{year}"]
    assert entry["en"]["text"].startswith(f"The {entry['en']['title']} was awarded to ")
    assert entry["zh"]["text"].startswith(f"{entry['zh']['title']}授予")
    assert entry["source"] == f"https://www.nobelprize.org/prizes/{category}/{year}/summary/"
    assert str(year) in entry["en"]["title"]


def test_birth_dates_are_dates_of_laureates_and_agree_in_both_languages() -> None:
    count = 0
    for entry in ENTRIES:
        english, chinese = birth_dates(entry)
        assert [born for _, born in english] == chinese, entry
        for name, born in english:
            count += 1
            prize_year = int(entry["id"][-4:])
            assert 17 <= prize_year - born.year <= 98, entry
            assert entry["en"]["text"].split(" was born ")[0].count(name) >= 1, entry
    assert count > 100


def test_the_physics_laureates_of_2024_were_168_years_old_together() -> None:
    born, _ = birth_dates(BY_ID["nobel-physics-2024"])
    assert sum(2024 - day.year for _, day in born) == 168


@pytest.mark.parametrize(
    ("identifier", "english", "chinese"),
    [
        ("country-australia", "The capital of Australia is Canberra.", "澳大利亚的首都是堪培拉。"),
        ("country-china", "China has an area of about 9600000 square kilometres.", "中国的面积约为 9600000 平方公里。"),
        ("element-gold", "The atomic number of gold is 79.", "金的原子序数是 79。"),
        ("planet-mars", "Mars has 2 moons.", "火星有 2 颗卫星。"),
        ("planet-earth", "is about 149.6 million kilometres.", "地球到太阳的平均距离约为 1.496 亿公里"),
        ("mountain-k2", "K2 is 8611 metres high.", "乔戈里峰（K2）海拔 8611 米。"),
        ("language-c", "C first appeared in 1972.", "C 语言首次出现于 1972 年。"),
        ("language-python", "Python was created by Guido van Rossum.", "Python 的作者（设计者）是吉多·范罗苏姆"),
        (
            "paper-react",
            "was first posted on arXiv in October 2022.",
            "ReAct 论文于 2022 年 10 月首次发布在 arXiv 上。",
        ),
        ("nobel-literature-2024", "was awarded to Han Kang.", "2024 年诺贝尔文学奖授予韩江。"),
    ],
)
def test_facts_are_put_in_the_words_of_a_question(identifier: str, english: str, chinese: str) -> None:
    assert english in BY_ID[identifier]["en"]["text"]
    assert chinese in BY_ID[identifier]["zh"]["text"]


def test_searches_side_by_side_index_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    together = Barrier(4)
    indexed: list[Almanac] = []

    def index() -> Almanac:
        time.sleep(0.05)
        indexed.append(Almanac([]))
        return indexed[-1]

    def ask() -> Almanac:
        together.wait()
        return module.almanac()

    monkeypatch.setattr(module, "_shipped", cache(index))
    with ThreadPoolExecutor(4) as threads:
        asked = [threads.submit(ask) for _ in range(4)]
    assert [future.result() for future in asked] == indexed * 4
    indexed[0]._index.close()
