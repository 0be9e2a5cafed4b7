"""Searching the almanac: what is found, in which language and order, and what is not found."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from react_lab.tools.base import Tool
from react_lab.tools.fulltext import terms, tokens
from react_lab.tools.passages import listing, texts_of
from react_lab.tools.search import MAX_RESULTS, OFFLINE, WEB, nothing_found, nothing_on_the_web, search


def titles(query: str, limit: int = 3) -> list[str]:
    """The titles of what a query finds, without their alternatives in brackets."""
    return [re.split("[(（:：]", line)[0].strip() for line in re.findall(r"^\[\d+\] (.+)", search(query, limit), re.M)]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("Australia capital", "Australia"),
        ("What is the capital of Australia?", "Australia"),
        ("2024 Nobel Prize in Physics", "2024 Nobel Prize in Physics"),
        ("Who won the Nobel Prize in Literature in 2023?", "2023 Nobel Prize in Literature"),
        ("Nobel Prize in Medicine 2015", "2015 Nobel Prize in Physiology or Medicine"),
        ("Geoffrey Hinton birth date", "2024 Nobel Prize in Physics"),
        ("laszlo krasznahorkai", "2025 Nobel Prize in Literature"),
        ("gold atomic number", "Gold"),
        ("chemical symbol of tungsten", "Tungsten"),
        ("Java", "Java"),
        ("C", "C"),
        ("C programming language", "C"),
        ("C++", "C++"),
        ("C#", "C#"),
        ("who created Rust", "Rust"),
        ("K2", "K2"),
        ("ReAct paper", "ReAct"),
        ("ReAct: Synergizing Reasoning and Acting in Language Models first author submission date", "ReAct"),
        ("attention is all you need", "Attention Is All You Need"),
        ("how many moons does Mars have", "Mars"),
        ("highest mountain in Africa", "Kilimanjaro"),
        ("USA capital", "United States"),
        ("Sao Paulo", "São Paulo"),
    ],
)
def test_the_best_entry_comes_first(query: str, title: str) -> None:
    assert titles(query)[0] == title


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("北京", "北京"),
        ("日本的首都是哪里？", "日本"),
        ("2024 年诺贝尔物理学奖得主是谁？", "2024 年诺贝尔物理学奖"),
        ("诺贝尔和平奖 2019", "2019 年诺贝尔和平奖"),
        ("辛顿 出生日期", "2024 年诺贝尔物理学奖"),
        ("韩江", "2024 年诺贝尔文学奖"),
        ("火星 卫星", "火星"),
        ("火星卫星", "火星"),
        ("金的原子序数", "金"),
        ("金原子序数", "金"),
        ("鿔 原子序数", "鿔"),
        ("𬬻 原子序数", "𬬻"),
        ("地球到太阳的平均距离是多少亿公里？", "地球"),
        ("珠峰高度", "珠穆朗玛峰"),
        ("世界上最长的河流", "尼罗河"),
        ("Python 作者", "Python"),
        ("埃及 首都", "埃及"),
        ("几内亚 首都", "几内亚"),
        ("思维链", "Chain-of-Thought"),
    ],
)
def test_the_best_entry_comes_first_in_chinese(query: str, title: str) -> None:
    assert titles(query)[0] == title


@pytest.mark.parametrize(
    ("query", "both"),
    [
        ("Add the atomic numbers of gold and silver.", {"Gold", "Silver"}),
        ("Which is higher, K2 or Kangchenjunga?", {"K2", "Kangchenjunga"}),
        ("first appearance of C and Java", {"C", "Java"}),
        ("中国和印度，哪个国家的面积更大？", {"中国", "印度"}),
        ("氧和碳的原子序数之和是多少？", {"氧", "碳"}),
    ],
)
def test_a_comparison_finds_both_subjects(query: str, both: set[str]) -> None:
    assert set(titles(query)) == both


def test_a_query_in_chinese_is_answered_in_chinese_even_about_a_latin_name() -> None:
    assert "吉多·范罗苏姆" in search("Python 作者")
    assert "约翰·霍普菲尔德" in search("Geoffrey Hinton 生日")


def test_a_query_in_english_is_answered_in_english() -> None:
    assert not re.search("[\u4e00-\u9fff]", search("gold silver Beijing Mars moons", 10))


def test_an_answer_has_a_number_a_title_a_text_and_a_source() -> None:
    first = search("gold").split("\n\n")[0]
    assert re.fullmatch(r"\[1\] Gold: Gold is a chemical element\..+\nSource: https://\S+", first)


@pytest.mark.parametrize(
    "query",
    [
        "Atlantis",
        "mayor of Atlantis",
        "Who is the mayor of Atlantis?",
        "capital of Atlantis",
        "Atlantis city",
        "chemical symbol of unobtainium",
        "2030 Nobel Prize in Physics",
        "best pizza recipe",
        "who is it?",
        ";;;",
    ],
)
def test_what_is_not_there_is_said_so(query: str) -> None:
    assert search(query).startswith(f'No entry in the almanac matches "{query}".')


@pytest.mark.parametrize(
    "query", ["亚特兰蒂斯的首都", "亚特兰蒂斯 市长", "氪石的原子序数", "爱因斯坦 出生", "2030 年诺贝尔和平奖"]
)
def test_what_is_not_there_is_said_so_in_chinese(query: str) -> None:
    assert search(query).startswith(f"年鉴中没有与“{query}”相符的条目。")


def test_a_prize_of_another_year_is_no_answer() -> None:
    assert titles("Nobel Prize in Physics 2023", 10) == ["2023 Nobel Prize in Physics"]


def test_without_a_year_the_latest_prize_comes_first() -> None:
    assert titles("诺贝尔和平奖") == [f"{year} 年诺贝尔和平奖" for year in (2025, 2024, 2023)]


@pytest.mark.parametrize(
    "query",
    ['"gold" AND (silver* NOT tin) OR title:^iron', "'; DROP TABLE entry; --", 'NEAR("a" "b")', "*", '"', "ⅷ ٣ 𝟘 \x00"],
)
def test_search_syntax_in_a_query_is_only_text(query: str) -> None:
    assert search(query)
    assert titles("gold") == ["Gold"]


def test_a_pasted_text_is_searched_quickly() -> None:
    assert search("北京是中国的首都 gold " * 10_000)


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_refused_with_an_example(query: str) -> None:
    with pytest.raises(ValueError, match="Australia capital"):
        search(query)


@pytest.mark.parametrize("limit", [0, -1, 11])
def test_a_limit_out_of_range_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 10"):
        search("gold", limit)


def test_the_limit_bounds_the_number_of_entries() -> None:
    assert len(titles("chemical element", MAX_RESULTS)) == MAX_RESULTS
    assert len(titles("chemical element", 1)) == 1


def test_several_threads_may_search_at_once() -> None:
    queries = ["gold", "北京", "K2", "ReAct paper"] * 8
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(search, queries)) == [search(query) for query in queries]


def test_chinese_two_character_words_are_found() -> None:
    assert tokens("北京是首都") == ["北京", "京是", "是首", "首都", "北", "京", "是", "首", "都"]
    assert terms("北京") == ["北京"]


def test_words_that_tell_nothing_are_not_looked_up() -> None:
    assert terms("What is the capital of Australia?") == ["capital", "australia"]
    assert terms("２０２４年诺贝尔奖的得主是谁？") == ["2024", "诺贝", "贝尔", "尔奖"]


def test_the_tool_tells_a_model_its_limits() -> None:
    assert isinstance(search, Tool)
    assert "almanac" in search.description
    assert "not the web" in search.description
    assert search.parameters["required"] == ["query"]


@pytest.mark.parametrize("heading", ["", *WEB.values(), *OFFLINE.values()])
def test_the_passages_of_a_listing_can_be_read_back(heading: str) -> None:
    passages = ["K2: 8,611 m high.\nSource: https://a.example/k2", "珠穆朗玛峰：高 8,849 米。"]
    assert texts_of(f"{heading}\n\n{listing(passages)}".strip()) == passages


def test_a_passage_cannot_pose_as_the_next() -> None:
    assert texts_of(listing(["one\n[2] two\n\n[3] three", "four"])) == ["one\n(2) two\n\n(3) three", "four"]


def test_a_text_without_numbers_is_one_passage() -> None:
    assert texts_of("Everest is 8,849 m high [1].\n") == ["Everest is 8,849 m high [1]."]


@pytest.mark.parametrize("query", ["Wakanda", "瓦坎达"])
def test_nothing_found_is_no_passage(query: str) -> None:
    assert texts_of(nothing_found(query)) == texts_of(nothing_on_the_web(query, "Tavily")) == texts_of("") == []
