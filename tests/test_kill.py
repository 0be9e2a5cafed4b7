"""A run that is killed after any event goes on as if nothing had happened."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from react_lab import Reply, ScriptedModel, ToolCall, ToolRegistry, ToolUseAgent, Trace, tool
from react_lab.agent import Agent
from react_lab.trace import diff

STEPS = 6


def replies() -> list[Reply]:
    """Five turns of two calls each, and an answer."""
    turns = []
    for turn in range(1, STEPS):
        calls = tuple(ToolCall(f"{turn}.{side}", "write", {"line": f"{turn}.{side}"}) for side in "ab")
        turns.append(Reply(f"Turn {turn}.", tool_calls=calls, stop_reason="tool_calls"))
    return [*turns, Reply("Done.")]


def make_agent(log: Path, script: list[Reply]) -> Agent:
    """An agent whose tool has an effect that can be counted."""

    @tool
    def write(line: str) -> str:
        """Write a line."""
        with log.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        return f"wrote {line}"

    return ToolUseAgent(ScriptedModel(script), ToolRegistry([write]))


VICTIM = """
import os, signal, sys
from pathlib import Path
from tests.test_kill import make_agent, replies

folder, last = Path(sys.argv[1]), int(sys.argv[2])
count = 0

def listener(event):
    global count
    count += event["event"] != "text"  # pieces of text are told, not recorded
    if count == last:
        os.kill(os.getpid(), signal.SIGKILL)

agent = make_agent(folder / "log", replies())
agent.run("Go on.", save=folder / "t.jsonl", listener=listener)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a process can't be killed like this on Windows")
def test_a_run_killed_after_any_event_ends_like_one_that_was_not(tmp_path: Path) -> None:
    whole = make_agent(tmp_path / "log", replies()).run("Go on.")
    assert len(whole.steps) == STEPS
    for last in range(1, len(whole.events)):
        folder = tmp_path / str(last)
        folder.mkdir()
        killed = subprocess.run([sys.executable, "-c", VICTIM, str(folder), str(last)], check=False, timeout=60)
        assert killed.returncode == -signal.SIGKILL
        trace = Trace.load(folder / "t.jsonl")
        assert len(trace.events) == last  # nothing that was recorded is lost
        replied = sum(event["event"] == "reply" for event in trace.events)
        recorded = {event["call_id"] for event in trace.events if event["event"] == "result"}
        before = (
            Counter((folder / "log").read_text(encoding="utf-8").split()) if (folder / "log").exists() else Counter()
        )
        make_agent(folder / "log", replies()[replied:]).resume(trace)
        assert diff(trace, whole) is None
        assert Trace.load(folder / "t.jsonl").events == trace.events
        after = Counter((folder / "log").read_text(encoding="utf-8").split())
        assert all(after[line] == before[line] == 1 for line in recorded)  # its effect was not repeated
