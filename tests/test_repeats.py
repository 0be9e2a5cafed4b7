"""What is said twice is written once, and read back letter by letter."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_lab.agent import Agent
from react_lab.errors import ConfigurationError
from react_lab.messages import Reply, ToolCall
from react_lab.models.scripted import ScriptedModel
from react_lab.repeats import Repeats
from react_lab.text_react import TextReActAgent
from react_lab.tool_use import ToolUseAgent
from react_lab.tools.base import tool
from react_lab.tools.registry import ToolRegistry
from react_lab.trace import Trace, to_json

LONG = "The lighthouse of Lindau stands in Lake Constance; it was lit in 1856 and is 33 metres high. " * 3


@tool
def look_up(topic: str) -> str:
    """A long observation."""
    return f"{topic}: {LONG}"


@tool
def read(topic: str) -> str:
    """An observation of two thousand characters."""
    return f"{topic}: {LONG * 8}"[:2000]


def text_run() -> tuple[Agent, list[str | Reply]]:
    thought = f"Thought: {LONG}\nAction: look_up[{{}}]"
    replies: list[str | Reply] = [thought.replace("{}", str(n)) for n in range(5)]
    return TextReActAgent(ScriptedModel([*replies, f"Final Answer: {LONG}"]), ToolRegistry([look_up])), replies


def native_run() -> tuple[Agent, list[str | Reply]]:
    blocks = {"provider": "anthropic", "model": "m", "content": [{"type": "thinking", "signature": LONG}]}
    calls = [(ToolCall(f"{n}a", "look_up", {"topic": "a"}), ToolCall(f"{n}b", "look_up", {"topic": "b"})) for n in "12"]
    replies: list[str | Reply] = [Reply(LONG, tool_calls=pair, native=blocks) for pair in calls]
    return ToolUseAgent(ScriptedModel([*replies, LONG]), ToolRegistry([look_up])), replies


@pytest.mark.parametrize("make", [text_run, native_run])
def test_a_file_is_read_back_as_it_was_and_holds_each_long_text_once(tmp_path: Path, make) -> None:
    agent, replies = make()
    trace = agent.run("Tell me of Lindau.", save=tmp_path / "t.jsonl")
    text = (tmp_path / "t.jsonl").read_text(encoding="utf-8")
    assert Trace.load(tmp_path / "t.jsonl").events == trace.events
    assert trace.to_jsonl() == text
    observed = sum(len(step.results) for step in trace.steps)
    said = text.count(LONG.replace("\n", "\\n"))
    answers = 2 if make is text_run else 3  # the answer: in the reply, in `end`, and, bare, in `parse`
    signed = 0 if make is text_run else len(replies)
    assert said <= observed + len(replies) + signed + answers


def test_results_that_the_model_reads_as_they_came_are_one_reference() -> None:
    repeats = Repeats()
    result = {"call_id": "c1", "name": "look_up", "content": LONG}
    repeats.shrink({"event": "result", "step": 1, **result, "is_error": False, "seconds": 0.1})
    as_read, shortened = (
        repeats.shrink({"event": "request", "step": 2, "messages": [{"role": "tool", "tool_results": [read_as]}]})
        for read_as in (result, {**result, "content": LONG[:200]})
    )
    assert as_read["messages"] == [{"role": "tool", "tool_results": {"said": "results"}}]
    cut = {"said": "c1", "from": 0, "to": 200}
    assert shortened["messages"] == [{"role": "tool", "tool_results": [{**result, "content": [cut]}]}]


def test_a_file_is_hardly_longer_than_the_messages_of_its_run_however_many() -> None:
    calls = [Reply(f"Thought {n}.", tool_calls=(ToolCall(f"c{n}", "read", {"topic": str(n)}),)) for n in range(200)]
    trace = ToolUseAgent(ScriptedModel([*calls, "Done."]), ToolRegistry([read]), max_steps=300).run("Lindau?")
    messages = sum(len(to_json(message.to_dict())) for message in trace.prompt_at(201))
    assert len(trace.to_jsonl()) <= 1.2 * messages


def test_a_short_text_stays_where_it_is() -> None:
    repeats = Repeats()
    reply = {"event": "reply", "step": 1, "text": "Thought: hm\nAction: look_up[x]"}
    parse = {"event": "parse", "step": 1, "thought": "hm", "calls": []}
    assert [repeats.shrink(reply), repeats.shrink(parse)] == [reply, parse]


TEXTS = st.text(max_size=3).map(lambda text: text * 60) | st.text(max_size=150)


@given(st.lists(st.tuples(TEXTS, st.lists(TEXTS, max_size=3), TEXTS), max_size=4), st.booleans())
def test_reading_undoes_writing_whatever_was_said(steps: list[tuple[str, list[str], str]], native: bool) -> None:
    events = []
    for step, (reply, contents, between) in enumerate(steps, start=1):
        blocks = {"content": reply} if native else None
        events.append({"event": "reply", "step": step, "text": reply, "native": blocks})
        events.append({"event": "parse", "step": step, "thought": reply[len(between) :]})
        results = [{"call_id": str(n), "content": content} for n, content in enumerate(contents)]
        events += [{"event": "result", "step": step, **result} for result in results]
        observed = between.join(["", *contents, ""])
        messages = [
            {"role": "assistant", "text": reply, "native": blocks},
            {"role": "user", "text": observed},
            {"role": "tool", "text": "", "tool_results": results},
        ]
        events.append({"event": "request", "step": step + 1, "messages": messages})
    writing, reading = Repeats(), Repeats()
    written = [json.loads(json.dumps(writing.shrink(event))) for event in events]
    assert [reading.expand(event) for event in written] == events


def test_a_reference_to_nothing_is_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    request = {"event": "request", "step": 1, "messages": [{"role": "user", "text": [{"said": "reply"}]}]}
    path.write_text('{"event": "run", "version": 1}\n' + json.dumps(request) + "\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="line 2 repeats 'reply'"):
        Trace.load(path)
