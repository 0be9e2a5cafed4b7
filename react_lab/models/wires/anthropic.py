"""The wire form of Anthropic's Messages API: a turn is a list of typed blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from react_lab.messages import Message, Reply, StopReason, ToolCall, ToolResult, Usage
from react_lab.models.pairing import unique_id, with_unique_ids
from react_lab.models.wires import (
    CUT_SHORT,
    EMPTY,
    Json,
    Telling,
    WireError,
    legal,
    own_content,
    read_arguments,
    with_names,
)
from react_lab.tools.base import Tool

WIRE = "anthropic"
MAX_TOKENS = 8192  # above 21,333 the SDK insists on streaming
STOP_REASONS: Mapping[str, StopReason] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "stop_sequence": "stop_sequence",
    "max_tokens": "max_tokens",
    # The window is full: what was written so far is a reply that was cut off, like at any other limit.
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}
COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
# Models of the fifth generation think by default and leave the thought out unless a summary is asked for.
THINKS = re.compile(r"claude-[a-z]+-5")


PATH = "/v1/messages"
STREAM_FIELDS: Mapping[str, Any] = {}


def body(model: str, system: str, messages: list[Json]) -> Json:
    told = {"system": system} if system else {}
    return {"model": model, "max_tokens": MAX_TOKENS, **told, "messages": messages}


def options(model: str, tools: Sequence[Tool], tool_choice: str | None, stop: Sequence[str]) -> Json:
    """What the server may refuse to take. No sampling parameters: this API knows none."""
    chosen: Json = {}
    if tools:
        chosen["tools"] = [tool.to_anthropic_schema() for tool in tools]
    if tool_choice:
        chosen["tool_choice"] = {"type": "tool", "name": tool_choice}
    if stop:
        chosen["stop_sequences"] = list(stop)
    if THINKS.match(model):
        chosen["thinking"] = {"type": "adaptive", "display": "summarized"}
    return chosen


# -- messages → wire ---------------------------------------------------------------------------------------------


def to_wire(messages: Sequence[Message], model: str) -> list[Json]:
    """The conversation in turns of user and assistant, in a user's turn the results first; the system text is apart."""
    turns: list[Json] = []
    for role, group in groupby((m for m in messages if m.role != "system"), key=_role):
        content = [block for message in group for block in _blocks(message, model)]
        turns.append({"role": role, "content": content or [_text(EMPTY)]})
    if turns and turns[-1]["role"] == "assistant":
        turns[-1]["content"] = without_trailing_blanks(turns[-1]["content"])
    return turns


def _role(message: Message) -> str:
    return "assistant" if message.role == "assistant" else "user"


def _blocks(message: Message, model: str) -> list[Json]:
    own = own_content(message, WIRE, model)
    return _accepted(own if own is not None else _made(message))


def _accepted(blocks: Iterable[Json]) -> list[Json]:
    """Without blank texts, which the API refuses even where it wrote them itself."""
    return [_with_legal_id(block) for block in blocks if block.get("type") != "text" or block["text"].strip()]


def _made(message: Message) -> list[Json]:
    return [
        *(_result(result) for result in message.tool_results),
        _text(message.text),
        *({"type": "tool_use", "id": c.id, "name": legal(c.name), "input": c.arguments} for c in message.tool_calls),
    ]


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _result(result: ToolResult) -> Json:
    content = result.content or ("(no text)" if result.is_error else "")  # a failure has to say something
    return {"type": "tool_result", "tool_use_id": result.call_id, "content": content, "is_error": result.is_error}


def _with_legal_id(block: Json) -> Json:
    """Ids from other servers can hold characters that this API refuses; call and result are changed alike."""
    key = {"tool_use": "id", "tool_result": "tool_use_id"}.get(str(block.get("type")))
    return {**block, key: legal(block[key])} if key else block


def with_turn(body: Json, response: Mapping[str, Any]) -> Json:
    """A request that goes on after a paused turn."""
    written = without_trailing_blanks(_accepted(map(_without_nulls, response["content"])))
    turn = [{"role": "assistant", "content": written}] if written else []
    return {**body, "messages": body["messages"] + turn}


