"""A trace of turns that another program made: what all imports share."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from react_lab.messages import Message, Reply, ToolCall, ToolResult, set_fields
from react_lab.trace import FORMAT_VERSION, Step, Trace, now, reply_fields, result_fields


@dataclass
class Turn:
    """A turn as other formats hold it: what was sent, what came back, what was run."""

    added: list[Message]
    reply: Reply
    seconds: float = 0.0
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    thought: str | None = None
    answer: str | None = None
    reminder: str | None = None

    def __post_init__(self) -> None:
        self.calls = self.calls or list(self.reply.tool_calls)

    @property
    def message(self) -> Message:
        return as_message(self.reply)

    def sent_next(self) -> list[Message]:
        """What the next request adds: the reply, and what came of it."""
        observed = [Message("tool", tool_results=tuple(self.results))] if self.results else []
        return [self.message, *observed]


def record(turns: Sequence[Turn], *, id: str | None = None, outcome: str | None = None, **fields: Any) -> Trace:
    """A trace of these turns, its events in the order in which an agent would have recorded them."""
    answer, reason = fields.pop("answer", None), fields.pop("reason", None)
    head = {"agent": "", "tools": [], "settings": {}, "history": [], "started_at": now(), **fields}
    trace = Trace([{"event": "run", "version": FORMAT_VERSION, "id": id or uuid.uuid4().hex[:12], **head}])
    for step, turn in enumerate(turns, start=1):
        trace.append("request", step=step, messages=[message.to_dict() for message in turn.added])
        trace.append("reply", step=step, **reply_fields(turn.reply), seconds=turn.seconds)
        last = step == len(turns)
        thought = turn.thought if turn.thought is not None else (turn.reply.text if turn.calls else turn.reply.thought)
        said = turn.answer if turn.thought is not None or turn.calls or not last else turn.reply.text
        calls = [set_fields(call) for call in turn.calls]
        trace.append("parse", step=step, thought=thought, calls=calls, answer=said, reminder=turn.reminder)
        asked = {call.id: call for call in turn.calls}
        for result in turn.results:
            call = asked.get(result.call_id) or ToolCall(result.call_id, result.name)
            trace.append("result", step=step, **result_fields(call, result))
    if outcome == "interrupted" or not turns:
        return trace
    answer = answer if outcome else trace.steps[-1].answer
    if outcome or answer:
        trace.end(outcome or "answered", answer=answer, reason=reason)  # type: ignore[arg-type]
    return trace


def as_message(reply: Reply) -> Message:
    return Message("assistant", reply.text, tool_calls=reply.tool_calls)


def reply_of(trace: Trace, step: Step) -> Reply:
    """What the model wrote; nothing in a step that only runs tools."""
    return trace.reply_at(step.index) or Reply()
