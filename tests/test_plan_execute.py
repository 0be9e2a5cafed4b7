"""Plan and execute: a plan, its steps, its revision, an answer."""

from typing import Any

import pytest

from react_lab import OfflineModel, PlanAndExecuteAgent, Reply, ScriptedModel, ToolCall, ToolRegistry, Trace, tool
from react_lab.tools.standard import standard_tools
from react_lab.trace import diff


def plan(*steps: str) -> Reply:
    return Reply(tool_calls=(ToolCall("p", "hand_in_plan", {"steps": list(steps)}),), stop_reason="tool_calls")


def call(number: int, id: str) -> Reply:
    return Reply(tool_calls=(ToolCall(id, "double", {"number": number}),), stop_reason="tool_calls")


def registry() -> tuple[ToolRegistry, list[int]]:
    doubled: list[int] = []

    @tool
    def double(number: int) -> int:
        """Twice a number."""
        doubled.append(number)
        return 2 * number

    return ToolRegistry([double]), doubled


SCRIPT = [plan("Double 3.", "Double 4."), call(3, "a"), "6", plan("Double 4."), call(4, "b"), "8", plan(), "6 and 8"]


def run(*replies: Any, **options: Any) -> Trace:
    return PlanAndExecuteAgent(ScriptedModel(replies or SCRIPT), registry()[0], **options).run("Double 3 and 4.")


def test_a_plan_is_carried_out_step_by_step_and_answered() -> None:
    trace = run()
    assert (trace.outcome, trace.answer) == ("answered", "6 and 8")
    nodes = ["planner", "step-1", "step-1", "review-1", "step-2", "step-2", "review-2", "answer"]
    assert [step.node for step in trace.steps] == nodes


def test_a_step_knows_what_was_found_out_before_it() -> None:
    assert "- Double 3.: 6" in run().node("step-2").question


def test_the_plan_is_revised_when_an_observation_breaks_it() -> None:
    trace = run(plan("Double 3."), "There is no 3, it is a 5.", plan("Double 5."), call(5, "a"), "10", plan(), "10")
    assert [part for part in ("step-1", "step-2") if trace.node(part).question.startswith("Double 5.")] == ["step-2"]
    assert trace.answer == "10"


def test_a_step_that_fails_is_said_to_the_reviewer() -> None:
    trace = run(plan("Double 3."), call(3, "a"), plan(), "I can't tell.", max_steps=1)
    assert "(max_steps: no answer after 1 steps)" in trace.node("review-1").question


def test_what_was_tried_is_not_tried_again() -> None:
    trace = run(plan("Double 3."), "?", plan("Double 3."), "I don't know.")
    assert [step.node for step in trace.steps] == ["planner", "step-1", "review-1", "answer"]


def test_without_a_plan_the_question_is_the_only_step() -> None:
    trace = run("no", "no", "no", "6 and 8", plan(), "6 and 8")
    assert trace.node("step-1").question == "Double 3 and 4."


def test_a_plan_without_end_is_cut_off() -> None:
    endless = [reply for n in range(3) for reply in (f"{n}", plan(f"Double {n}."))]
    trace = run(plan("Double 9."), *endless, "enough", max_tasks=3)
    assert (trace.outcome, trace.answer) == ("answered", "enough")


def test_a_used_up_budget_ends_the_run_with_what_is_known() -> None:
    trace = run(*SCRIPT[:3], Reply(thought="3 calls are used up", stop_reason="budget"))
    assert (trace.outcome, trace.reason) == ("budget", "3 calls are used up")
    assert trace.answer == "- Double 3.: 6"


def test_a_run_that_was_cut_anywhere_goes_on_without_repeating_what_is_recorded() -> None:
    whole = run()
    for cut in range(1, len(whole.events)):
        trace = Trace(whole.events[:cut])
        replied = sum(event["event"] == "reply" for event in trace.events)
        done = [event["arguments"]["number"] for event in trace.events if event["event"] == "result"]
        tools, doubled = registry()
        PlanAndExecuteAgent(ScriptedModel(SCRIPT[replied:]), tools).resume(trace)
        assert diff(trace, whole) is None, cut
        assert [*done, *doubled] == [3, 4]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the difference between the atomic numbers of lead and gold?", "82 - 79 = 3"),
        ("珠穆朗玛峰和乔戈里峰哪个更高，高多少米？", "8849 - 8611 = 238"),
    ],
)
def test_the_stand_in_plans_and_executes(question: str, answer: str) -> None:
    trace = PlanAndExecuteAgent(OfflineModel(), standard_tools()).run(question)
    assert answer in (trace.answer or "")
    assert len([step for step in trace.steps if step.node.startswith("step-")]) >= 4
