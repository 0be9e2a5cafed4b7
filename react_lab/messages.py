"""What passes between an agent, its model and its tools: plain frozen data, no provider in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Role = Literal["system", "user", "assistant", "tool"]
T = TypeVar("T", bound="DataclassInstance")
StopReason = Literal["end", "tool_calls", "stop_sequence", "max_tokens", "refusal", "budget", "other"]


@dataclass(frozen=True)
class ToolCall:
    """What the model asked for.

    `error` says why the arguments could not be read (cut off, not JSON); such a call is answered, never run.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True)
class ToolResult:
    """What came back from a call: the observation.

    `content` is what the model reads. `traceback` is for the person and is never sent to a model. `arguments` are those
    that the tool was really run with, where they are not those of the call (a person may change them).
    """

    call_id: str
    name: str
    content: str
    is_error: bool = False
    traceback: str | None = None
    cached: bool = False
    attempts: int = 1
    waited_s: float = 0.0  # between attempts
    seconds: float = 0.0
    arguments: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Message:
    """One entry of a conversation.

    `native` holds a provider's own blocks of an assistant turn, `{"provider", "model", "content"}`; the same model gets
    them back unchanged (signed thinking, for one, must not be rebuilt).
    """

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()
    native: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON data, empty fields left out."""
        data: dict[str, Any] = {"role": self.role, "text": self.text}
        if self.tool_calls:
            data["tool_calls"] = [set_fields(call) for call in self.tool_calls]
        if self.tool_results:
            data["tool_results"] = [set_fields(result, READ) for result in self.tool_results]
        if self.native is not None:
            data["native"] = self.native
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; fields that this version does not know are ignored."""
        return cls(
            role=data["role"],
            text=data.get("text", ""),
            tool_calls=tuple(known_fields(ToolCall, call) for call in data.get("tool_calls", ())),
            tool_results=tuple(known_fields(ToolResult, result) for result in data.get("tool_results", ())),
            native=data.get("native"),
        )


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply or of a run. `input_tokens` counts the whole prompt, `cached_tokens` its cached part."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True)
class Reply:
    """A model's turn.

    `thought` is reasoning that the provider gave apart from the text. `usage` and `cost_usd` are None where nothing is
    known of them (unknown is not zero). `replaced` tells how what was sent differs from the conversation: the messages
    from index `from` up to, not including, index `to` were sent as `{"from", "to", "messages"}`.
    """

    text: str = ""
    thought: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: StopReason = "end"
    usage: Usage | None = None
    native: Mapping[str, Any] | None = None
    cost_usd: float | None = None
    attempts: int = 1
    waited_s: float = 0.0  # between attempts
    replaced: Mapping[str, Any] | None = None


READ = ("call_id", "name", "content", "is_error")  # what a model gets to read of a result


def set_fields(data: ToolCall | ToolResult | Usage, names: Iterable[str] | None = None) -> dict[str, Any]:
    """A dataclass, or the named fields of it, as JSON data; None, zero, False and "" are defaults and are left out."""
    return {name: vars(data)[name] for name in names or vars(data) if vars(data)[name] not in (None, 0, "")}


def known_fields(cls: type[T], data: Mapping[str, Any]) -> T:
    """The inverse of `set_fields`; fields that this version does not know are ignored."""
    return cls(**{name: data[name] for name in cls.__dataclass_fields__ if name in data})
