"""A run as OpenTelemetry spans, by the conventions for generative AI, and back."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from react_lab.interchange.recording import Turn, as_message, record, reply_of
from react_lab.messages import Message, Reply, ToolCall, ToolResult, Usage
from react_lab.trace import FORMAT_VERSION, Step, Trace, to_json

Json = dict[str, Any]

CONVENTIONS = "gen_ai v0.1.0"  # https://github.com/open-telemetry/semantic-conventions-genai; still "Development"
INTERNAL, CLIENT = 1, 3  # kinds of spans
OK, ERROR = 1, 2  # status codes

# Attributes of the conventions, with how each is read from a run, a step, or a call with its result. What is None is
# left out. `input.value` and `output.value` are OpenInference's; on chat spans they would hide the prompt.
RUN_ATTRIBUTES: Mapping[str, Callable[[Trace], Any]] = {
    "gen_ai.operation.name": lambda run: "invoke_agent",
    "gen_ai.provider.name": lambda run: _provider(run),
    "gen_ai.agent.name": lambda run: run.run.get("agent"),
    "gen_ai.conversation.id": lambda run: run.id,
    "gen_ai.request.model": lambda run: run.model,
    "gen_ai.tool.definitions": lambda run: to_json(run.run["tools"]) if run.run.get("tools") else None,
    "gen_ai.input.messages": lambda run: _otel_messages(_last_prompt(run)) if run.steps else None,
    "gen_ai.output.messages": lambda run: _otel_messages([Message("assistant", run.answer)]) if run.answer else None,
    "input.value": lambda run: run.question,
    "output.value": lambda run: run.answer,
    "react_lab.outcome": lambda run: run.outcome,
    "react_lab.reason": lambda run: run.reason,
}
STEP_ATTRIBUTES: Mapping[str, Callable[[Trace, Step], Any]] = {
    "gen_ai.operation.name": lambda run, step: "chat",
    "gen_ai.provider.name": lambda run, step: _provider(run),
    "gen_ai.request.model": lambda run, step: run.model,
    "gen_ai.response.finish_reasons": lambda run, step: [reply_of(run, step).stop_reason],
    "gen_ai.usage.input_tokens": lambda run, step: step.usage and step.usage.input_tokens,
    "gen_ai.usage.output_tokens": lambda run, step: step.usage and step.usage.output_tokens,
    "gen_ai.usage.cache_read.input_tokens": lambda run, step: step.usage and step.usage.cached_tokens,
    "gen_ai.usage.cost": lambda run, step: (run.find("reply", step.index) or {}).get("cost_usd"),
    "gen_ai.system_instructions": lambda run, step: to_json(
        [{"type": "text", "content": run.prompt_at(step.index)[0].text}]
    ),
    "gen_ai.input.messages": lambda run, step: _otel_messages(run.prompt_at(step.index)[1:]),
    "gen_ai.output.messages": lambda run, step: _otel_messages([as_message(reply_of(run, step))], reply_of(run, step)),
    "error.type": lambda run, step: "unreadable_reply" if step.reminder else None,
    "react_lab.step": lambda run, step: step.index,
    "react_lab.raw_output": lambda run, step: step.text,
    "react_lab.thought": lambda run, step: step.thought,
    "react_lab.answer": lambda run, step: step.answer,
    "react_lab.parse_error": lambda run, step: step.reminder,
}
CALL_ATTRIBUTES: Mapping[str, Callable[[ToolCall, ToolResult], Any]] = {
    "gen_ai.operation.name": lambda call, result: "execute_tool",
    "gen_ai.tool.name": lambda call, result: call.name,
    "gen_ai.tool.type": lambda call, result: "function",
    "gen_ai.tool.call.id": lambda call, result: call.id,
    "gen_ai.tool.call.arguments": lambda call, result: to_json(call.arguments),
    "gen_ai.tool.call.result": lambda call, result: result.content,
    "input.value": lambda call, result: to_json(call.arguments),
    "input.mime_type": lambda call, result: "application/json",
    "error.type": lambda call, result: "tool_error" if result.is_error else None,
    "react_lab.cached": lambda call, result: result.cached or None,
    "react_lab.attempts": lambda call, result: result.attempts if result.attempts > 1 else None,
}


def to_otlp(trace: Trace) -> Json:
    """A run as an OTLP/JSON request: a span for the run, for each node of a workflow, each reply and each call."""
    spans = list(_spans(trace))
    resource = {"service.name": "react_lab", "openinference.project.name": "react_lab"}
    stamp = {"react_lab.trace_schema": FORMAT_VERSION, "react_lab.conventions": CONVENTIONS}
    scope = {"scope": {"name": "react_lab"}, "spans": spans}
    return {"resourceSpans": [{"resource": {"attributes": _attributes(resource | stamp)}, "scopeSpans": [scope]}]}


def _spans(trace: Trace) -> Iterator[Json]:
    start = datetime.fromisoformat(trace.run.get("started_at") or "1970-01-01T00:00:00+00:00")
    failed = trace.outcome == "error"
    run = {name: read(trace) for name, read in RUN_ATTRIBUTES.items()}
    root = _span(
        trace, "run", f"invoke_agent {trace.run.get('agent', '')}", INTERNAL, start, trace.seconds, run, failed
    )
    yield root
    parents = {"": root["spanId"]}
    for step in trace.steps:
        if step.node not in parents:
            node = {**_node_span(trace, step.node, start), "parentSpanId": root["spanId"]}
            parents[step.node] = node["spanId"]
            yield node
        parent = {"parentSpanId": parents[step.node]}
        if trace.find("request", step.index):
            said = {name: read(trace, step) for name, read in STEP_ATTRIBUTES.items()}
            name, key, failed = f"chat {trace.model}", f"step {step.index}", step.reminder is not None
            yield {**_span(trace, key, name, CLIENT, start, step.model_seconds, said, failed), **parent}
        results = {result.call_id: result for result in step.results}
        begun = start + timedelta(seconds=step.model_seconds)
        for number, call in enumerate(step.calls):
            if result := results.get(call.id):
                done = {name: read(call, result) for name, read in CALL_ATTRIBUTES.items()}
                key, name = f"step {step.index} call {number}", f"execute_tool {call.name}"
                span = _span(trace, key, name, INTERNAL, begun, result.seconds, done, result.is_error)
                if result.traceback:
                    span["events"] = [_exception(span, result)]
                yield {**span, **parent}
        start += timedelta(seconds=step.seconds)


def _node_span(trace: Trace, name: str, start: datetime) -> Json:
    """The span of a node: as long as its steps took."""
    node = trace.node(name)
    said: Json = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
    said |= {"input.value": node.question, "output.value": node.answer}
    return _span(trace, f"node {name}", f"invoke_agent {name}", INTERNAL, start, node.seconds, said, False)


def _span(
    trace: Trace, key: str, name: str, kind: int, start: datetime, seconds: float, said: Json, failed: bool
) -> Json:
    begin = round(start.timestamp() * 1e6) * 1000
    return {
        # Hex, as OTLP/JSON wants it, and not base64 as in other JSON of protobuf messages.
        "traceId": hashlib.sha256(trace.id.encode()).hexdigest()[:32],
        "spanId": hashlib.sha256(f"{trace.id} {key}".encode()).hexdigest()[:16],
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(begin + round(seconds * 1e9)),
        "attributes": _attributes(said),
        "status": {"code": ERROR if failed else OK},
    }


def _exception(span: Json, result: ToolResult) -> Json:
    said = {"exception.message": result.content, "exception.stacktrace": result.traceback}
    return {"name": "exception", "timeUnixNano": span["endTimeUnixNano"], "attributes": _attributes(said)}


def _attributes(values: Mapping[str, Any]) -> list[Json]:
    return [{"key": name, "value": _any_value(value)} for name, value in values.items() if value is not None]


def _any_value(value: Any) -> Json:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_any_value(item) for item in value]}}
    return {"stringValue": str(value)}


def _plain(value: Json) -> Any:
    """The inverse of `_any_value`."""
    ((kind, held),) = value.items()
    if kind == "arrayValue":
        return [_plain(item) for item in held.get("values", ())]
    return int(held) if kind == "intValue" else held


def _last_prompt(trace: Trace) -> Sequence[Message]:
    last = max(step.index for step in trace.steps if trace.find("request", step.index))
    return trace.prompt_at(last)[1:]


def _otel_messages(messages: Iterable[Message], reply: Reply | None = None) -> str:
    written: list[Json] = [{"role": message.role, "parts": _parts(message, reply)} for message in messages]
    if reply:
        written[0]["finish_reason"] = reply.stop_reason
    return to_json(written)


def _parts(message: Message, reply: Reply | None) -> list[Json]:
    parts: list[Json] = []
    if reply and reply.thought:
        parts.append({"type": "reasoning", "content": reply.thought})
    if message.text:
        parts.append({"type": "text", "content": message.text})
    parts += [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
        for call in message.tool_calls
    ]
    for result in message.tool_results:
        # The name is ours: the conventions leave it to the call.
        part = {"type": "tool_call_response", "id": result.call_id, "name": result.name, "response": result.content}
        parts.append(part | ({"is_error": True} if result.is_error else {}))
    return parts


def _message(data: Mapping[str, Any]) -> Message:
    """The inverse of what `_otel_messages` writes for a message; reasoning is left out."""
    by_type: dict[str, list[Json]] = {}
    for part in data["parts"]:
        by_type.setdefault(part["type"], []).append(part)
    return Message(
        data["role"],
        "\n".join(part["content"] for part in by_type.get("text", ())),
        tool_calls=tuple(_call(part) for part in by_type.get("tool_call", ())),
        tool_results=tuple(
            ToolResult(part["id"], part.get("name", ""), part["response"], part.get("is_error", False))
            for part in by_type.get("tool_call_response", ())
        ),
    )


def _call(part: Mapping[str, Any]) -> ToolCall:
    return ToolCall(part["id"], part["name"], part.get("arguments") or {})


def from_otlp(document: Mapping[str, Any]) -> Trace:
    """The run of an OTLP/JSON request that holds one trace of an agent, its chats and its tool calls.

    The steps of a workflow are read as those of one run, without its nodes.

    Raises:
        ValueError: there is no `invoke_agent` span.
    """
    scopes = [scope for resource in document["resourceSpans"] for scope in resource["scopeSpans"]]
    spans = sorted(
        (span for scope in scopes for span in scope["spans"]), key=lambda span: int(span["startTimeUnixNano"])
    )
    said = [{item["key"]: _plain(item["value"]) for item in span["attributes"]} for span in spans]
    kinds = [attributes.get("gen_ai.operation.name") for attributes in said]
    if "invoke_agent" not in kinds:
        raise ValueError("no run in these spans: none has gen_ai.operation.name = invoke_agent")
    root = said[kinds.index("invoke_agent")]
    begun = int(spans[kinds.index("invoke_agent")]["startTimeUnixNano"])
    turns: list[Turn] = []
    system, sent = "", defaultdict[str, int](int)  # messages that were sent, by agent or node
    for span, attributes, kind in zip(spans, said, kinds, strict=True):
        seconds = (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) / 1e9
        if kind == "chat":
            system = "".join(part["content"] for part in json.loads(attributes.get("gen_ai.system_instructions", "[]")))
            prompt = [_message(message) for message in json.loads(attributes["gen_ai.input.messages"])]
            asker = span.get("parentSpanId", "")
            turns.append(_turn_of_chat(attributes, prompt[sent[asker] :], seconds))
            sent[asker] = len(prompt)
        elif kind == "execute_tool" and turns:
            call, result = _call_of_span(span, attributes, seconds)
            if call.id not in {known.id for known in turns[-1].reply.tool_calls}:
                turns[-1].calls.append(call)  # a call that was read from the text
            turns[-1].results.append(result)
    return record(
        turns,
        id=root.get("gen_ai.conversation.id"),
        question=root.get("input.value", ""),
        agent=root.get("gen_ai.agent.name", ""),
        model=root.get("gen_ai.request.model", ""),
        system=system,
        tools=json.loads(root.get("gen_ai.tool.definitions", "[]")),
        outcome=root.get("react_lab.outcome"),
        answer=root.get("output.value"),
        reason=root.get("react_lab.reason"),
        started_at=datetime.fromtimestamp(begun / 1e9, UTC).isoformat(timespec="milliseconds"),
    )


def _turn_of_chat(said: Json, added: list[Message], seconds: float) -> Turn:
    (output,) = json.loads(said["gen_ai.output.messages"])
    message = _message(output)
    reasoning = "\n".join(part["content"] for part in output["parts"] if part["type"] == "reasoning")
    usage = None
    if "gen_ai.usage.input_tokens" in said:
        names = ("input_tokens", "output_tokens", "cache_read.input_tokens")
        usage = Usage(*(said.get(f"gen_ai.usage.{name}", 0) for name in names))
    stop = (said.get("gen_ai.response.finish_reasons") or ["end"])[0]
    reply = Reply(message.text, reasoning, message.tool_calls, stop, usage)
    turn = Turn(added, reply, seconds)
    if "react_lab.step" in said:  # written here: what the reader made of the reply is known
        turn.thought, turn.answer = said.get("react_lab.thought", ""), said.get("react_lab.answer")
        turn.reminder = said.get("react_lab.parse_error")
    return turn


def _call_of_span(span: Json, said: Json, seconds: float) -> tuple[ToolCall, ToolResult]:
    name, id_ = str(said["gen_ai.tool.name"]), str(said.get("gen_ai.tool.call.id", span["spanId"]))
    call = ToolCall(id_, name, json.loads(said.get("gen_ai.tool.call.arguments", "{}")))
    stacks = [
        _plain(item["value"])
        for event in span.get("events", ())
        for item in event["attributes"]
        if item["key"] == "exception.stacktrace"
    ]
    result = ToolResult(
        id_,
        name,
        said.get("gen_ai.tool.call.result", ""),
        is_error="error.type" in said,
        traceback=stacks[0] if stacks else None,
        cached=said.get("react_lab.cached", False),
        attempts=said.get("react_lab.attempts", 1),
        seconds=round(seconds, 6),
    )
    return call, result


def _provider(trace: Trace) -> str:
    """Who answered: of `anthropic:NAME` the first half."""
    return trace.model.partition(":")[0] or "unknown"
