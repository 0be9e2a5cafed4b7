"""The agent's notebook: notes that stay from one run to the next, in a SQLite file, found with FTS5."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from react_lab.errors import ToolError
from react_lab.home import home
from react_lab.language import language_of
from react_lab.tools.base import Tool, tool
from react_lab.tools.fulltext import TOKENIZER, any_of, terms, tokens

MAX_CHARS = 2000  # of a note: one thing, not a page
MAX_NOTES = 20  # read at a time
DEFAULT_NOTES = 5
WAIT_S = 10.0  # for another process that writes

TABLES = f"""
CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, written_at TEXT NOT NULL, text TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE IF NOT EXISTS found USING fts5(words, tokenize = "{TOKENIZER}");
"""


@dataclass(frozen=True)
class Note:
    id: int
    written_at: str  # ISO 8601, UTC
    text: str

    def __str__(self) -> str:
        return f"[{self.id}, {self.written_at[:10]}] {self.text}"


class Notebook:
    """A file of notes. Each call opens it anew, so threads and processes can share it.

    Args:
        path: By default `notes.sqlite` in `REACT_LAB_HOME`, which by default is `~/.react-lab`.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path is not None else home() / "notes.sqlite"

    def write(self, text: str) -> Note:
        """Keep a note; one that is there already is not kept twice."""
        with self._open() as file:
            written_at = datetime.now(UTC).isoformat(timespec="seconds")
            added = file.execute("INSERT OR IGNORE INTO note (written_at, text) VALUES (?, ?)", (written_at, text))
            if added.rowcount:
                file.execute(
                    "INSERT INTO found (rowid, words) VALUES (?, ?)", (added.lastrowid, " ".join(tokens(text)))
                )
            return Note(*file.execute("SELECT id, written_at, text FROM note WHERE text = ?", (text,)).fetchone())

    def latest(self, limit: int) -> list[Note]:
        """The notes written last, the newest first."""
        with self._open() as file:
            return [Note(*row) for row in file.execute("SELECT * FROM note ORDER BY id DESC LIMIT ?", (limit,))]

    def find(self, query: str, limit: int) -> list[Note]:
        """The notes that hold any of the query's words, the best first."""
        words = terms(query) or tokens(query)
        sql = """SELECT note.* FROM found JOIN note ON note.id = found.rowid WHERE found MATCH ?
            ORDER BY bm25(found), note.id DESC LIMIT ?"""
        with self._open() as file:
            return [Note(*row) for row in file.execute(sql, (any_of(words), limit))] if words else []

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The file, in one transaction."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=WAIT_S)) as file:
                file.executescript(TABLES)
                with file:
                    yield file
        except (OSError, sqlite3.Error) as error:
            raise ToolError(f"the notebook {self.path} can't be used ({error}); do without it and say so") from error


def note_tools(notebook: Notebook | None = None) -> list[Tool]:
    """The tools `write_note`, `read_notes` and `search_notes` on one notebook."""
    book = notebook or Notebook()

    @tool(
        zh="""记下一条笔记，留给以后的对话：关于用户或其工作、长期有效的一件事。用于用户要求记住的事，或费了力气才得到的结果；
        只在这次对话里用到的不必记，密码之类的秘密绝不能记。

        Args:
            text: 完整的句子，单独读也能看懂，如 "用户的论文题目是《智能体的记忆》。"
        """,
        has_effects=True,
    )
    def write_note(text: str) -> str:
        """Keep a note for later conversations: something about the person or their work that stays true.

        For what the person asks to remember, or a result that took effort; not for what is only needed in this
        conversation, and never for a secret such as a password.

        Args:
            text: The note in whole sentences that can be understood alone, such as "Li Hua prefers answers in
                Chinese." or "用户的论文题目是《智能体的记忆》。".
        """
        if not 0 < len(text.strip()) <= MAX_CHARS:
            raise ValueError(f"a note has 1 to {MAX_CHARS} characters, this one {len(text.strip())}; write it shorter")
        note = book.write(text.strip())
        return f"已记下：{note}" if language_of(text) == "zh" else f"Noted: {note}"

    @tool(
        zh="""读取最近写下的笔记，新的在前。用于在任务开始时了解概况；知道要找什么时，用 search_notes 更好。

        Args:
            limit: 读几条，1 到 20，如 10；不填为 5。
        """
    )
    def read_notes(limit: int | None = None) -> str:
        """Read the notes that were written last, the newest first.

        For an overview at the beginning of a task; where you know what it is about, search_notes is better.

        Args:
            limit: How many, from 1 to 20, such as 10; without it 5.
        """
        return listed(book.latest(checked(limit)), "The notebook is empty. 笔记本是空的。")

    @tool(
        zh="""在以前对话的笔记里搜索。里面只有笔记，没有常识，也没有网页。

        Args:
            query: 笔记里可能有的几个词，如 "论文 题目"。
            limit: 最多返回几条，1 到 20，如 10；不填为 5。
        """
    )
    def search_notes(query: str, limit: int | None = None) -> str:
        """Search the notes of earlier conversations. Nothing else is in there: no general knowledge, no web pages.

        Args:
            query: A few words that the note may hold, such as "thesis title" or "论文 题目".
            limit: The largest number of notes to give back, from 1 to 20, such as 10; without it 5.
        """
        nothing = f'No note matches "{query}". Try other words, or read_notes.'
        if language_of(query) == "zh":
            nothing = f"没有与“{query}”相符的笔记。请换个词再试，或者用 read_notes。"
        return listed(book.find(query, checked(limit)), nothing)

    return [write_note, read_notes, search_notes]


def checked(limit: int | None) -> int:
    if limit is not None and not 1 <= limit <= MAX_NOTES:
        raise ValueError(f"limit {limit} is out of range: give a number from 1 to {MAX_NOTES}")
    return int(limit or DEFAULT_NOTES)


def listed(notes: Iterable[Note], nothing: str) -> str:
    return "\n".join(map(str, notes)) or nothing
