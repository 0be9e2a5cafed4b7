"""Claude over Anthropic's Messages API (anthropic SDK 2.x)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import anthropic

from react_lab.errors import ModelError
from react_lab.messages import Message, Reply, StopReason, ToolCall, Usage
from react_lab.tools.base import Tool

MAX_TOKENS = 8192  # above 21,333 the SDK insists on streaming
STOP_REASONS: dict[str | None, StopReason] = {
    "end_turn": "end",
    "tool_use": "tool_calls",
    "stop_sequence": "stop_sequence",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
}
# Models of the fifth generation think by default and leave the thought out unless a summary is asked for.
THINKS = re.compile(r"claude-[a-z]+-5")


class AnthropicModel:
    """A Claude model. Without `client` the SDK reads key and address from the environment."""

    native_tools = True

    def __init__(self, name: str, *, client: anthropic.Anthropic | None = None) -> None:
        self.name = f"anthropic:{name}"
        self.model = name
        self.client = client or anthropic.Anthropic()

    def reply(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        tool_choice: str | None = None,
        stop: Sequence[str] = (),
        on_text: Callable[[str], None] | None = None,
    ) -> Reply:
        request: dict[str, Any] = {"model": self.model, "max_tokens": MAX_TOKENS, "messages": to_wire(messages)}
        if messages[0].role == "system":
            request["system"] = messages[0].text
        if tools:
            request["tools"] = [item.to_anthropic_schema() for item in tools]
        if tool_choice:
            request["tool_choice"] = {"type": "tool", "name": tool_choice}
        if stop:
            request["stop_sequences"] = list(stop)
        if THINKS.match(self.model) and not os.environ.get("ANTHROPIC_BASE_URL"):
            request["thinking"] = {"type": "adaptive", "display": "summarized"}
        try:
            response = self.client.messages.create(**request)
        except anthropic.APIError as error:
            raise ModelError(f"{self.name}: {error}") from error
        reply = from_wire(response)
        if on_text:
            on_text(reply.text)
        return reply


def to_wire(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The conversation as the Messages API takes it; the system message travels apart."""
    return [{"role": _role(message), "content": _content(message)} for message in messages if message.role != "system"]


def _role(message: Message) -> str:
    return "assistant" if message.role == "assistant" else "user"


def _content(message: Message) -> str | list[dict[str, Any]]:
    if message.native is not None and message.native.get("provider") == "anthropic":
        blocks: list[dict[str, Any]] = message.native["content"]
        return [block for block in blocks if block.get("type") != "text" or block["text"].strip()]
    if message.role == "tool":
        return [
            {"type": "tool_result", "tool_use_id": r.call_id, "content": r.content, "is_error": r.is_error}
            for r in message.tool_results
        ]
    if not message.tool_calls:
        return message.text or "(empty)"  # the API refuses an empty text
    text = [{"type": "text", "text": message.text}] if message.text.strip() else []
    calls = [{"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.arguments)} for c in message.tool_calls]
    return text + calls


def from_wire(response: anthropic.types.Message) -> Reply:
    """Blocks are told apart by their `type`: the SDK passes unknown ones through as text without text."""
    blocks = [block.to_dict() for block in response.content]
    usage = response.usage
    cached = usage.cache_read_input_tokens or 0
    return Reply(
        text="\n\n".join(str(block["text"]) for block in blocks if block["type"] == "text" and block.get("text")),
        thought="\n\n".join(str(b["thinking"]) for b in blocks if b["type"] == "thinking" and b.get("thinking")),
        tool_calls=tuple(_call(block) for block in blocks if block["type"] == "tool_use"),
        stop_reason=STOP_REASONS.get(response.stop_reason, "other"),
        # input_tokens counts only what was neither read from the cache nor written to it
        usage=Usage(
            usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0), usage.output_tokens, cached
        ),
        native={"provider": "anthropic", "content": blocks},
    )


def _call(block: dict[str, Any]) -> ToolCall:
    return ToolCall(str(block["id"]), str(block["name"]), block["input"])
