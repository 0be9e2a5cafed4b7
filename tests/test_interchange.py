"""Runs in the formats of others, and back."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from react_lab import ScriptedModel, TextReActAgent, ToolUseAgent, Trace
from react_lab.interchange.atif import from_atif
from react_lab.interchange.otlp import CONVENTIONS, from_otlp
from tests.browser.runs import REGISTRY, calling, desk, lighthouse, lighthouse_in_chinese, run

PHOENIX = os.environ.get("REACT_LAB_PHOENIX")  # the Python of an environment that has arize-phoenix


def text_run() -> Trace:
    replies = [
        'Thought: 我先查。\nAction: search({"query": "Lanterna"})',
        "I forgot the format.",
        "Thought: 够了。\nFinal Answer: 77 m",
    ]
    return TextReActAgent(ScriptedModel(replies), REGISTRY).run("灯塔有多高？")


def out_of_steps() -> Trace:
    return ToolUseAgent(ScriptedModel([calling("x", ("echo", {"text": "😀"}))]), REGISTRY, max_steps=1).run("Hm?")


RUNS = {
    "native": lighthouse,
    "chinese": lighthouse_in_chinese,
    "text": text_run,
    "reminded": lambda: run("?", ["", "an answer"]),
    "out of steps": out_of_steps,
}
runs = pytest.mark.parametrize("make", RUNS.values(), ids=RUNS.keys())


def spans_of(trace: Trace) -> list[dict[str, Any]]:
    """The spans, each with its attributes as a plain dictionary."""
    (resource,) = json.loads(json.dumps(trace.to_otlp()))["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    for span in scope["spans"]:
        span["said"] = {item["key"]: next(iter(item["value"].values())) for item in span["attributes"]}
    return list(scope["spans"])


def same(a: Trace, b: Trace) -> None:
    """Two traces tell the same run."""
    assert a.steps == b.steps
    assert (a.id, a.question, a.model, a.answer, a.outcome, a.reason) == (
        b.id,
        b.question,
        b.model,
        b.answer,
        b.outcome,
        b.reason,
    )
    assert (a.usage, a.seconds, a.run["agent"], a.run["tools"]) == (b.usage, b.seconds, b.run["agent"], b.run["tools"])


@runs
def test_spans_can_be_read_back(make: Any) -> None:
    trace = make()
    back = from_otlp(json.loads(json.dumps(trace.to_otlp())))
    # The conventions tell a result's text and whether it failed; what else a prompt's results hold is on the spans.
    same(trace, back)
    assert back.run["started_at"] == trace.run["started_at"]
    for step in trace.steps:
        for ours, theirs in zip(trace.prompt_at(step.index), back.prompt_at(step.index), strict=True):
            assert (ours.role, ours.text, ours.tool_calls) == (theirs.role, theirs.text, theirs.tool_calls)
            read = [(result.call_id, result.name, result.content, result.is_error) for result in ours.tool_results]
            assert read == [(r.call_id, r.name, r.content, r.is_error) for r in theirs.tool_results]


@runs
def test_trajectories_can_be_read_back(make: Any) -> None:
    trace = make()
    same(trace, from_atif(json.loads(json.dumps(trace.to_atif()))))


def test_a_run_is_one_span_and_so_is_each_reply_and_each_call() -> None:
    root, *rest = spans_of(lighthouse())
    assert [span["name"] for span in rest] == [
        "chat scripted",
        "execute_tool search",
        "chat scripted",
        "execute_tool search",
        "execute_tool multiply",
        "chat scripted",
    ]
    assert root["name"] == "invoke_agent ToolUseAgent"
    assert all(span["parentSpanId"] == root["spanId"] for span in rest)
    assert all(re.fullmatch("[0-9a-f]{32}", span["traceId"]) for span in rest)
    assert len({span["spanId"] for span in [root, *rest]}) == 7
    assert all(re.fullmatch("[0-9a-f]{16}", span["spanId"]) for span in rest)


def test_spans_carry_the_attributes_of_the_conventions() -> None:
    root, first, failed, *_ = (span["said"] for span in spans_of(lighthouse()))
    assert root["gen_ai.operation.name"] == "invoke_agent"
    assert root["input.value"] == "How tall is the Lighthouse of Genoa in feet?"
    assert "input.value" not in first  # it would hide the prompt as sent
    assert (first["gen_ai.usage.input_tokens"], first["react_lab.step"]) == ("412", "1")
    assert json.loads(first["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "How tall is the Lighthouse of Genoa in feet?"}]}
    ]
    (output,) = json.loads(first["gen_ai.output.messages"])
    assert output["finish_reason"] == "end"
    assert [part["type"] for part in output["parts"]] == ["text", "tool_call"]
    assert failed["error.type"] == "tool_error"
    assert (failed["input.value"], failed["input.mime_type"]) == ('{"query": "locked"}', "application/json")
    (stamp,) = [
        item["value"]["stringValue"]
        for item in lighthouse().to_otlp()["resourceSpans"][0]["resource"]["attributes"]
        if item["key"] == "react_lab.conventions"
    ]
    assert stamp == CONVENTIONS


def test_what_nobody_counted_is_left_out() -> None:
    (_, chat) = spans_of(run("?", ["yes"]))
    assert not any(name.startswith("gen_ai.usage") for name in chat["said"])
    assert "metrics" not in run("?", ["yes"]).to_atif()["steps"][-1]


def test_calls_of_a_step_begin_when_the_model_is_done_and_end_after_their_time() -> None:
    trace = lighthouse()
    for event in trace.events:
        event |= {"seconds": 2.0} if event["event"] in ("reply", "result") else {}
    _, chat, call, following, *_ = spans_of(trace)
    times = [int(span["startTimeUnixNano"]) for span in (chat, call, following)]
    assert [time - times[0] for time in times] == [0, 2_000_000_000, 4_000_000_000]
    assert int(call["endTimeUnixNano"]) - times[1] == 2_000_000_000


def test_a_trajectory_has_numbered_steps_of_system_user_and_agent() -> None:
    document = lighthouse().to_atif()
    assert document["schema_version"] == "ATIF-v1.7"
    assert [step["step_id"] for step in document["steps"]] == [1, 2, 3, 4, 5]
    assert [step["source"] for step in document["steps"]] == ["system", "user", "agent", "agent", "agent"]
    step = document["steps"][3]
    known = {call["tool_call_id"] for call in step["tool_calls"]}
    assert {result["source_call_id"] for result in step["observation"]["results"]} == known
    assert step["metrics"] == {"prompt_tokens": 530, "completion_tokens": 61, "cached_tokens": 400}
    assert document["final_metrics"]["total_prompt_tokens"] == 1644


def test_a_trajectory_of_another_program_can_be_stepped_through() -> None:
    trace = from_atif(
        {
            "schema_version": "ATIF-v1.7",
            "session_id": "s",
            "agent": {"name": "other", "version": "1", "model_name": "m"},
            "steps": [
                {"step_id": 1, "source": "user", "message": "Hi?"},
                {
                    "step_id": 2,
                    "source": "agent",
                    "message": "I look.",
                    "tool_calls": [{"tool_call_id": "c", "function_name": "look", "arguments": {"at": "it"}}],
                    "observation": {"results": [{"source_call_id": "c", "content": "seen"}]},
                },
                {"step_id": 3, "source": "agent", "message": "It is there."},
            ],
        }
    )
    assert [step.text for step in trace.steps] == ["I look.", "It is there."]
    assert trace.steps[0].results[0].content == "seen"
    assert (trace.question, trace.answer, trace.outcome) == ("Hi?", "It is there.", "answered")


def test_spans_without_a_run_are_refused() -> None:
    with pytest.raises(ValueError, match="no run in these spans"):
        from_otlp({"resourceSpans": []})


ANTHROPIC = [
    {"role": "user", "content": "How tall is it?"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "search", "input": {"query": "灯塔"}},
            {"type": "tool_use", "id": "t2", "name": "search", "input": {"query": "?"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "77 m"}]},
            {"type": "tool_result", "tool_use_id": "t2", "content": "nothing", "is_error": True},
        ],
    },
    {"role": "assistant", "content": "77 m."},
]
OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How tall is it?"},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": "search", "arguments": '{"query": "灯塔"}'}},
            {"id": "t2", "type": "function", "function": {"name": "search", "arguments": '{"query": '}},
        ],
    },
    {"role": "tool", "tool_call_id": "t1", "content": "77 m"},
    {"role": "tool", "tool_call_id": "t2", "content": "nothing"},
    {"role": "assistant", "content": "77 m."},
]


@pytest.mark.parametrize("messages", [ANTHROPIC, OPENAI])
def test_a_message_list_of_another_program_can_be_stepped_through(messages: list[Any]) -> None:
    trace = Trace.from_messages(messages, model="theirs", system="Be brief.")
    look, answer = trace.steps
    assert (look.thought, look.calls[0].name, dict(look.calls[0].arguments)) == ("I look.", "search", {"query": "灯塔"})
    assert [result.content for result in look.results] == ["77 m", "nothing"]
    assert [result.name for result in look.results] == ["search", "search"]
    assert (trace.question, answer.answer, trace.answer, trace.outcome) == (
        "How tall is it?",
        "77 m.",
        "77 m.",
        "answered",
    )
    prompt = trace.prompt_at(2)
    assert [message.role for message in prompt] == ["system", "user", "assistant", "tool"]
    assert [result.content for result in prompt[-1].tool_results] == ["77 m", "nothing"]
    assert trace.usage is None


def test_calls_that_are_no_json_and_results_that_failed_stay_so() -> None:
    assert "no JSON object" in (Trace.from_messages(OPENAI).steps[0].calls[1].error or "")
    assert Trace.from_messages(ANTHROPIC).steps[0].results[1].is_error


def test_a_conversation_goes_on_after_an_answer() -> None:
    more = [*ANTHROPIC, {"role": "user", "content": "And in feet?"}, {"role": "assistant", "content": "253."}]
    trace = Trace.from_messages(more)
    assert trace.question == "How tall is it?"
    assert trace.prompt_at(3)[-1].text == "And in feet?"
    assert trace.answer == "253."


def test_a_list_that_ends_in_the_middle_is_an_interrupted_run() -> None:
    assert Trace.from_messages(ANTHROPIC[:3]).outcome == "interrupted"
    with pytest.raises(ValueError, match="no question"):
        Trace.from_messages([])


def test_a_trace_writes_its_own_page() -> None:
    assert lighthouse().to_html("zh").startswith('<!doctype html>\n<html lang="zh-CN">')


def test_a_workflow_is_a_tree_of_spans_and_is_read_back_as_one_run() -> None:
    trace = desk()
    root, *rest = spans_of(trace)
    nodes = {span["spanId"]: span["name"] for span in rest if span["said"]["gen_ai.operation.name"] == "invoke_agent"}
    assert list(nodes.values())[:3] == ["invoke_agent planner", "invoke_agent researcher", "invoke_agent synthesizer"]
    parents = {
        span["name"]: nodes.get(span["parentSpanId"]) for span in rest if span["name"].startswith("execute_tool")
    }
    assert parents == {"execute_tool search": "invoke_agent researcher-2"}
    assert all(span["parentSpanId"] == root["spanId"] for span in rest if span["spanId"] in nodes)
    for back in (from_otlp(trace.to_otlp()), from_atif(trace.to_atif())):
        assert (back.question, back.answer, back.usage) == (trace.question, trace.answer, trace.usage)
        found = [result.content for step in back.steps for result in step.results]
        assert found == [result.content for step in trace.steps for result in step.results]


@pytest.mark.slow
def test_phoenix_reads_the_spans(tmp_path: Path) -> None:
    """By its own converter, where it is installed beside the project (its licence is no open one)."""
    if not PHOENIX:
        pytest.skip("REACT_LAB_PHOENIX names no Python with arize-phoenix")
    document = tmp_path / "spans.json"
    document.write_text(json.dumps(lighthouse().to_otlp()), encoding="utf-8")
    script = Path(__file__).parent / "phoenix_reads.py"
    done = subprocess.run(
        [PHOENIX, str(script), str(document)], capture_output=True, text=True, check=True, timeout=120
    )
    spans = json.loads(done.stdout.splitlines()[-1])
    assert [span["kind"] for span in spans] == ["AGENT", "LLM", "TOOL", "LLM", "TOOL", "TOOL", "LLM"]
    chats = [span for span in spans if span["kind"] == "LLM"]
    assert [span["tokens"] for span in chats] == [[412, 38], [530, 61], [702, 44]]
    assert [span["messages"] for span in chats] == [2, 4, 6]  # with the system message
    tools = [span for span in spans if span["kind"] == "TOOL"]
    assert (tools[0]["tool"], tools[0]["input"], tools[0]["status"]) == ("search", '{"query": "locked"}', "ERROR")
    assert "77 m tall" in tools[1]["output"]
