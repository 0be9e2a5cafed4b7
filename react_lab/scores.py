"""What came of many runs, for the terminal: a table, and bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.bar import Bar
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from react_lab.evaluate import Result, summary, without_sources
from react_lab.language import Language
from react_lab.replay.story import readable

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "mode": "mode",
        "answer": "answer",
        "calls": "tool calls",
        "replies": "replies",
        "tokens": "tokens in / out",
        "cost": "cost",
        "seconds": "seconds",
        "questions": "questions",
        "answered": "answered",
        "exact": "exact",
        "f1": "F1",
        "holds": "holds",
        "unknown": "unknown",
        "means": "Means of a question; the cost is unknown where the model has no known price.",
        "asked": "questions",
    },
    "zh": {
        "mode": "方式",
        "answer": "答案",
        "calls": "工具调用",
        "replies": "回复",
        "tokens": "输入 / 输出 token",
        "cost": "费用",
        "seconds": "秒",
        "questions": "问题",
        "answered": "已回答",
        "exact": "完全一致",
        "f1": "F1",
        "holds": "包含",
        "unknown": "未知",
        "means": "数值为每个问题的平均；模型价格未知时，费用也未知。",
        "asked": "问题",
    },
}


def comparison(results: Sequence[Result], language: Language) -> Table:
    """One question, answered in several modes: a row each."""
    words = WORDS[language]
    table = _table(words, "mode", "answer", "replies", "calls", "tokens", "cost", "seconds")
    for result in results:
        said = without_sources(result.answer or "") or result.error or f"({result.outcome})"
        table.add_row(
            result.agent,
            Text(readable(" ".join(said.split()))),
            str(result.steps),
            str(result.calls),
            _tokens(result.input_tokens, result.output_tokens, words),
            _dollars(result.cost_usd, words),
            f"{result.seconds:.2f}",
        )
    return table


def overview(results: Iterable[Result], language: Language) -> list[Any]:
    """Many questions: a row for each mode, and below it bars of how many answers hold the expected one."""
    words, rows = WORDS[language], summary(results)
    scored = rows and rows[0]["holds"] is not None
    fields = ["exact", "f1", "holds"] if scored else []
    table = _table(words, "mode", "questions", "answered", *fields, "calls", "tokens", "cost", "seconds")
    for row in rows:
        table.add_row(
            row["agent"],
            str(row["questions"]),
            str(row["answered"]),
            *(_share(row[field]) for field in fields),
            f"{row['calls']:.1f}",
            _tokens(row["input_tokens"], row["output_tokens"], words),
            _dollars(row["cost_usd"], words),
            f"{row['seconds']:.2f}",
        )
    return [table, Text(words["means"], style="dim"), _bars(rows, "holds" if scored else "answered", words)]


def _bars(rows: Sequence[dict[str, Any]], field: str, words: dict[str, str]) -> Table:
    bars = Table.grid(padding=(0, 1))
    for row in rows:
        share = row[field] if field != "answered" else row["answered"] / row["questions"]
        bars.add_row(row["agent"], Bar(1, 0, share or 0, width=40), f"{words[field]} {_share(share)}")
    return bars


def _table(words: dict[str, str], *columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(
            words[column], justify="left" if column in ("mode", "answer") else "right", no_wrap=column != "answer"
        )
    return table


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _tokens(sent: float | None, written: float | None, words: dict[str, str]) -> str:
    return words["unknown"] if sent is None or written is None else f"{sent:,.0f} / {written:,.0f}"


def _dollars(cost: float | None, words: dict[str, str]) -> str:
    return words["unknown"] if cost is None else f"${cost:.4f}"


@contextmanager
def progress(total: int, language: Language) -> Iterator[Any]:
    """Counts results with a bar and the time that is left; silent where the output is no terminal."""
    columns = (TextColumn(WORDS[language]["asked"]), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        yield lambda result: bar.advance(task)
