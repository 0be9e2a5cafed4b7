"""Runs within a run: what the nodes of a workflow record."""

from pathlib import Path

import pytest

from react_lab.messages import Message, Reply, ToolCall
from react_lab.models.scripted import ScriptedModel
from react_lab.tool_use import ToolUseAgent
from react_lab.tools.base import tool
from react_lab.tools.registry import ToolRegistry
from react_lab.trace import Trace, diff


@tool
def double(number: int) -> int:
    """Twice a number."""
    return 2 * number


REGISTRY = ToolRegistry([double])


def call(number: int) -> Reply:
    return Reply("I double.", tool_calls=(ToolCall(f"c{number}", "double", {"number": number}),))


def whole_run(save: Path | None = None) -> Trace:
    whole = Trace.start(save=save, question="?", agent="Two", model="scripted", system="", tools=[], history=[])
    for name, number in (("first", 3), ("second", 4)):
        ToolUseAgent(ScriptedModel([call(number), f"{2 * number}"]), REGISTRY).run_within(
            whole, name, f"Twice {number}?"
        )
    whole.end("answered", answer="6 and 8")
    return whole


def test_steps_are_numbered_through_and_say_their_node() -> None:
    whole = whole_run()
    assert [(step.index, step.node) for step in whole.steps] == [
        (1, "first"),
        (2, "first"),
        (3, "second"),
        (4, "second"),
    ]
    assert [step.answer for step in whole.steps] == [None, "6", None, "8"]
    assert (whole.outcome, whole.answer) == ("answered", "6 and 8")


def test_a_node_is_a_run_of_its_own() -> None:
    part = whole_run().node("second")
    assert (part.question, part.answer, part.outcome) == ("Twice 4?", "8", "answered")
    assert [step.index for step in part.steps] == [1, 2]
    assert part.prompt_at(2)[1] == Message("user", "Twice 4?")


def test_the_prompt_of_a_step_is_that_of_its_node() -> None:
    whole = whole_run()
    assert whole.prompt_at(4) == whole.node("second").prompt_at(2)
    assert [message.text for message in whole.prompt_at(3)][1:] == ["Twice 4?"]


def test_the_file_holds_the_nodes(tmp_path: Path) -> None:
    whole = whole_run(tmp_path / "t.jsonl")
    assert Trace.load(tmp_path / "t.jsonl").events == whole.events


def test_a_run_with_an_open_node_is_interrupted() -> None:
    whole = Trace(whole_run().events[:-1])
    assert whole.finish["outcome"] == "interrupted"
    assert not whole.is_over
    assert whole.node("second").is_over


def test_a_recorded_node_is_neither_asked_nor_run_again() -> None:
    whole = whole_run()
    events = list(whole.events)
    part = ToolUseAgent(ScriptedModel([]), REGISTRY).run_within(whole, "first", "Twice 3?")
    assert part.answer == "6"
    assert whole.events == events


def test_a_node_that_was_cut_anywhere_goes_on(tmp_path: Path) -> None:
    events = whole_run().events
    for length in range(1, len(events)):
        whole = Trace(events[:length])
        for name, number in (("first", 3), ("second", 4)):
            replies = [call(number), f"{2 * number}"]
            asked = sum(event.get("node") == name and event["event"] == "reply" for event in whole.events)
            ToolUseAgent(ScriptedModel(replies[asked:]), REGISTRY).run_within(whole, name, f"Twice {number}?")
        whole.end("answered", answer="6 and 8")
        assert diff(whole, Trace(events)) is None


def test_a_node_within_a_node_has_its_path_as_name() -> None:
    whole = whole_run()
    inner = whole.node("third", question="?").node("inner", question="??", system="")
    assert inner.run["node"] == "third/inner"


def test_a_fork_within_a_node_keeps_the_nodes_before() -> None:
    whole = whole_run()
    child = whole.fork(3, observation="nine")
    assert child.node("first").answer == "6"
    part = ToolUseAgent(ScriptedModel(["nine"]), REGISTRY).run_within(child, "second", "Twice 4?")
    assert part.prompt_at(2)[-1].tool_results[0].content == "nine"
    assert part.answer == "nine"


def test_another_reply_belongs_to_the_node_of_the_step() -> None:
    child = whole_run().fork(2, reply="seven")
    assert child.steps[-1].node == "first"
    assert ToolUseAgent(ScriptedModel([]), REGISTRY).run_within(child, "first", "Twice 3?").answer == "seven"


def test_the_question_of_a_workflow_is_not_changed_halfway() -> None:
    with pytest.raises(ValueError, match="start a new run"):
        whole_run().fork(3, question="Twice 5?")
