"""A run as it happens, and what a person can do to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from react_lab import ModelError, Reply, ScriptedModel, ToolRegistry, ToolUseAgent
from react_lab.modes import make_runner
from react_lab.replay.live import Watch
from react_lab.replay.player import watch
from tests.browser.runs import REGISTRY, calling

MULTIPLY = calling("I multiply.", ("multiply", {"a": 6, "b": 7}))


def agent(*replies: Reply | str, registry: ToolRegistry = REGISTRY) -> ToolUseAgent:
    return ToolUseAgent(ScriptedModel(replies), registry)


def watching(*replies: Reply | str, **options: Any) -> Watch:
    return watch(agent(*replies), "6 × 7?", lang="en", **options)


def until(happened: Callable[[], bool]) -> None:
    """Wait for something that another thread does."""
    deadline = time.monotonic() + 10
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


def test_the_player_has_the_whole_run_when_it_is_over() -> None:
    live = watching(MULTIPLY, "42")
    live.wait(10)
    assert live.trace.answer == "42"
    assert len(live.player.told["steps"]) == 2
    assert "answered" in live.player.told["lines"][0]
    assert live.status.value == "done"
    assert live.hold.disabled


def test_the_player_grows_with_the_run() -> None:
    class Slow(ScriptedModel):
        def reply(self, *arguments: Any, **options: Any) -> Reply:
            if len(self.requests) == 1:
                seen.append(live.player.told)
            return super().reply(*arguments, **options)

    seen: list[Any] = []
    live = watch(ToolUseAgent(Slow([MULTIPLY, "42"]), REGISTRY), "6 × 7?", lang="en", paused=True)
    assert live.player.told["lines"][-1] == "The model has not replied yet."
    live.hold.click()
    live.wait(10)
    assert len(seen[0]["steps"]) == 1
    assert "running" in seen[0]["lines"][0]


def test_a_held_run_goes_on_a_step_at_a_time() -> None:
    live = watching(MULTIPLY, MULTIPLY, "42", paused=True)
    until(lambda: live.status.value == "paused")
    assert live.trace.steps == ()
    for number in (1, 2):
        live.one.click()
        until(lambda number=number: len(live.trace.steps) == number and live.status.value == "paused")  # type: ignore[misc]
    assert live.hold.description == "Run"
    live.hold.click()
    live.wait(10)
    assert live.trace.answer == "42"


def test_a_call_waits_until_it_is_approved() -> None:
    live = watching(MULTIPLY, "42", ask=True)
    until(lambda: live.status.value == "multiply waits for you")
    assert live.question.layout.display == ""
    assert "waiting" in str(live.player.told["steps"][0]["parts"])
    live.approve()
    live.wait(10)
    assert live.trace.steps[0].results[0].content == "42"
    assert live.question.layout.display == "none"


def test_arguments_can_be_changed_and_the_model_is_told() -> None:
    live = watching(MULTIPLY, "0", ask=True)
    until(lambda: live.status.value == "multiply waits for you")
    live.arguments.value = "{"
    live.approve()
    assert "Expecting" in live.status.value
    live.arguments.value = '{"a": 0, "b": 7}'
    live.approve()
    live.wait(10)
    assert live.trace.steps[0].results[0].content == '(The person changed the arguments to {"a": 0, "b": 7}.)\n0'


def test_a_refused_call_is_not_run_and_the_model_is_told_why() -> None:
    live = watching(MULTIPLY, "Then I don't know.", ask=True)
    until(lambda: live.status.value == "multiply waits for you")
    live.reason.value = "Do it in your head."
    next(button for button in live.question.children[1].children if button.description == "Refuse").click()
    live.wait(10)
    (result,) = live.trace.steps[0].results
    assert (result.is_error, result.content) == (True, "Error: the person refused this call. Do it in your head.")
    assert live.trace.answer == "Then I don't know."


@pytest.mark.parametrize("paused", [True, False])
def test_a_stopped_run_is_interrupted(paused: bool) -> None:
    live = watching(MULTIPLY, "42", ask=True, paused=paused)
    until(lambda: live.status.value in ("paused", "multiply waits for you"))
    live.stop.click()
    live.wait(10)
    assert live.trace.outcome == "interrupted"
    assert live.status.value == "stopped"
    assert "interrupted" in live.player.told["lines"][0]


def test_a_provider_that_fails_leaves_a_run_that_says_so() -> None:
    live = watching(MULTIPLY)
    live.wait(10)
    assert live.trace.outcome == "error"
    assert "the script has 1 replies" in str(live.player.told["lines"])


def test_the_agent_itself_is_not_changed() -> None:
    given = agent(MULTIPLY, "42")
    watch(given, "6 × 7?").wait(10)
    assert given.registry is REGISTRY
    with pytest.raises(ModelError):
        given.run("again")


@pytest.mark.parametrize("mode", ["plan", "research"])
def test_the_calls_of_a_workflow_are_decided_by_the_person_too(mode: str) -> None:
    live = watch(make_runner("offline", mode), "What is the capital of France?", lang="en", ask=True)
    until(lambda: "search" in live.status.value)
    live.approve()
    until(lambda: live.is_over or "search" in live.status.value)
    while not live.is_over:
        live.approve()
        time.sleep(0.02)
    live.wait(10)
    assert "Paris" in (live.trace.answer or "")
    assert "researcher" in str(live.player.told) if mode == "research" else "step-1" in str(live.player.told)
