import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from hypothesis import HealthCheck, given, settings

from react_lab.trace import Trace
from react_lab_exporters.exporter import Exporter, Published
from react_lab_exporters.html import HtmlExporter, article
from react_lab_exporters.note import note_from_trace
from tests.test_markdown import HOSTILE, URL, hostile_text, make_trace


def publish(trace: Trace, folder: Path, **options) -> Published:
    exporter: Exporter = HtmlExporter()
    [published] = exporter.publish([trace], to=folder, **options)
    return published


def the_page(folder: Path) -> BeautifulSoup:
    [path] = folder.iterdir()
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def test_a_run_becomes_one_page_with_the_note_and_the_player(tmp_path):
    trace = make_trace()
    assert publish(trace, tmp_path / "notes").action == "created"
    page = the_page(tmp_path / "notes")
    assert [title.text for title in page.article.find_all(["h1", "h2"])] == [
        "What is it?",
        "Answer",
        "Findings",
        "Sources",
        "How it was found",
    ]
    assert page.article.find("a")["href"] == URL
    assert page.article.find("blockquote").decode_contents().strip() == "<p>It is <em>that</em>.</p>"
    assert json.loads(page.find("script", id="story").text)["question"] == "What is it?"


def test_a_page_loads_nothing_and_asks_nobody(tmp_path):
    publish(make_trace(answer="![x](https://evil.example/x.png) <img src=https://evil.example>"), tmp_path)
    page = the_page(tmp_path)
    assert "default-src 'none'" in page.find("meta", {"http-equiv": "Content-Security-Policy"})["content"]
    assert not page.find_all(["img", "link", "iframe"])
    assert "<img src=https://evil.example>" in page.article.find("blockquote").text


def test_a_chinese_question_makes_a_chinese_page(tmp_path):
    publish(make_trace("上海和北京的温差是多少度？", answer="3 度"), tmp_path)
    page = the_page(tmp_path)
    assert page.html["lang"] == "zh-CN"
    assert [title.text for title in page.article.find_all("h2")] == ["回答", "发现", "来源", "查找过程"]
    assert [title.text for title in page.article.find_all("summary")][-2:] == ["第 1 步", "第 2 步"]


def test_publishing_again_changes_nothing_and_an_edited_page_is_kept(tmp_path):
    trace = make_trace()
    publish(Trace(trace.events[:-1]), tmp_path)
    assert publish(Trace(trace.events[:-1]), tmp_path).action == "unchanged"
    assert publish(trace, tmp_path).action == "updated"
    [path] = tmp_path.iterdir()
    path.write_text(path.read_text("utf-8").replace("<h1>", "<h1>My "), encoding="utf-8")
    assert publish(trace, tmp_path).action == "unchanged"
    assert publish(Trace(trace.events[:-1]), tmp_path).action == "kept"


def test_a_dry_run_writes_nothing(tmp_path):
    assert publish(make_trace(), tmp_path / "notes", dry_run=True).action == "would create"
    assert not (tmp_path / "notes").exists()


def test_the_language_of_the_screen_does_not_change_a_page(tmp_path, monkeypatch):
    trace = make_trace()
    publish(trace, tmp_path)
    monkeypatch.setenv("REACT_LAB_LANG", "zh")
    assert publish(trace, tmp_path).action == "unchanged"


def assert_harmless(question: str, thought: str, query: str, answer: str) -> None:
    """Text of others is text: no element but those that Markdown has, no address but of the web."""
    page = BeautifulSoup(
        article(note_from_trace(make_trace("q " + question, thought, query, answer + " a"))), "html.parser"
    )
    ours = "article h1 h2 h3 h4 h5 h6 p em strong code pre blockquote ul ol li a br hr details summary".split()
    assert {element.name for element in page.find_all(True)} <= {*ours, *"table thead tbody tr th td".split()}
    assert not [a for a in page.find_all("a") if a["href"].lower().startswith(("javascript:", "data:"))]
    assert not [element for element in page.find_all(True) if any(name.startswith("on") for name in element.attrs)]
    assert page.article.next_sibling is None


@pytest.mark.parametrize("text", [*HOSTILE, "</article><script>", "[x](javascript:alert(1))", '" onload="x'])
def test_hostile_text_stays_text(text):
    assert_harmless(text, text, text, text)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_text, hostile_text, hostile_text, hostile_text)
def test_hostile_text_of_every_shape_stays_text(question, thought, query, answer):
    assert_harmless(question, thought, query, answer)


def test_a_text_of_a_run_cannot_end_the_head(tmp_path):
    publish(make_trace("</head>\n<body>\n?"), tmp_path)
    assert the_page(tmp_path).article.h1.text == "</head> <body> ?"
