"""The wire form of OpenAI's Responses API: a conversation is a flat list of items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from react_lab.messages import Message, Reply, StopReason, ToolCall, ToolResult, Usage
from react_lab.models.pairing import unique_id, with_unique_ids
from react_lab.models.wires import (
    CUT_SHORT,
    ERROR,
    Json,
    Telling,
    WireError,
    own_content,
    read_arguments,
    told,
    with_names,
    write_arguments,
)
from react_lab.tools.base import Tool

WIRE = "openai-responses"


PATH = "/responses"
STREAM_FIELDS: Mapping[str, Any] = {}


def body(model: str, system: str, messages: list[Json]) -> Json:
    first = [{"role": "system", "content": system}] if system else []
    return {"model": model, "input": first + messages, "store": False}


def options(model: str, tools: Sequence[Tool], tool_choice: str | None, stop: Sequence[str]) -> Json:
    """What the server may refuse to take. This wire has no stop sequences; the reader of text ReAct cuts by itself."""
    chosen: Json = {"include": ["reasoning.encrypted_content"], "reasoning": {"summary": "auto"}}
    if tools:
        chosen["tools"] = [{"type": "function", **tool.to_openai_schema()["function"]} for tool in tools]
    if tool_choice:
        chosen["tool_choice"] = {"type": "function", "name": tool_choice}
    return chosen


# -- messages → wire ---------------------------------------------------------------------------------------------


def to_wire(messages: Sequence[Message], model: str) -> list[Json]:
    """The conversation without its system text; a model's own items, reasoning among them, go back unchanged."""
    return [item for message in messages if message.role != "system" for item in _items(message, model)]


def _items(message: Message, model: str) -> list[Json]:
    own = own_content(message, WIRE, model)
    if own is not None:
        # Nothing is stored, so reasoning without its sealed content would be looked up in vain.
        return [item for item in own if item["type"] != "reasoning" or item.get("encrypted_content")]
    return [
        *(
            {"type": "function_call_output", "call_id": result.call_id, "output": told(result)}
            for result in message.tool_results
        ),
        *([_text_item(message)] if message.text else []),
        *(
            {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": write_arguments(c.arguments)}
            for c in message.tool_calls
        ),
    ]


def _text_item(message: Message) -> Json:
    if message.role != "assistant":
        return {"role": message.role, "content": message.text}
    part = {"type": "output_text", "text": message.text, "annotations": []}
    return {"type": "message", "role": "assistant", "status": "completed", "content": [part]}


# -- wire → messages ---------------------------------------------------------------------------------------------


def from_wire(response: Mapping[str, Any], *, model: str, taken: set[str]) -> Reply:
    if response.get("status") == "failed" or "output" not in response:
        error = response.get("error") or {}
        raise WireError(str(error.get("message") or "the server's answer holds no output"), error)
    items, calls = _own_items(response["output"], taken)
    texts = [_joined(item["content"], "text") for item in items if item["type"] == "message"]
    thoughts = [part.get("text") for item in items if item["type"] == "reasoning" for part in _thought_parts(item)]
    refusals = [_joined(item["content"], "refusal") for item in items if item["type"] == "message"]
    return Reply(
        text="\n\n".join(text for text in (*texts, *refusals) if text),
        thought="\n\n".join(thought for thought in thoughts if thought),
        tool_calls=calls,
        stop_reason="refusal" if any(refusals) else _stop_reason(response, calls),
        usage=_usage(response.get("usage")),
        native={"provider": WIRE, "model": model, "content": items},
    )


def _own_items(output: Iterable[Mapping[str, Any]], taken: set[str]) -> tuple[list[Json], tuple[ToolCall, ...]]:
    """The items as they will go back, and the calls in them; arguments that can't be read go back as none."""
    items, calls = [], []
    for given in output:
        item = dict(given)
        if item["type"] == "function_call":
            arguments, error = read_arguments(item.get("arguments"))
            call = ToolCall(unique_id(item.get("call_id"), taken), str(item.get("name") or "_"), arguments, error)
            item |= {"call_id": call.id, "name": call.name, "arguments": write_arguments(arguments)}
            calls.append(call)
        items.append(item)
    return items, tuple(calls)


def _joined(parts: Iterable[Mapping[str, Any]], field: str) -> str:
    return "".join(str(part.get(field) or "") for part in parts)


def _thought_parts(item: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The summary; models whose reasoning is open have it as content."""
    return item.get("summary") or item.get("content") or ()


def _stop_reason(response: Mapping[str, Any], calls: Sequence[ToolCall]) -> StopReason:
    if response.get("status") == "incomplete":
        reason = (response.get("incomplete_details") or {}).get("reason")
        return "refusal" if reason == "content_filter" else "max_tokens"
    return "tool_calls" if calls else "end"


def _usage(usage: Mapping[str, Any] | None) -> Usage | None:
    if not usage:
        return None
    cached = (usage.get("input_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(usage.get("input_tokens") or 0, usage.get("output_tokens") or 0, cached)


def history(wire: Iterable[Mapping[str, Any]]) -> list[Message]:
    """A conversation recorded in this form, system text and all; a repeated call id gets a new one."""
    messages: list[Message] = []
    for item in wire:
        last = messages[-1] if messages else Message("user")
        match item.get("type", "message"):
            case "function_call":
                _, calls = _own_items([item], set())
                text = messages.pop().text if last.role == "assistant" else ""
                earlier = last.tool_calls if last.role == "assistant" else ()
                messages.append(Message("assistant", text, tool_calls=(*earlier, *calls)))
            case "function_call_output":
                output = str(item["output"])
                result = ToolResult(item["call_id"], "", output, output.startswith(ERROR))
                results = messages.pop().tool_results if last.role == "tool" else ()
                messages.append(Message("tool", tool_results=(*results, result)))
            case "message":
                content = item["content"]
                messages.append(
                    Message(item["role"], content if isinstance(content, str) else _joined(content, "text"))
                )
    return with_unique_ids(with_names(messages))


# -- events → wire -----------------------------------------------------------------------------------------------

THOUGHT_EVENTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
TEXT_EVENTS = ("response.output_text.delta", "response.refusal.delta")
LAST_EVENTS = ("response.completed", "response.incomplete", "response.failed")


def collect(events: Iterable[Mapping[str, Any]], telling: Telling) -> Json:
    """The response is whole in the last event; where a server leaves its items out there, they came one by one."""
    items: list[Json] = []
    for event in events:
        kind = event.get("type")
        place = (event.get("output_index"), event.get("summary_index"))
        if kind in TEXT_EVENTS:
            telling.text(event.get("delta"), block=place)
        elif kind in THOUGHT_EVENTS:
            telling.thought(event.get("delta"), block=place)
        elif kind == "response.output_item.done":
            items.append(event["item"])
        elif kind == "error":
            raise WireError(str(event.get("message") or event), event)
        elif kind in LAST_EVENTS:
            response = dict(event["response"])
            return {**response, "output": response.get("output") or items}
    raise WireError(CUT_SHORT)
