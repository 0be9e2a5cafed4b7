"""The basic workflow patterns."""

from collections.abc import Callable
from typing import Any

import pytest

from react_lab import Reply, ScriptedModel, Trace
from react_lab.trace import diff
from react_lab.workflow.patterns import FunctionWorkflow, chain, evaluate_and_improve, orchestrate, parallel, route


def test_a_chain_hands_on_what_each_step_wrote() -> None:
    assert chain("a", str.upper, lambda text: text + "!") == "A!"


def test_a_route_takes_the_step_that_was_chosen() -> None:
    assert route("2 + 2", lambda text: " sum\n", {"sum": lambda text: "4", "word": str.upper}) == "4"
    with pytest.raises(KeyError):
        route("?", lambda text: "elsewhere", {"sum": str.upper})


def test_parallel_steps_keep_their_order() -> None:
    assert parallel("ab", str.upper, lambda text: text * 2, str.title) == ["AB", "abab", "Ab"]


def test_a_draft_is_improved_until_the_judge_is_content() -> None:
    drafts: list[str] = []

    def write(text: str) -> str:
        drafts.append(text)
        return f"draft {len(drafts)}"

    assert evaluate_and_improve("Write.", write, lambda draft: None if draft == "draft 2" else "too short") == "draft 2"
    assert drafts == ["Write.", "Write.\n\ndraft 1\n\ntoo short"]


def test_improvement_has_an_end() -> None:
    assert evaluate_and_improve("x", lambda text: "draft", lambda draft: "no", rounds=2) == "draft"


def test_an_orchestrated_task_is_split_and_joined_in_order() -> None:
    assert orchestrate("b a", str.split, str.upper, lambda text: text) == "B\n\nA"


def outline_and_text(question: str, ask: Callable[[str, str], Any]) -> str:
    return chain(question, ask("outline", "Write an outline."), ask("text", "Write the text."))


def test_a_workflow_written_as_a_function_is_recorded_node_by_node() -> None:
    trace = FunctionWorkflow(ScriptedModel(["1. Lindau", "Lindau lies on an island."]), outline_and_text).run("Lindau?")
    assert trace.answer == "Lindau lies on an island."
    assert [(step.node, trace.prompt_at(step.index)[1].text) for step in trace.steps] == [
        ("outline", "Lindau?"),
        ("text", "1. Lindau"),
    ]


def test_it_goes_on_where_it_was_cut() -> None:
    replies = ["1. Lindau", "Lindau lies on an island."]
    whole = FunctionWorkflow(ScriptedModel(replies), outline_and_text).run("Lindau?")
    for cut in range(1, len(whole.events)):
        trace = Trace(whole.events[:cut])
        replied = sum(event["event"] == "reply" for event in trace.events)
        FunctionWorkflow(ScriptedModel(replies[replied:]), outline_and_text).resume(trace)
        assert diff(trace, whole) is None


def test_a_step_that_is_called_again_is_counted() -> None:
    def improve(question: str, ask: Callable[[str, str], Any]) -> str:
        return evaluate_and_improve(question, ask("write", "Write."), lambda draft: None if draft == "b" else "again")

    trace = FunctionWorkflow(ScriptedModel(["a", "b"]), improve).run("?")
    assert [step.node for step in trace.steps] == ["write", "write-2"]


def test_a_refusal_ends_the_workflow() -> None:
    trace = FunctionWorkflow(ScriptedModel([Reply("No.", stop_reason="refusal")]), outline_and_text).run("?")
    assert (trace.outcome, trace.reason) == ("refused", "outline: No.")
