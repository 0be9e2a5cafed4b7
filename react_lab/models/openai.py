"""OpenAI's two wires: Responses for api.openai.com, Chat Completions for every server that is compatible with it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import openai

from react_lab.errors import ModelError
from react_lab.messages import Message, Reply, StopReason, ToolCall, Usage
from react_lab.tools.base import Tool

Wire = Literal["responses", "chat"]


class OpenAIModel:
    """A model behind the openai SDK (3.x).

    `wire` is chosen by the address: current OpenAI models take tools on Responses only, other servers speak chat.
    """

    native_tools = True

    def __init__(self, name: str, *, client: openai.OpenAI | None = None, wire: Wire | None = None) -> None:
        self.name = f"openai:{name}"
        self.model = name
        self.client = client or openai.OpenAI()
        self.wire: Wire = wire or ("chat" if os.environ.get("OPENAI_BASE_URL") else "responses")

    def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        ask = self._ask_responses if self.wire == "responses" else self._ask_chat
        try:
            reply = ask(messages, tools, tool_choice, stop)
        except openai.APIError as error:
            raise ModelError(f"{self.name}: {error}") from error
        if on_text:
            on_text(reply.text)
        return reply

    def _ask_chat(
        self, messages: Sequence[Message], tools: Sequence[Tool], tool_choice: str | None, stop: Sequence[str]
    ) -> Reply:
        body: dict[str, Any] = {"messages": to_chat(messages)}
        if tools:
            body["tools"] = [item.to_openai_schema() for item in tools]
        if tool_choice:
            body["tool_choice"] = {"type": "function", "function": {"name": tool_choice}}
        if stop:
            body["stop"] = list(stop)
        # In extra_body the SDK sends the history as it is; as an argument it would walk every message on every call.
        return from_chat(self.client.chat.completions.create(model=self.model, messages=[], extra_body=body).to_dict())

    def _ask_responses(
        self, messages: Sequence[Message], tools: Sequence[Tool], tool_choice: str | None, stop: Sequence[str]
    ) -> Reply:
        # This wire has no stop sequences; the reader of text ReAct cuts by itself.
        body: dict[str, Any] = {
            "input": to_responses(messages),
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"summary": "auto"},
        }
        if tools:
            body["tools"] = [{"type": "function", **item.to_openai_schema()["function"]} for item in tools]
        if tool_choice:
            body["tool_choice"] = {"type": "function", "name": tool_choice}
        return from_responses(self.client.responses.create(model=self.model, extra_body=body).to_dict())


def read_arguments(text: str) -> tuple[Mapping[str, Any], str | None]:
    """Arguments from the JSON text that the model wrote, or why they can't be read. An empty text means none."""
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        return {}, f"the arguments are not valid JSON ({error}); send the call again"
    if not isinstance(value, dict):
        return {}, "the arguments are no JSON object; send the call again"
    return value, None


def _call(call_id: str, name: str, text: str) -> ToolCall:
    arguments, error = read_arguments(text)
    return ToolCall(call_id, name, arguments, error)


def _error_marked(content: str, is_error: bool) -> str:
    """OpenAI's wires have no field for a failed call: the text has to say it."""
    return content if not is_error or content.startswith("Error") else f"Error: {content}"


# -- Chat Completions ----------------------------------------------------------------------------------------


def to_chat(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The conversation as Chat Completions takes it: one message per tool result."""
    wire: list[dict[str, Any]] = []
    for message in messages:
        if message.native is not None and message.native.get("provider") == "openai-chat":
            wire.append(dict(message.native["content"]))
        elif message.role == "tool":
            wire += [
                {"role": "tool", "tool_call_id": r.call_id, "content": _error_marked(r.content, r.is_error)}
                for r in message.tool_results
            ]
        elif message.tool_calls:
            calls = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}}
                for c in message.tool_calls
            ]
            wire.append({"role": "assistant", "content": message.text or None, "tool_calls": calls})
        else:
            wire.append({"role": message.role, "content": message.text})
    return wire


def from_chat(response: Mapping[str, Any]) -> Reply:
    """`finish_reason` is not to be trusted: several servers say `stop` and send tool calls."""
    choice = response["choices"][0]
    message = choice["message"]
    calls = tuple(
        _call(call["id"], call["function"]["name"], call["function"]["arguments"])
        for call in message.get("tool_calls") or ()
    )
    broken = any(call.error for call in calls)
    reasons: dict[str, StopReason] = {"length": "max_tokens", "content_filter": "refusal"}
    usage = response.get("usage")
    return Reply(
        text=message.get("content") or message.get("refusal") or "",
        thought=message.get("reasoning_content") or "",
        tool_calls=calls,
        stop_reason=reasons.get(choice.get("finish_reason"), "tool_calls" if calls else "end"),
        usage=_chat_usage(usage) if usage else None,
        native=None if broken else {"provider": "openai-chat", "content": message},
    )


def _chat_usage(usage: Mapping[str, Any]) -> Usage:
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0, cached)


# -- Responses -----------------------------------------------------------------------------------------------


def to_responses(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The conversation as a flat list of items; a model's own items (reasoning among them) go back unchanged."""
    wire: list[dict[str, Any]] = []
    for message in messages:
        if message.native is not None and message.native.get("provider") == "openai-responses":
            wire += message.native["content"]
        elif message.role == "tool":
            wire += [
                {"type": "function_call_output", "call_id": r.call_id, "output": _error_marked(r.content, r.is_error)}
                for r in message.tool_results
            ]
        else:
            if message.text:
                wire.append({"role": message.role, "content": message.text})
            wire += [
                {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": json.dumps(c.arguments)}
                for c in message.tool_calls
            ]
    return wire


def from_responses(response: Mapping[str, Any]) -> Reply:
    items = response["output"]
    texts = [part for item in items if item["type"] == "message" for part in item["content"]]
    thoughts = [part["text"] for item in items if item["type"] == "reasoning" for part in item.get("summary") or ()]
    calls = tuple(_call(i["call_id"], i["name"], i["arguments"]) for i in items if i["type"] == "function_call")
    refused = [part["refusal"] for part in texts if part["type"] == "refusal"]
    usage = response.get("usage")
    stop: StopReason = "tool_calls" if calls else "end"
    if response.get("status") == "incomplete":
        stop = "max_tokens"
    return Reply(
        text="".join(part["text"] for part in texts if part["type"] == "output_text") or "\n".join(refused),
        thought="\n\n".join(thoughts),
        tool_calls=calls,
        stop_reason="refusal" if refused else stop,
        usage=_responses_usage(usage) if usage else None,
        native=None if any(call.error for call in calls) else {"provider": "openai-responses", "content": items},
    )


def _responses_usage(usage: Mapping[str, Any]) -> Usage:
    cached = (usage.get("input_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(usage.get("input_tokens") or 0, usage.get("output_tokens") or 0, cached)
