"""What is printed of a run as it happens."""

from __future__ import annotations

import io
import time
from typing import Any

import pytest

from react_lab import Reply, ScriptedModel, ToolCall, ToolUseAgent
from react_lab.console import LiveView, PlainConsole
from react_lab.tools.standard import standard_tools

CALL = Reply("I calculate.", tool_calls=(ToolCall("1", "calculator", {"expression": "6 * 7"}),))


def shown(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, model: ScriptedModel) -> str:
    monkeypatch.setenv("TERM", "xterm")
    out = io.StringIO()
    view = LiveView("en", "scripted", console=PlainConsole(file=out, force_terminal=terminal, color_system=None))
    agent = ToolUseAgent(model, standard_tools())
    with view.showing():
        view.finish(agent.run("What is 6 * 7?", listener=view))
    return out.getvalue()


def test_nothing_moves_where_the_output_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, terminal=False, model=ScriptedModel([CALL, "42"])) == (
        'Thought: I calculate.\nAction: calculator({"expression": "6 * 7"})\nObservation: 42\nAnswer: 42\n'
    )


class SlowAtFirst(ScriptedModel):
    def reply(self, *args: Any, **options: Any) -> Reply:
        if not self.requests:
            time.sleep(0.3)  # so that the first reply is seen to arrive, and the second is not
        return super().reply(*args, **options)


def test_what_is_arriving_never_erases_what_was_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, terminal=True, model=SlowAtFirst([CALL, "42"]))
    before, _, after = text.partition("Observation: ")
    assert "is thinking" in before
    assert "\x1b[1A" not in after  # the cursor never goes up into what was printed


def test_hostile_text_cannot_steer_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, terminal=False, model=ScriptedModel(["\x1b[2J\x07[bold]gone[/bold]"]))
    assert text == "Answer: \\x1b[2J\\x07[bold]gone[/bold]\n"
