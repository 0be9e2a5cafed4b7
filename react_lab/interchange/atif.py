"""A run as an ATIF document (Agent Trajectory Interchange Format), and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from react_lab.interchange.recording import Turn, record, reply_of
from react_lab.messages import Message, Reply, ToolCall, ToolResult, Usage, set_fields
from react_lab.trace import FORMAT_VERSION, Step, Trace

Json = dict[str, Any]

ATIF = "ATIF-v1.7"  # https://github.com/laude-institute/harbor, Agent Trajectory Interchange Format


def to_atif(trace: Trace) -> Json:
    """A run as an ATIF document: a step for what each of system, user and agent said."""
    steps: list[Json] = [{"source": "system", "message": trace.run["system"]}]
    opening = trace.prompt_at(1)[1:] if trace.steps else ()
    steps += [{"source": "user" if message.role == "user" else "agent", "message": message.text} for message in opening]
    for step in trace.steps:
        steps.append(_atif_step(trace, step))
        if step.reminder is not None:
            steps.append({"source": "user", "message": step.reminder})
    usage = trace.usage
    totals: Json = {"total_steps": len(steps)}
    if usage:
        totals |= {"total_prompt_tokens": usage.input_tokens, "total_completion_tokens": usage.output_tokens}
        totals["total_cached_tokens"] = usage.cached_tokens
    return {
        "schema_version": ATIF,
        "session_id": trace.id,
        "agent": {
            "name": trace.run.get("agent", ""),
            "version": str(FORMAT_VERSION),
            "model_name": trace.model,
            "tool_definitions": trace.run.get("tools", []),
        },
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
        "final_metrics": totals,
        "extra": {
            "question": trace.question,
            **{key: trace.finish.get(key) for key in ("outcome", "answer", "reason")},
        },
    }


def _atif_step(trace: Trace, step: Step) -> Json:
    written: Json = {"source": "agent", "model_name": trace.model, "message": step.text}
    reply = reply_of(trace, step)
    if step.thought:
        written["reasoning_content"] = step.thought
    if step.calls:
        written["tool_calls"] = [
            {"tool_call_id": call.id, "function_name": call.name, "arguments": dict(call.arguments)}
            for call in step.calls
        ]
    if step.results:
        results = [{"source_call_id": result.call_id, "content": result.content} for result in step.results]
        written["observation"] = {"results": results}
    if step.usage:
        names = {
            "prompt_tokens": "input_tokens",
            "completion_tokens": "output_tokens",
            "cached_tokens": "cached_tokens",
        }
        written["metrics"] = {theirs: getattr(step.usage, ours) for theirs, ours in names.items()}
    extra = {
        "stop_reason": reply.stop_reason,
        "native_calls": bool(reply.tool_calls),
        "answer": step.answer,
        "seconds": step.model_seconds,
        "results": [set_fields(_without_content(result)) for result in step.results],
    }
    return {**written, "extra": extra}


def _without_content(result: ToolResult) -> ToolResult:
    """A result without what ATIF has a field for."""
    return ToolResult(**{**vars(result), "content": ""})


def from_atif(document: Mapping[str, Any]) -> Trace:
    """The run of an ATIF document. Its prompts are told as those of a loop over native tool calls."""
    turns: list[Turn] = []
    system, added = "", list[Message]()
    for step in document["steps"]:
        text = step.get("message") or ""
        if step["source"] == "system" and not turns:
            system = text
        elif step["source"] != "agent":
            added.append(Message("user", text))
            if turns and not turns[-1].calls and turns[-1].answer is None:
                turns[-1].reminder = text
        elif "tool_calls" not in step and "extra" not in step and not turns and step is not document["steps"][-1]:
            added.append(Message("assistant", text))
        else:
            turns.append(_turn_of_atif(step, added))
            added = turns[-1].sent_next()
    extra = document.get("extra") or {}
    asked = next((step["message"] for step in document["steps"] if step["source"] == "user"), "")
    return record(
        turns,
        id=document.get("session_id"),
        question=extra.get("question", asked),
        agent=document["agent"].get("name", ""),
        model=document["agent"].get("model_name", ""),
        system=system,
        tools=document["agent"].get("tool_definitions") or [],
        outcome=extra.get("outcome"),
        answer=extra.get("answer"),
        reason=extra.get("reason"),
    )


def _turn_of_atif(step: Mapping[str, Any], added: list[Message]) -> Turn:
    extra, metrics = step.get("extra") or {}, step.get("metrics")
    calls = [
        ToolCall(call["tool_call_id"], call["function_name"], call["arguments"])
        for call in step.get("tool_calls") or ()
    ]
    names = {call.id: call.name for call in calls}
    ours = {result["call_id"]: result for result in extra.get("results", ())}
    results = []
    for observed in (step.get("observation") or {}).get("results", ()):
        call_id = observed.get("source_call_id") or ""
        known = {**ours.get(call_id, {}), "content": observed.get("content") or ""}
        results.append(ToolResult(**{"call_id": call_id, "name": names.get(call_id, ""), **known}))
    usage = None
    if metrics:
        usage = Usage(*(metrics.get(f"{name}_tokens") or 0 for name in ("prompt", "completion", "cached")))
    native = tuple(calls) if extra.get("native_calls", True) else ()
    reply = Reply(step.get("message") or "", "", native, extra.get("stop_reason", "end"), usage)
    turn = Turn(list(added), reply, extra.get("seconds", 0.0), calls, results)
    turn.thought = step.get("reasoning_content") or ""
    turn.answer = extra.get("answer", None if calls else reply.text)
    return turn
