"""What is printed of a run as it happens."""

from __future__ import annotations

import io
import re
import time
from typing import Any

import pytest

from react_lab import Reply, ScriptedModel, ToolCall, ToolUseAgent
from react_lab.console import LiveView, PlainConsole, Progress
from react_lab.tools.standard import standard_tools

CALL = Reply("I calculate.", tool_calls=(ToolCall("1", "calculator", {"expression": "6 * 7"}),))
CALLED = 'Action: calculator({"expression": "6 * 7"})'


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
        f"Thought: I calculate.\n{CALLED}\nObservation: 42\nAnswer: 42\n"
    )


class SlowAtFirst(ScriptedModel):
    def reply(self, *args: Any, **options: Any) -> Reply:
        if not self.requests:
            time.sleep(0.3)  # so that the first reply is seen to arrive, and the second is not
        return super().reply(*args, **options)


def test_what_is_arriving_never_erases_what_was_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, terminal=True, model=SlowAtFirst([CALL, "42"]))
    assert "is thinking" in text
    assert screen(text) == ["Thought: I calculate.", CALLED, "Observation: 42", "Answer: 42"]


def screen(text: str) -> list[str]:
    """The lines that a terminal shows in the end; knows the few controls that are used."""
    lines, row = [""], 0
    for part in re.split(r"(\r|\n|\x1b\[[0-9?]*[A-Za-z])", text):
        match part:
            case "\n":
                row += 1
                lines += [""] * (row + 1 - len(lines))
            case "\x1b[1A":
                row -= 1
            case "\x1b[2K":
                lines[row] = ""
            case _ if not part.startswith(("\r", "\x1b")):
                lines[row] += part
    return [line for line in lines if line]


def test_a_reply_that_could_not_be_read_is_shown_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, terminal=False, model=ScriptedModel(["", "42"]))
    assert text == "Reminder: Your reply was empty. Call a tool, or write the answer.\nAnswer: 42\n"


def test_hostile_arguments_in_a_prompt_cannot_steer_the_terminal_either() -> None:
    out = io.StringIO()
    view = LiveView("en", "scripted", show_prompt=True, console=PlainConsole(file=out, color_system=None))
    call = Reply(tool_calls=(ToolCall("1", "calculator", {"expression": "\x9b2J \u202e"}),))
    ToolUseAgent(ScriptedModel([call, "42"]), standard_tools()).run("?", listener=view)
    assert r"\x9b2J \u202e" in out.getvalue()
    assert "\x9b" not in out.getvalue()


def test_hostile_text_cannot_steer_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, terminal=False, model=ScriptedModel(["\x1b[2J\x07[bold]gone[/bold]"]))
    assert text == "Answer: \\x1b[2J\\x07[bold]gone[/bold]\n"


def test_progress_is_silent_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress() as progress:
        progress.show("1/2")
        progress.clear()
    assert capsys.readouterr() == ("", "")
