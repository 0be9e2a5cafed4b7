"""Limits: when they hold, how far they may be passed, and what the person gets in the place of an answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from react_lab import (
    Message,
    Model,
    ModelError,
    Reply,
    ScriptedModel,
    ToolCall,
    ToolRegistry,
    ToolResult,
    ToolUseAgent,
    Usage,
    tool,
)
from react_lab.errors import ConfigurationError
from react_lab.hardening.budget import BudgetedModel, best_so_far, with_budget
from react_lab.hardening.compaction import with_compaction
from react_lab.hardening.retry import with_retry

QUESTION = [Message("system", "Be brief."), Message("user", "How many?")]


class Costly:
    """A model whose every reply takes the same."""

    name, native_tools = "costly", True

    def __init__(self, *, seconds: float = 0.0, **reply: Any) -> None:
        self.seconds = seconds
        self.answer = Reply("42", **reply)
        self.asked = 0
        self._lock = threading.Lock()

    def reply(self, messages: Sequence[Message], **options: Any) -> Reply:
        with self._lock:
            self.asked += 1
        time.sleep(self.seconds)
        return self.answer


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def ask_until_refused(model: Model, *, most: int = 50) -> Reply:
    return next(r for r in (model.reply(QUESTION) for _ in range(most)) if r.stop_reason == "budget")


@pytest.mark.parametrize(
    ("limits", "reply", "asked", "told"),
    [
        ({"max_calls": 3}, {}, 3, "3 of 3 calls"),
        ({"max_tokens": 1000}, {"usage": Usage(200, 50)}, 4, "1,000 of 1,000 tokens"),
        ({"max_tokens": 1001}, {"usage": Usage(200, 50)}, 5, "1,250 of 1,001 tokens"),
        ({"max_cost_usd": 0.01}, {"cost_usd": 0.003}, 4, "$0.0120 of $0.0100"),
        ({"max_calls": 9, "max_tokens": 300}, {"usage": Usage(200, 50)}, 2, "500 of 300 tokens"),
        ({"max_tokens": 40}, {}, 3, "of 40 tokens"),  # not counted by the model: estimated
    ],
)
def test_nothing_is_asked_once_a_limit_is_reached(
    limits: dict[str, float], reply: dict[str, Any], asked: int, told: str
) -> None:
    model = Costly(**reply)
    refused = ask_until_refused(with_budget(model, on_warning=lambda text: None, **limits))  # type: ignore[arg-type]
    assert model.asked == asked
    assert refused.thought.startswith("the budget is used up: ")
    assert told in refused.thought
    assert refused.tool_calls == ()
    assert (refused.usage, refused.cost_usd) == (None, None)


def test_time_runs_from_the_first_call() -> None:
    model, clock = Costly(), Clock()
    limited = with_budget(model, max_seconds=60, clock=clock)
    clock.now = 1000.0
    limited.reply(QUESTION)
    clock.now += 59.9
    limited.reply(QUESTION)
    clock.now += 0.1
    assert "60.0 of 60.0 seconds" in limited.reply(QUESTION).thought
    assert model.asked == 2


def test_a_person_is_warned_once_for_each_limit_at_four_fifths() -> None:
    told: list[str] = []
    model = with_budget(Costly(usage=Usage(90, 10)), max_tokens=1000, max_calls=9, on_warning=told.append)
    counts = []
    for _ in range(9):
        model.reply(QUESTION)
        counts.append(len(told))
    assert counts == [0] * 7 + [2, 2]
    assert told == ["the budget is running low: 8 of 9 calls", "the budget is running low: 800 of 1,000 tokens"]


def test_without_a_listener_the_warning_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with_budget(Costly(), max_calls=1).reply(QUESTION)
    assert caplog.messages == ["the budget is running low: 1 of 1 calls"]


def test_a_chinese_conversation_is_told_in_chinese() -> None:
    told: list[str] = []
    model = with_budget(Costly(), max_calls=1, on_warning=told.append)
    question = [Message("user", "有多少？")]
    model.reply(question)
    assert model.reply(question).thought == "预算已用完：已用 1 次调用（上限 1 次）"
    assert told == ["预算即将用完：已用 1 次调用（上限 1 次）"]


def test_a_limit_on_money_needs_a_price() -> None:
    model = with_budget(Costly(usage=Usage(5, 5)), max_cost_usd=1)
    with pytest.raises(ConfigurationError, match=r"what costly costs is unknown.*limit tokens or calls instead"):
        model.reply(QUESTION)


def test_what_is_free_never_uses_up_a_limit_on_money() -> None:
    model = with_budget(Costly(cost_usd=0.0), max_cost_usd=0.01)
    assert all(model.reply(QUESTION).text == "42" for _ in range(20))


@pytest.mark.parametrize("limits", [{}, {"max_calls": 0}, {"max_tokens": 5, "max_seconds": -1}])
def test_limits_are_given_and_above_nothing(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least one limit, and only limits above 0"):
        with_budget(Costly(), **limits)  # type: ignore[arg-type]


# -- several threads ---------------------------------------------------------------------------------------------


def in_threads(count: int, model: Model, each: int) -> None:
    threads = [threading.Thread(target=lambda: [model.reply(QUESTION) for _ in range(each)]) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    ("limits", "reply", "most"),
    [
        ({"max_calls": 20}, {}, 20),
        ({"max_tokens": 2050}, {"usage": Usage(90, 10)}, 21),
        ({"max_cost_usd": 0.0205}, {"cost_usd": 0.001}, 21),
    ],
)
def test_threads_together_pass_a_limit_by_one_call_at_most(
    limits: dict[str, float], reply: dict[str, Any], most: int
) -> None:
    model = Costly(seconds=0.005, **reply)
    limited = with_budget(model, on_warning=lambda text: None, **limits)  # type: ignore[arg-type]
    in_threads(8, limited, 10)
    assert model.asked == most


def test_threads_are_not_held_up_while_there_is_room() -> None:
    model = Costly(seconds=0.05, usage=Usage(90, 10))
    started = time.perf_counter()
    in_threads(8, with_budget(model, max_tokens=100_000), 3)
    assert time.perf_counter() - started < 8 * 3 * 0.05 / 2
    assert model.asked == 24


def test_a_call_that_fails_holds_up_nobody() -> None:
    class Failing(Costly):
        def reply(self, messages: Sequence[Message], **options: Any) -> Reply:
            super().reply(messages)
            raise ModelError("down")

    limited = BudgetedModel(Failing(), {"tokens": 100.0}, lambda text: None, time.monotonic)
    for _ in range(3):
        with pytest.raises(ModelError):
            limited.reply(QUESTION)
    assert limited.spent["calls"] == 3


# -- the best so far ---------------------------------------------------------------------------------------------

CALL = (ToolCall("1", "look"),)


@pytest.mark.parametrize(
    ("since", "best"),
    [
        ([], ""),
        (
            [Message("assistant", "It has to do with 42."), Message("user", "Your reply could not be read: no")],
            "It has to do with 42.",
        ),
        ([Message("assistant", "Thought: it is 42\nAction: look()"), Message("user", "Observation: yes")], "it is 42"),
        ([Message("assistant", "Action: look()"), Message("user", "Observation: 42 apples")], "42 apples"),
        (
            [
                Message("assistant", "行动：look()"),
                Message("user", "观察：42 个\n\n（下一轮：先写思考，再写一个行动或最终答案，按上面的格式。）"),
            ],
            "42 个",
        ),
        (
            [Message("assistant", "", CALL), Message("tool", tool_results=(ToolResult("1", "look", "42 pears"),))],
            "42 pears",
        ),
        (
            [Message("assistant", "42 so far", CALL), Message("tool", tool_results=(ToolResult("1", "look", "7"),))],
            "42 so far",
        ),
    ],
)
def test_the_last_thought_is_better_than_the_last_observation_and_that_than_nothing(
    since: list[Message], best: str
) -> None:
    past = [Message("user", "Before?"), Message("assistant", "The answer of before.")]
    assert best_so_far([QUESTION[0], *past, QUESTION[1], *since]) == best


def test_the_reply_of_a_used_up_budget_holds_the_best_so_far() -> None:
    model = with_budget(ScriptedModel(["x"]), max_calls=1, on_warning=lambda text: None)
    model.reply(QUESTION)
    reply = model.reply(
        [*QUESTION, Message("assistant", "Thought: perhaps 42\nAction: f()"), Message("user", "Observation: 1")]
    )
    assert (reply.text, reply.stop_reason) == ("perhaps 42", "budget")


def test_a_run_ends_with_the_outcome_budget_and_its_best_answer() -> None:
    @tool
    def look(tree: int) -> str:
        """Look."""
        return f"{tree + 41} apples"

    turns = [Reply(tool_calls=(ToolCall(str(number), "look", {"tree": number}),)) for number in range(9)]
    model = with_budget(ScriptedModel(turns), max_calls=2, on_warning=lambda text: None)
    trace = ToolUseAgent(model, ToolRegistry([look])).run("How many apples?")
    assert (trace.outcome, trace.answer, len(trace.steps)) == ("budget", "42 apples", 2)
    assert trace.reason == "the budget is used up: 2 of 2 calls"


def test_wrappers_of_a_model_stack() -> None:
    model = with_budget(with_compaction(with_retry(ScriptedModel(["42"]))), max_calls=1, on_warning=lambda text: None)
    assert (model.name, model.native_tools) == ("scripted", True)
    assert model.reply(QUESTION).text == "42"
    assert model.reply(QUESTION).stop_reason == "budget"
