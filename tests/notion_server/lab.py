"""A Notion to publish to in a test: the server, a client that never really waits, a database that is set up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from react_lab.messages import Reply
from react_lab.models.scripted import ScriptedModel
from react_lab.tool_use import ToolUseAgent
from react_lab.tools.registry import ToolRegistry
from react_lab.trace import Trace
from react_lab_exporters.exporter import Published
from react_lab_exporters.notion.client import Notion
from react_lab_exporters.notion.database import setup
from react_lab_exporters.notion.exporter import NotionExporter
from tests.notion_server.server import TOKEN, NotionServer, contents, running
from tests.notion_server.store import Thing


@dataclass
class Clock:
    """Time that passes only while someone sleeps."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@dataclass
class Lab:
    server: NotionServer
    clock: Clock
    notion: Notion
    folder: Path

    @property
    def source(self) -> Thing:
        [source] = [each for each in self.server.store.things.values() if each.kind == "data_source"]
        return source

    @property
    def rows(self) -> list[Thing]:
        return self.server.store.pages(self.source.id)

    @property
    def row(self) -> Thing:
        [row] = self.rows
        return row

    @property
    def page(self) -> list[Any]:
        return contents(self.server, self.row)

    def values(self, row: Thing | None = None) -> dict[str, Any]:
        """The row's values by the names of the columns, as text or number."""
        shown = self.server.store.show(row or self.row)["properties"]
        return {name: simple(value[value["type"]]) for name, value in shown.items()}

    def publish(self, *traces: Trace, attach_trace: bool = True, **options: Any) -> list[Published]:
        exporter = NotionExporter(self.notion, self.folder, attach_trace=attach_trace)
        return list(exporter.publish(traces, **options))

    def count(self, *traces: Trace) -> int:
        """How many requests publishing takes."""
        before = len(self.server.log)
        self.publish(*traces)
        return len(self.server.log) - before


def simple(value: Any) -> Any:
    match value:
        case [{"plain_text": _}, *_]:
            return "".join(item["plain_text"] for item in value)
        case [{"name": _}, *_]:
            return [option["name"] for option in value]
        case {"name": text} | {"start": text}:
            return text
        case _:
            return value or None if not isinstance(value, int | float) else value


@contextmanager
def notion_lab(folder: Path, *, timeout_s: float = 5, **options: Any) -> Iterator[Lab]:
    """A lab whose database is set up and whose log is empty."""
    clock = Clock()
    with running(clock=clock, **options) as server:
        arguments = {"address": server.address, "timeout_s": timeout_s, "sleep": clock.sleep, "clock": clock}
        with Notion(TOKEN, **arguments) as notion:
            list(setup(notion, parent=server.store.home.id, folder=folder))
            server.log.clear()
            yield Lab(server, clock, notion, folder)
            assert not server.complaints, server.complaints[0]


def trace_of(answer: str, question: str = "What is it?") -> Trace:
    return ToolUseAgent(ScriptedModel([Reply(text=answer)]), ToolRegistry()).run(question)


def changed(trace: Trace, answer: str) -> Trace:
    """The same run with another answer, as one that went on has."""
    return Trace([*trace.events[:-1], {**trace.events[-1], "answer": answer}])


UPLOAD = 2  # requests for the trace, which is sent before its page is made
FOUR = "- a\n  - b\n    - c\n      - d\n        - e\n\nOne\n\nTwo"  # as many requests for the page as the names say
SIX = "- a\n  - b\n    - c\n      - d\n        - e\n\n" + "\n\n".join(f"Paragraph {n}" for n in range(230))
FORTY = "\n\n".join(
    [
        *(f"- a{n}\n  - b\n    - c\n      - d\n        - e\n          - f" for n in range(10)),
        "| h |\n|---|\n" + "".join(f"| row {n} |\n" for n in range(750)),
        *(f"Paragraph {n}" for n in range(130)),
    ]
)
