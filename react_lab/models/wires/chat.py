"""The wire form of OpenAI's Chat Completions, spoken by every compatible server, each in its own way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from react_lab.messages import Message, Reply, StopReason, ToolCall, ToolResult, Usage
from react_lab.models.pairing import unique_id, with_unique_ids
from react_lab.models.wires import (
    CUT_SHORT,
    EMPTY,
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

WIRE = "openai-chat"
THOUGHT_FIELDS = ("reasoning_content", "reasoning")  # the second: vLLM, Ollama, OpenRouter


PATH = "/chat/completions"
STREAM_FIELDS: Mapping[str, Any] = {"stream_options": {"include_usage": True}}


def body(model: str, system: str, messages: list[Json]) -> Json:
    first = [{"role": "system", "content": system}] if system else []
    return {"model": model, "messages": first + messages}


def options(model: str, tools: Sequence[Tool], tool_choice: str | None, stop: Sequence[str]) -> Json:
    """What the server may refuse to take."""
    chosen: Json = {}
    if tools:
        chosen["tools"] = [tool.to_openai_schema() for tool in tools]
    if tool_choice:
        chosen["tool_choice"] = {"type": "function", "function": {"name": tool_choice}}
    if stop:
        chosen["stop"] = list(stop)[:4]  # more are an error 400
    return chosen


# -- messages → wire ---------------------------------------------------------------------------------------------


def to_wire(messages: Sequence[Message], model: str) -> list[Json]:
    """The conversation without its system text: one message per tool result."""
    return [part for message in messages if message.role != "system" for part in _parts(message, model)]


def _parts(message: Message, model: str) -> list[Json]:
    own = own_content(message, WIRE, model)
    if own is not None:
        return [own if own.get("content") or own.get("tool_calls") else {**own, "content": EMPTY}]
    if message.role == "tool":
        return [{"role": "tool", "tool_call_id": r.call_id, "content": told(r)} for r in message.tool_results]
    if message.tool_calls:
        calls = [_wire_call(call.id, call.name, write_arguments(call.arguments)) for call in message.tool_calls]
        return [{"role": "assistant", "content": message.text or None, "tool_calls": calls}]
    return [{"role": message.role, "content": message.text or EMPTY}]


def _wire_call(call_id: str, name: str, arguments: str) -> Json:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


# -- wire → messages ---------------------------------------------------------------------------------------------


def from_wire(response: Mapping[str, Any], *, model: str, taken: set[str]) -> Reply:
    """`finish_reason` is not to be trusted: several servers say `stop` and send tool calls."""
    choices = response.get("choices")
    if not choices or not choices[0].get("message"):
        raise WireError(f"the server's answer holds no message: {response.get('error') or dict(response)}")
    own, calls = _own_message(choices[0]["message"], taken)
    reasons: Mapping[Any, StopReason] = {"length": "max_tokens", "content_filter": "refusal"}
    default: StopReason = "tool_calls" if calls else "refusal" if own.get("refusal") else "end"
    return Reply(
        text=_text(own.get("content")) or own.get("refusal") or "",
        thought=next((str(own[field]) for field in THOUGHT_FIELDS if own.get(field)), ""),
        tool_calls=calls,
        stop_reason=reasons.get(choices[0].get("finish_reason"), default),
        usage=_usage(response.get("usage")),
        native={"provider": WIRE, "model": model, "content": own},
    )


def _own_message(message: Mapping[str, Any], taken: set[str]) -> tuple[Json, tuple[ToolCall, ...]]:
    """The message as it will go back (`reasoning_content` and all), and its calls.

    Arguments that can't be read go back as none: a server that parses the history would fail on them again.
    """
    own = {name: value for name, value in message.items() if value not in (None, [])}
    wire_calls, calls = [], []
    for given in own.pop("tool_calls", ()):
        function = given.get("function") or {}
        raw = function.get("arguments")
        arguments, error = read_arguments(raw)
        call = ToolCall(unique_id(given.get("id"), taken), str(function.get("name") or "_"), arguments, error)
        wire_calls.append({**given, **_wire_call(call.id, call.name, write_arguments(arguments))})
        calls.append(call)
    own |= {"role": "assistant", "content": own.get("content") or None}
    return own | ({"tool_calls": wire_calls} if calls else {}), tuple(calls)


def _text(content: object) -> str:
    """The text of a message; a list of typed parts can hold blocks of other kinds, which are none."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if part.get("type") == "text")
    return str(content or "")