def joined(before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
    """A paused turn and what followed, as one; tokens were paid for both."""
    first, second = before.get("usage") or {}, after.get("usage") or {}
    counted = {name: (first.get(name) or 0) + (second.get(name) or 0) for name in COUNTS}
    return {**after, "content": [*before["content"], *after["content"]], "usage": counted}


def without_trailing_blanks(blocks: list[Json]) -> list[Json]:
    """The API refuses a conversation that ends in blanks of the assistant; other blocks than text stay untouched."""
    if not blocks or blocks[-1].get("type") != "text":
        return blocks
    return [*blocks[:-1], {**blocks[-1], "text": blocks[-1]["text"].rstrip()}]


# -- wire → messages ---------------------------------------------------------------------------------------------


def from_wire(response: Mapping[str, Any], *, model: str, taken: set[str]) -> Reply:
    """Blocks are told apart by their `type`: new ones are to be expected at any place."""
    if response.get("content") is None:
        raise WireError(f"the server's answer holds no content: {response.get('error') or dict(response)}")
    blocks, calls = _own_blocks(response["content"], taken)
    details = response.get("stop_details") or {}
    stop = STOP_REASONS.get(str(response.get("stop_reason")), "other")
    text = "\n\n".join(str(block["text"]) for block in blocks if block["type"] == "text" and block.get("text"))
    return Reply(
        text=_refusal(details) if stop == "refusal" and details else text,
        thought="\n\n".join(str(b["thinking"]) for b in blocks if b["type"] == "thinking" and b.get("thinking")),
        tool_calls=calls,
        stop_reason="tool_calls" if calls and stop in ("end", "other") else stop,
        usage=_usage(response.get("usage")),
        native={"provider": WIRE, "model": model, "content": blocks},
    )


def _own_blocks(content: Iterable[Mapping[str, Any]], taken: set[str]) -> tuple[list[Json], tuple[ToolCall, ...]]:
    """The blocks as they will go back, and the calls in them; arguments that can't be read go back as none."""
    blocks, calls = [], []
    for given in content:
        block = _without_nulls(given)
        if block["type"] == "tool_use":
            arguments, error = read_arguments(block.get("input"))
            call = ToolCall(unique_id(block.get("id"), taken), str(block.get("name") or "_"), arguments, error)
            block |= {"id": call.id, "name": call.name, "input": arguments}
            calls.append(call)
        blocks.append(block)
    return blocks, tuple(calls)


def _without_nulls(block: Mapping[str, Any]) -> Json:
    """As the SDK sends a block back: fields that hold nothing are left out."""
    return {name: value for name, value in block.items() if value is not None}


def _refusal(details: Mapping[str, Any]) -> str:
    parts = (details.get("category"), details.get("explanation"))
    return ": ".join(["the model refused", *(str(part) for part in parts if part)])


def _usage(usage: Mapping[str, Any] | None) -> Usage | None:
    """`input_tokens` counts only what was neither read from the cache nor written to it."""
    if not usage:
        return None
    cached = usage.get("cache_read_input_tokens") or 0
    fresh = (usage.get("input_tokens") or 0) + (usage.get("cache_creation_input_tokens") or 0)
    return Usage(fresh + cached, usage.get("output_tokens") or 0, cached)


def history(wire: Iterable[Mapping[str, Any]], *, system: str = "") -> list[Message]:
    """A conversation recorded in this form; `to_wire` is the inverse. A repeated call id gets a new one."""
    messages = [Message("system", system)] if system else []
    for turn in wire:
        blocks = [_text(turn["content"])] if isinstance(turn["content"], str) else list(turn["content"])
        texts = [str(block["text"]) for block in blocks if block["type"] == "text"]
        if turn["role"] == "assistant":
            _, calls = _own_blocks(blocks, set())
            messages.append(Message("assistant", "\n\n".join(texts), tool_calls=calls))
            continue
        results = tuple(
            ToolResult(b["tool_use_id"], "", b["content"], b.get("is_error", False))
            for b in blocks
            if b["type"] == "tool_result"
        )
        messages += [Message("tool", tool_results=results)] if results else []
        messages += [Message("user", text) for text in texts]
    return with_unique_ids(with_names(messages))


# -- events → wire -----------------------------------------------------------------------------------------------

DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def collect(events: Iterable[Mapping[str, Any]], telling: Telling) -> Json:
    """The message that the events make up. A call's arguments are read when all of them are there."""
    message: Json = {}
    blocks: dict[int, Json] = {}
    for event in events:
        match event.get("type"):
            case "message_start":
                message = dict(event["message"])
            case "content_block_start":
                blocks[event["index"]] = block = dict(event["content_block"])
                telling.text(block.get("text"), block=event["index"])
            case "content_block_delta":
                _add(event["delta"], blocks[event["index"]], event["index"], telling)
            case "message_delta":
                message |= event["delta"]
                counted = {name: count for name, count in (event.get("usage") or {}).items() if count is not None}
                message["usage"] = {**(message.get("usage") or {}), **counted}
    if not message.get("stop_reason"):
        raise WireError(CUT_SHORT)
    return {**message, "content": [blocks[index] for index in sorted(blocks)]}


def _add(delta: Mapping[str, Any], block: Json, index: int, telling: Telling) -> None:
    kind = str(delta["type"])
    if kind == "input_json_delta":
        # The block starts with an empty object in the place of a text; whole arguments given there stay.
        before = block["input"] if isinstance(block.get("input"), str) else ""
        block["input"] = before + delta["partial_json"] or block.get("input")
    elif kind == "citations_delta":
        block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
    elif kind in DELTAS:
        name = DELTAS[kind]
        block[name] = (block.get(name) or "") + delta[name]
        if kind == "text_delta":
            telling.text(delta["text"], block=index)
        elif kind == "thinking_delta":
            telling.thought(delta["thinking"], block=index)
