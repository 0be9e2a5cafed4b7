"""What is printed of a run as it happens."""

from __future__ import annotations

import io

import pytest

from react_lab import Reply, ScriptedModel, ToolCall, ToolUseAgent
from react_lab.console import LiveView
from react_lab.tools.standard import standard_tools

CALL = Reply("I calculate.", tool_calls=(ToolCall("1", "calculator", {"expression": "6 * 7"}),))


def shown(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, replies: list[Reply | str]) -> str:
    view = LiveView("en", "scripted")
    out = io.StringIO()
    view.console.file = out
    monkeypatch.setattr(view.console, "_force_terminal", terminal)
    agent = ToolUseAgent(ScriptedModel(replies), standard_tools())
    with view.showing():
        view.finish(agent.run("What is 6 * 7?", listener=view))
    return out.getvalue()


def test_nothing_moves_where_the_output_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, terminal=False, replies=[CALL, "42"]) == (
        'Thought: I calculate.\nAction: calculator({"expression": "6 * 7"})\nObservation: 42\nAnswer: 42\n'
    )


def test_what_is_arriving_never_erases_what_was_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, terminal=True, replies=[CALL, "42"])
    after = text.partition("Observation: ")[2]
    assert "is thinking" in after
    assert "\x1b[1A" not in after.partition("is thinking")[0]  # the cursor stays below the observation


def test_hostile_text_cannot_steer_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, terminal=False, replies=["\x1b[2J\x07[bold]gone[/bold]"])
    assert text == "Answer: \\x1b[2J\\x07[bold]gone[/bold]\n"
