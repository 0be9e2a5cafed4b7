"""Servers that speak each wire, for tests: they give the next answer of a list, streamed where that is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import anthropic
import httpx2
import openai

from react_lab import Message, tool
from react_lab.models.anthropic import AnthropicModel
from react_lab.models.openai import OpenAIModel
from react_lab.models.provider import ProviderModel


@tool
def multiply(a: float, b: float) -> float:
    """Multiply two numbers."""
    return a * b


QUESTION = [Message("system", "Be brief."), Message("user", "What is 6 × 7?")]
CALL = {"a": 6, "b": 7}


def anthropic_message(*blocks: dict[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(blocks),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 2},
    }


def chat_completion(finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}}
        ],
        "usage": {
            "prompt_tokens": 7,
            "completion_tokens": 3,
            "total_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": 2},
        },
    }


def response(*items: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    return {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "output": list(items),
        "usage": {
            "input_tokens": 7,
            "input_tokens_details": {"cached_tokens": 2},
            "output_tokens": 3,
            "total_tokens": 10,
        },
    }


def output_text(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}


def function_call(arguments: str) -> dict[str, Any]:
    return {"type": "function_call", "id": "f", "call_id": "t1", "name": "multiply", "arguments": arguments}


def chat_call(arguments: str) -> dict[str, Any]:
    return {"id": "t1", "type": "function", "function": {"name": "multiply", "arguments": arguments}}


REASONING = {
    "type": "reasoning",
    "id": "rs",
    "summary": [{"type": "summary_text", "text": "six sevens"}],
    "encrypted_content": "sealed",
}
THINKING = {"type": "thinking", "thinking": "six sevens", "signature": "sealed"}
TOOL_USE = {"type": "tool_use", "id": "t1", "name": "multiply", "input": CALL}

# What each wire's server answers: a call with a thought, then a text.
TURNS: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        anthropic_message(THINKING, {"type": "text", "text": ""}, TOOL_USE, stop="tool_use"),
        anthropic_message({"type": "text", "text": "42"}),
    ],
    # finish_reason "stop" beside tool calls is what several servers send
    "chat": [
        chat_completion(reasoning_content="six sevens", tool_calls=[chat_call(json.dumps(CALL))]),
        chat_completion(content="42"),
    ],
    "responses": [response(REASONING, function_call(json.dumps(CALL))), response(output_text("42"))],
}


@dataclass
class Server:
    """Answers each request with the next turn, and keeps what it was sent."""

    turns: list[dict[str, Any]]
    status: int = 200
    requests: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        sent = json.loads(request.content)
        self.requests.append(sent)
        turn = self.turns[min(len(self.requests), len(self.turns)) - 1]
        if sent.get("stream") and self.status == 200:
            return sse(*events_of(turn))
        return httpx2.Response(self.status, json=turn)


@dataclass
class Replies:
    """Answers each request with the next of these responses, or exceptions."""

    replies: list[httpx2.Response | Exception]
    requests: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(json.loads(request.content))
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply


Handler = Callable[[httpx2.Request], httpx2.Response]


def connect(wire: str, server: Handler, *, name: str = "claude-haiku-5-5", **options: Any) -> ProviderModel:
    http = httpx2.Client(transport=httpx2.MockTransport(server))
    if wire == "anthropic":
        return AnthropicModel(name, client=anthropic.Anthropic(api_key="k", http_client=http, max_retries=0), **options)
    return OpenAIModel("m", client=openai.OpenAI(api_key="k", http_client=http, max_retries=0), wire=wire, **options)


WIRES = list(TURNS)


# -- streams -------------------------------------------------------------------------------------------------


def sse(*events: dict[str, Any]) -> httpx2.Response:
    """A response that streams these events, each under the name of its type."""
    lines = [f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n" for event in events]
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, text="".join(lines))


def events_of(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events with which a server would stream this answer."""
    if "choices" in turn:
        return chat_events(turn)
    return response_events(turn) if "output" in turn else anthropic_events(turn)


def pieces_of(text: str) -> list[str]:
    """A text in small pieces, an empty one among them."""
    return ["", *(text[i : i + 3] for i in range(0, len(text), 3))]


def chat_events(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    (choice,) = turn["choices"]

    def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk(role="assistant", content=None)
    for name in ("reasoning_content", "content", "refusal"):
        if choice["message"].get(name) is not None:
            yield from (chunk(**{name: piece}) for piece in pieces_of(choice["message"][name]))
    for index, call in enumerate(choice["message"].get("tool_calls") or ()):
        function = {"name": call["function"]["name"], "arguments": ""}
        yield chunk(tool_calls=[{**call, "index": index, "function": function}])
        for piece in pieces_of(call["function"]["arguments"]):
            yield chunk(tool_calls=[{"index": index, "function": {"arguments": piece}}])
    yield chunk(choice["finish_reason"])
    if "usage" in turn:
        yield {"choices": [], "usage": turn["usage"]}


def anthropic_events(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    start = {**turn, "content": [], "stop_reason": None, "usage": {**turn["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    streamed = {"text": "text_delta", "thinking": "thinking_delta", "signature": "signature_delta"}
    for index, block in enumerate(turn["content"]):
        empty = {name: "" if name in streamed else value for name, value in block.items()}
        deltas = [
            {"type": kind, name: piece}
            for name, kind in streamed.items()
            if name in block
            for piece in pieces_of(block[name])
        ]
        if block["type"] == "tool_use":
            empty["input"] = {}
            deltas = [{"type": "input_json_delta", "partial_json": p} for p in pieces_of(json.dumps(block["input"]))]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": turn["stop_reason"], "stop_sequence": None, "stop_details": turn.get("stop_details")}
    usage = {"input_tokens": None, "output_tokens": turn["usage"]["output_tokens"]}
    yield {"type": "message_delta", "delta": end, "usage": usage}
    yield {"type": "message_stop"}


def response_events(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": {**turn, "status": "in_progress", "output": []}}
    for index, item in enumerate(turn["output"]):
        yield {"type": "response.output_item.added", "output_index": index, "item": {**item, "content": []}}
        for place, part in enumerate(item.get("summary") or ()):
            at = {"output_index": index, "summary_index": place}
            kind = "response.reasoning_summary_text.delta"
            yield from ({"type": kind, **at, "delta": piece} for piece in pieces_of(part["text"]))
        for part in item.get("content") or ():
            kind = part["type"].removeprefix("output_")
            for piece in pieces_of(part.get("text") or part.get("refusal")):
                yield {
                    "type": f"response.{'output_text' if kind == 'text' else kind}.delta",
                    "output_index": index,
                    "delta": piece,
                }
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{turn['status']}", "response": turn}
