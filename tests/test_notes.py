"""The agent's notebook: what is kept, what is found again, and who may write at the same time."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_lab.errors import ToolError
from react_lab.messages import ToolCall
from react_lab.tools.notes import MAX_CHARS, Notebook, note_tools
from react_lab.tools.registry import ToolRegistry


@pytest.fixture
def book(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path / "deep" / "notes.sqlite")


def texts(book: Notebook, query: str) -> list[str]:
    return [note.text for note in book.find(query, 10)]


def test_a_note_is_read_again_in_the_next_run(book: Notebook) -> None:
    book.write("Li Hua prefers answers in Chinese.")
    assert [note.text for note in Notebook(book.path).latest(5)] == ["Li Hua prefers answers in Chinese."]


def test_the_newest_note_comes_first_and_no_more_than_wanted(book: Notebook) -> None:
    for number in range(5):
        book.write(f"note {number}")
    assert [note.text for note in book.latest(2)] == ["note 4", "note 3"]


def test_the_same_note_is_kept_once(book: Notebook) -> None:
    first, second = book.write("twice"), book.write("twice")
    assert first == second
    assert len(book.latest(10)) == len(book.find("twice", 10)) == 1


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("thesis", "The title of the thesis is Memory of Agents."),
        ("Titles", "The title of the thesis is Memory of Agents."),
        ("论文", "用户的论文题目是《智能体的记忆》。"),
        ("智能体 记忆", "用户的论文题目是《智能体的记忆》。"),
        ("birthday", "Her birthday is on 3 May."),
        ("C++", "He writes C++."),
    ],
)
def test_notes_are_found_by_their_words_in_both_languages(book: Notebook, query: str, found: str) -> None:
    book.write("The title of the thesis is Memory of Agents.")
    book.write("用户的论文题目是《智能体的记忆》。")
    book.write("Her birthday is on 3 May.")
    book.write("He writes C++.")
    assert texts(book, query)[0] == found


def test_the_note_that_holds_most_of_the_query_comes_first(book: Notebook) -> None:
    book.write("The cat sleeps, and the dog sleeps too.")
    book.write("The cat is grey.")
    assert texts(book, "grey cat")[0] == "The cat is grey."


@pytest.mark.parametrize("query", ["", "  ", "。", '"', "a OR b*", "'; DROP TABLE note; --", "NEAR(", "\x00"])
def test_a_query_is_never_syntax(book: Notebook, query: str) -> None:
    book.write("a note")
    book.find(query, 5)
    assert len(book.latest(5)) == 1


@settings(deadline=None, max_examples=30)
@given(st.text(min_size=1).filter(str.strip))
def test_every_text_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    written = Notebook(tmp_path_factory.mktemp("notes") / "n.sqlite").write(text)
    assert written.text == text


def test_several_threads_may_write_at_once(book: Notebook) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: book.write(f"note {number}"), range(40)))
    assert len(book.latest(100)) == len(book.find("note", 100)) == 40


WRITER = """
import sys
from react_lab.tools.notes import Notebook
for number in range(20):
    Notebook(sys.argv[1]).write(f"{sys.argv[2]} {number}")
"""


def test_two_processes_may_write_at_once(book: Notebook) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, book.path, name]) for name in ("one", "two")]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    assert len(book.latest(100)) == 40


def test_the_file_lies_in_the_home_of_react_lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REACT_LAB_HOME", str(tmp_path / "home"))
    book = Notebook()
    assert not book.path.exists()
    book.write("here")
    assert book.path == tmp_path / "home" / "notes.sqlite"
    assert book.path.exists()
    monkeypatch.delenv("REACT_LAB_HOME")
    assert Notebook().path == Path.home() / ".react-lab" / "notes.sqlite"


def test_a_file_that_is_no_notebook_is_an_observation(tmp_path: Path) -> None:
    broken = tmp_path / "broken.sqlite"
    broken.write_text("this is no database " * 100, encoding="utf-8")
    for book in (Notebook(broken), Notebook(broken / "below")):
        with pytest.raises(ToolError, match=r"can't be used \(.+\); do without it"):
            book.write("x")


# -- the tools ---------------------------------------------------------------------------------------------------


@pytest.fixture
def tools(book: Notebook) -> ToolRegistry:
    return ToolRegistry(note_tools(book))


def test_the_tools_write_search_and_read(tools: ToolRegistry) -> None:
    assert tools.execute("read_notes") == "The notebook is empty. 笔记本是空的。"
    assert tools.execute("write_note", {"text": " The thesis is about memory. "}).startswith("Noted: [1, 20")
    assert tools.execute("write_note", {"text": "论文写的是记忆。"}).startswith("已记下：[2, 20")
    assert tools.execute("search_notes", {"query": "thesis"}).endswith("] The thesis is about memory.")
    assert len(tools.execute("read_notes", {"limit": None}).splitlines()) == 2
    assert len(tools.execute("read_notes", {"limit": 1}).splitlines()) == 1


@pytest.mark.parametrize(("query", "told"), [("cats", 'No note matches "cats"'), ("猫", "没有与“猫”相符的笔记")])
def test_nothing_found_is_said_so(tools: ToolRegistry, query: str, told: str) -> None:
    assert tools.execute("search_notes", {"query": query}).startswith(told)


@pytest.mark.parametrize("text", ["", "  \n", "x" * (MAX_CHARS + 1)])
def test_a_note_that_is_empty_or_too_long_is_refused(tools: ToolRegistry, text: str) -> None:
    result = tools.run(ToolCall("1", "write_note", {"text": text}))
    assert result.is_error
    assert "2000 characters" in result.content


@pytest.mark.parametrize("limit", [0, 21])
def test_a_limit_out_of_range_is_refused(tools: ToolRegistry, limit: int) -> None:
    assert "from 1 to 20" in tools.execute("read_notes", {"limit": limit})
    assert "from 1 to 20" in tools.execute("search_notes", {"query": "x", "limit": limit})


def test_only_writing_has_effects(tools: ToolRegistry) -> None:
    assert [item.name for item in tools if item.has_effects] == ["write_note"]
