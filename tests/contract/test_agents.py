"""Both loops keep the same contract: one script, the same calls, results, answer and outcome."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from react_lab import (
    Agent,
    Message,
    ModelError,
    Reply,
    ScriptedModel,
    TextReActAgent,
    ToolCall,
    ToolRegistry,
    ToolUseAgent,
    Trace,
    Usage,
    tool,
)
from react_lab.agent import BEST_GUESS
from react_lab.guard import AGAIN, NOT_RUN
from react_lab.hardening.budget import with_budget

Turn = str | list[tuple[str, dict[str, object]]]  # an answer, or calls


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool
def crash() -> str:
    """Crash."""
    raise RuntimeError("disk on fire")


REGISTRY = ToolRegistry([add, crash])
SUM: Turn = [("add", {"a": 1, "b": 2})]


def native(turn: Turn, number: int) -> Reply:
    if isinstance(turn, str):
        return Reply(turn)
    calls = tuple(ToolCall(f"{number}.{i}", name, arguments) for i, (name, arguments) in enumerate(turn))
    return Reply("I act.", tool_calls=calls, stop_reason="tool_calls")


def call(turn: Turn, number: int) -> Reply:
    if isinstance(turn, str):
        return Reply(f"Thought: I know.\nFinal Answer: {turn}" if turn.strip() else turn)
    written = ", ".join(f"{name}({json.dumps(arguments)})" for name, arguments in turn)
    return Reply(f"Thought: I act.\nAction: [{written}]")


def bracket(turn: Turn, number: int) -> Reply:
    if isinstance(turn, str):
        return Reply(f"Action: Finish[{turn}]" if turn.strip() else turn)
    return Reply("Action: " + ", ".join(f"{name}[{json.dumps(arguments)}]" for name, arguments in turn))


Write = Callable[[Turn, int], Reply]


@pytest.fixture(params=["native", "call", "bracket"])
def write(request: pytest.FixtureRequest) -> Write:
    return {"native": native, "call": call, "bracket": bracket}[request.param]


def make(write: Write, turns: Sequence[Turn | Reply], **options: Any) -> Agent:
    replies = [turn if isinstance(turn, Reply) else write(turn, number) for number, turn in enumerate(turns)]
    model = ScriptedModel(replies)
    return ToolUseAgent(model, REGISTRY, **options) if write is native else TextReActAgent(model, REGISTRY, **options)


def test_a_call_its_result_and_the_answer_are_recorded(write: Write) -> None:
    trace = make(write, [SUM, "3"]).run("1 + 2?")
    first, second = trace.steps
    assert [(c.name, c.arguments) for c in first.calls] == [("add", {"a": 1, "b": 2})]
    assert [result.content for result in first.results] == ["3"]
    assert (second.answer, trace.answer, trace.outcome) == ("3", "3", "answered")


def test_all_calls_of_a_reply_are_answered_in_order(write: Write) -> None:
    trace = make(write, [[("add", {"a": 1, "b": 1}), ("add", {"a": 2, "b": 2})], "done"]).run("?")
    assert [result.content for result in trace.steps[0].results] == ["2", "4"]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ([("ad", {})], "unknown tool 'ad'; the tools are: add, crash, look"),
        ([("add", {"a": 1})], "'b' is a required property"),
        ([("add", {"a": "x", "b": 2})], "'x' is not of type 'integer'"),
        ([("crash", {})], "RuntimeError: disk on fire"),
    ],
)
def test_a_models_mistake_is_observed_and_the_run_goes_on(write: Write, bad: Turn, told: str) -> None:
    trace = make(write, [bad, "recovered"]).run("?")
    (result,) = trace.steps[0].results
    assert result.is_error
    assert told in result.content
    assert trace.answer == "recovered"


def test_the_step_limit_is_an_outcome(write: Write) -> None:
    trace = make(write, [SUM, SUM, SUM], max_steps=2).run("?")
    assert (trace.outcome, trace.answer, trace.reason) == ("max_steps", None, "no answer after 2 steps")
    assert len(trace.steps) == 2


def test_an_empty_reply_is_answered_with_a_reminder(write: Write) -> None:
    trace = make(write, ["", "better"]).run("?")
    assert trace.steps[0].reminder
    assert trace.answer == "better"


def test_three_unreadable_replies_in_a_row_end_the_run(write: Write) -> None:
    trace = make(write, ["", " ", "", "never asked"]).run("?")
    assert (trace.outcome, trace.reason) == ("error", "3 replies in a row could not be read")


def test_a_call_between_unreadable_replies_starts_the_count_again(write: Write) -> None:
    assert make(write, ["", "", SUM, "", "", "ok"]).run("?").answer == "ok"


def test_a_refusal_is_an_outcome_with_its_reason(write: Write) -> None:
    trace = make(write, [Reply("I won't.", stop_reason="refusal")]).run("?")
    assert (trace.outcome, trace.answer, trace.reason) == ("refused", None, "I won't.")


def test_an_answer_that_was_cut_off_is_kept_as_truncated(write: Write) -> None:
    cut = replace(write("The answer is for", 0), stop_reason="max_tokens")
    trace = make(write, [cut]).run("?")
    assert (trace.outcome, trace.answer) == ("truncated", "The answer is for")


def test_a_model_that_fails_raises_after_the_trace_was_closed(write: Write) -> None:
    agent = make(write, [])
    trace = agent.start("?")
    with pytest.raises(ModelError):
        agent.resume(trace)
    assert (trace.outcome, trace.reason) == ("error", "the script has 0 replies and was asked for number 1")


def test_steps_come_as_they_happen(write: Write) -> None:
    agent = make(write, [SUM, "3"])
    steps = agent.steps("?")
    assert next(steps).results[0].content == "3"
    assert isinstance(agent.model, ScriptedModel)
    assert len(agent.model.requests) == 1
    assert next(steps).answer == "3"
    assert next(steps, None) is None


def test_text_is_told_to_the_listener_as_it_arrives_and_not_recorded(write: Write) -> None:
    heard: list[str] = []
    trace = make(write, [SUM, "3"]).run("?", listener=lambda event: heard.append(event["event"]))
    assert heard[:4] == ["run", "request", "text", "reply"]
    assert "text" not in [event["event"] for event in trace.events]


def test_the_conversation_so_far_is_part_of_the_prompt(write: Write) -> None:
    history = [Message("user", "My name is Ada."), Message("assistant", "Hello Ada.")]
    agent = make(write, ["Ada"])
    trace = agent.run("Who am I?", history=history)
    texts = [message.text for message in trace.prompt_at(1)]
    assert texts[1:] == ["My name is Ada.", "Hello Ada.", "Who am I?"]


def test_usage_is_added_up(write: Write) -> None:
    turns = [replace(write(turn, i), usage=Usage(10, 5)) for i, turn in enumerate([SUM, "3"])]
    assert make(write, turns).run("?").usage == Usage(20, 10)


@pytest.mark.parametrize(("question", "told"), [("", "empty"), (" \n", "empty"), ("x" * 100_000, "100000 characters")])
def test_a_question_that_makes_no_sense_is_refused_before_anything_is_written(
    write: Write, question: str, told: str
) -> None:
    agent = make(write, ["x"])
    with pytest.raises(ValueError, match=told):
        agent.run(question, save="t.jsonl")
    assert not Path("t.jsonl").exists()


def test_at_least_one_step_is_needed(write: Write) -> None:
    with pytest.raises(ValueError, match="max_steps must be at least 1, not 0"):
        make(write, [], max_steps=0)


@tool
def look(page: str) -> str:
    """A page; the word "more" gives a new one each time."""
    if page == "more":
        PAGES.append(page)
        return f"page {len(PAGES)}"
    return f"about {page}"


PAGES: list[str] = []
REGISTRY.register(look)


def observations(trace: Trace) -> list[str]:
    return [result.content for step in trace.steps for result in step.results]


def told(trace: Trace, step: int) -> str:
    """What the model read last before it wrote a step."""
    message = trace.prompt_at(step)[-1]
    return message.text + "".join(result.content for result in message.tool_results)


def test_the_same_call_with_the_same_result_is_warned_about_and_then_not_run(write: Write) -> None:
    same: Turn = [("look", {"page": "fox"})]
    trace = make(write, [same, same, same, same, "ok"]).run("?")
    assert observations(trace)[:2] == ["about fox", "about fox"]
    assert [result.is_error for step in trace.steps for result in step.results] == [False, False, True, True]
    assert AGAIN["en"] not in told(trace, 2)
    assert AGAIN["en"] in told(trace, 3)
    assert NOT_RUN["en"] in told(trace, 4)
    assert trace.answer == "ok"


def test_a_repeated_call_that_brings_something_new_is_progress(write: Write) -> None:
    more: Turn = [("look", {"page": "more"})]
    trace = make(write, [more] * 4 + ["ok"]).run("?")
    assert len(set(observations(trace))) == 4
    assert AGAIN["en"] not in "".join(told(trace, step) for step in range(1, 6))


def test_a_call_that_comes_again_after_another_is_run(write: Write) -> None:
    fox, owl = [("look", {"page": "fox"})], [("look", {"page": "owl"})]
    trace = make(write, [fox, owl, fox, owl, fox, "ok"]).run("?")
    assert not any(result.is_error for step in trace.steps for result in step.results)


def test_an_unknown_tool_is_told_differently_the_second_time(write: Write) -> None:
    trace = make(write, [[("lok", {"page": "a"})], [("lok", {"page": "b"})], "ok"]).run("?")
    assert "You were told that lok does not exist" not in told(trace, 2)
    assert "You were told that lok does not exist" in told(trace, 3)


def test_the_model_reads_a_long_observation_shortened_and_the_trace_keeps_it(write: Write) -> None:
    trace = make(write, [[("look", {"page": "x" * 9000})], "ok"], max_chars=1000).run("?")
    assert observations(trace) == ["about " + "x" * 9000]
    assert "8006 characters left out" in told(trace, 2)
    assert len(told(trace, 2)) < 1300


def test_a_best_guess_can_be_asked_for_when_the_steps_are_used_up(write: Write) -> None:
    agent = make(write, [SUM, SUM, "3, I guess"], max_steps=2, best_guess=True)
    trace = agent.run("1 + 2?")
    assert (trace.outcome, trace.answer, trace.reason) == ("max_steps", "3, I guess", "no answer after 2 steps")
    assert told(trace, 3).endswith(BEST_GUESS["en"])


def test_a_guess_that_the_budget_does_not_allow_is_no_step(write: Write) -> None:
    agent = make(write, [SUM, SUM, "3, I guess"], max_steps=2, best_guess=True)
    agent.model = with_budget(agent.model, max_calls=2, on_warning=lambda text: None)
    trace = agent.run("1 + 2?")
    assert (trace.outcome, trace.reason) == ("max_steps", "no answer after 2 steps")
    assert [event["step"] for event in trace.events if event["event"] == "parse"] == [1, 2]


def test_a_fork_runs_on_from_the_changed_observation(write: Write) -> None:
    trace = make(write, [SUM, "3"]).run("1 + 2?")
    child = trace.fork(1, observation="4")
    make(write, ["4"]).resume(child)
    assert (child.answer, child.steps[0].results[0].content) == ("4", "4")
    assert trace.answer == "3"