def _usage(usage: Mapping[str, Any] | None) -> Usage | None:
    if not usage:
        return None
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0, cached)


def history(wire: Iterable[Mapping[str, Any]]) -> list[Message]:
    """A conversation recorded in this form, system text and all; a repeated call id gets a new one."""
    messages: list[Message] = []
    for part in wire:
        if part["role"] == "tool":
            content = _text(part.get("content"))
            result = ToolResult(part["tool_call_id"], part.get("name", ""), content, content.startswith(ERROR))
            earlier = messages.pop().tool_results if messages and messages[-1].role == "tool" else ()
            messages.append(Message("tool", tool_results=(*earlier, result)))
        else:
            _, calls = _own_message(part, set())
            messages.append(Message(part["role"], _text(part.get("content")), tool_calls=calls))
    return with_unique_ids(with_names(messages))


# -- events → wire -----------------------------------------------------------------------------------------------


def collect(chunks: Iterable[Mapping[str, Any]], telling: Telling) -> Json:
    """The completion that the chunks make up. The usage comes in a chunk without choices, or in the last choice."""
    message: Json = {"role": "assistant", "content": None}
    calls: list[Json] = []
    finish, usage = None, None
    for chunk in chunks:
        usage = chunk.get("usage") or usage
        for choice in chunk.get("choices") or ():
            finish = choice.get("finish_reason") or finish
            usage = choice.get("usage") or usage
            delta = dict(choice.get("delta") or {})
            for piece in delta.pop("tool_calls", None) or ():
                _add_call(piece, calls)
            _add_fields(delta, message)
            telling.text(delta.get("content"))
            telling.thought(next((delta[field] for field in THOUGHT_FIELDS if delta.get(field)), None))
    if finish is None:
        raise WireError(CUT_SHORT)
    for call in calls:
        call.pop("index", None)
    choice = {"index": 0, "message": {**message, "tool_calls": calls}, "finish_reason": finish}
    return {"choices": [choice], "usage": usage}


def _add_fields(delta: Mapping[str, Any], message: Json) -> None:
    for name, piece in delta.items():
        if isinstance(piece, str) and name != "role":
            message[name] = (message.get(name) or "") + piece
        elif piece is not None:
            message.setdefault(name, piece)


def _add_call(piece: Mapping[str, Any], calls: list[Json]) -> None:
    call = _call_of(piece, calls)
    for name, value in piece.items():
        if name != "function" and value not in (None, ""):
            call.setdefault(name, value)
    function = call.setdefault("function", {"name": "", "arguments": ""})
    given = piece.get("function") or {}
    function["name"] = function["name"] or given.get("name") or ""
    arguments = given.get("arguments") or ""
    function["arguments"] += arguments if isinstance(arguments, str) else write_arguments(arguments)


def _call_of(piece: Mapping[str, Any], calls: list[Json]) -> Json:
    """The call that a piece belongs to. Servers leave the index out, or give every call the index 0."""
    index, call_id = piece.get("index"), piece.get("id")
    for call in reversed(calls):
        if call_id and call.get("id"):
            if call_id == call["id"]:
                return call
        elif index is not None:
            if index == call.get("index"):
                return call
        elif not (piece.get("function") or {}).get("name"):
            return call
    calls.append({})
    return calls[-1]
