"""A run from the plain list of messages that another program sent to Anthropic or to OpenAI."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from react_lab.interchange.recording import Turn, record
from react_lab.messages import Message, Reply, ToolCall, ToolResult
from react_lab.trace import Trace

Json = dict[str, Any]


def from_messages(messages: Iterable[Mapping[str, Any]], *, model: str = "", system: str = "") -> Trace:
    """The run behind a list of messages as they are sent to Anthropic or to OpenAI.

    The first thing that the user said is the question. What a list does not hold (tokens, times) stays unknown.

    Raises:
        ValueError: nobody asks anything in these messages.
    """
    turns: list[Turn] = []
    added: list[Message] = []
    question = None
    for message in messages:
        role, text, calls, results = _read(message)
        if role == "system":
            system = "\n\n".join(filter(None, [system, text]))
        elif role == "assistant":
            turns.append(
                Turn(added, Reply(text, tool_calls=tuple(calls), stop_reason="tool_calls" if calls else "end"))
            )
            added = [turns[-1].message]
        elif results and turns:
            names = {call.id: call.name for call in turns[-1].calls}
            named = [
                ToolResult(result.call_id, names.get(result.call_id, ""), result.content, result.is_error)
                for result in results
            ]
            turns[-1].results += named
            added = [entry for entry in added if entry.role != "tool"]
            added.append(Message("tool", tool_results=tuple(turns[-1].results)))
        if role == "user" and text:
            added.append(Message("user", text))
            question = question or text
    if question is None:
        raise ValueError("no question: the messages need one with role user")
    return record(turns, question=question, model=model, system=system)


def _read(message: Mapping[str, Any]) -> tuple[str, str, list[ToolCall], list[ToolResult]]:
    """Role, text, calls and results of a message, whichever of the two providers it is for."""
    role, content = message["role"], message.get("content")
    blocks: list[Json] = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    text = "\n".join(block["text"] for block in blocks if block.get("type") in ("text", "input_text", "output_text"))
    calls = [
        ToolCall(block["id"], block["name"], block["input"]) for block in blocks if block.get("type") == "tool_use"
    ]
    for call in message.get("tool_calls") or ():
        arguments, error = _arguments(call["function"].get("arguments") or "{}")
        calls.append(ToolCall(call["id"], call["function"]["name"], arguments, error))
    results = [
        ToolResult(block["tool_use_id"], "", _read_text(block.get("content")), block.get("is_error", False))
        for block in blocks
        if block.get("type") == "tool_result"
    ]
    if role == "tool":
        results, text = [ToolResult(message["tool_call_id"], "", text)], ""
    return ("system" if role == "developer" else role), text, calls, results


def _read_text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(block.get("text", f"[{block.get('type')}]") for block in content)
    return content or ""


def _arguments(text: str) -> tuple[Json, str | None]:
    try:
        return dict(json.loads(text)), None
    except (ValueError, TypeError):
        return {}, f"the arguments are no JSON object: {text}"
