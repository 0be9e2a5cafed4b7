"""Runs to look at."""

from __future__ import annotations

import json
from pathlib import Path

from react_lab import (
    OfflineModel,
    Reply,
    ResearchWorkflow,
    ScriptedModel,
    ToolCall,
    ToolRegistry,
    ToolUseAgent,
    Trace,
    Usage,
    tool,
)
from react_lab.tools.standard import standard_tools


@tool
def search(query: str) -> str:
    """Search the almanac."""
    if query == "locked":
        raise RuntimeError("the index is locked by another process")
    return "Lighthouse of Genoa\n77 m tall, built in 1543. https://almanac.example/lanterna"


@tool
def multiply(a: float, b: float) -> float:
    """Multiply two numbers."""
    return a * b


@tool
def echo(text: str) -> str:
    """Say the text again."""
    return text


REGISTRY = ToolRegistry([search, multiply, echo])


def calling(text: str, *calls: tuple[str, dict[str, object]], usage: Usage | None = None) -> Reply:
    tool_calls = tuple(ToolCall(f"call-{name}", name, arguments) for name, arguments in calls)
    return Reply(text, tool_calls=tool_calls, usage=usage)


def run(question: str, replies: list[Reply | str], *, model: str = "scripted") -> Trace:
    return ToolUseAgent(ScriptedModel(replies, name=model), REGISTRY, max_steps=1000).run(question)


def lighthouse() -> Trace:
    """Three steps: a failure, two calls side by side, an answer with a source."""
    return run(
        "How tall is the Lighthouse of Genoa in feet?",
        [
            calling("I look up its height first.", ("search", {"query": "locked"}), usage=Usage(412, 38)),
            calling(
                "The search failed. I try other words, and convert meanwhile.",
                ("search", {"query": "Lanterna of Genoa"}),
                ("multiply", {"a": 77, "b": 3.28084}),
                usage=Usage(530, 61, 400),
            ),
            Reply("77 m, about 253 feet. Source: https://almanac.example/lanterna", usage=Usage(702, 44, 520)),
        ],
    )


def lighthouse_in_chinese() -> Trace:
    """Two steps of the offline stand-in."""
    return run(
        "热那亚的灯塔有多高？",
        [
            calling("我先查热那亚灯塔的高度。", ("search", {"query": "热那亚灯塔 高度"}), usage=Usage(412, 38)),
            Reply("热那亚灯塔高 77 米。来源：https://almanac.example/lanterna", usage=Usage(530, 44)),
        ],
        model="offline",
    )


def long_run(steps: int) -> Trace:
    """A run of that many steps, each with an observation of two thousand characters."""
    turns: list[Reply | str] = [calling(f"Thought {n}.", ("echo", {"text": f"{n:04} " * 400})) for n in range(1, steps)]
    return run("Count.", [*turns, "Done."])


def save_notebook(path: Path, *cells: str) -> Path:
    """A notebook with these code cells, not run yet."""
    code: dict[str, object] = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "cells": [{**code, "id": f"cell-{number}", "source": source} for number, source in enumerate(cells)],
    }
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def replaying(trace: Trace, path: Path, lang: str) -> str:
    """A cell that plays a run, which is saved to that path first."""
    trace.save(path)
    return (
        "from react_lab.replay.player import replay\n"
        "from react_lab.trace import Trace\n"
        f"replay(Trace.load({str(path)!r}), lang={lang!r})"
    )


def desk() -> Trace:
    """A research workflow of four nodes, over two rounds, done by the stand-in."""
    return ResearchWorkflow(OfflineModel(), standard_tools()).run(
        "Which is higher, Mount Everest or Mount Qomorangula?"
    )
