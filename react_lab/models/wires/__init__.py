"""What the three wire forms share; each is a module with the same six functions.

    body       a request with model and conversation
    options    what a server may refuse to take: tools, a forced call, stop sequences, a summary of the thought
    to_wire    our messages → the provider's form
    from_wire  the provider's answer → a Reply
    collect    the events of a streamed answer → the answer that an unstreamed request would have got
    history    a conversation in the provider's form → our messages

Answers are read as plain JSON data: what this version does not know is kept and goes back as it came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from react_lab.messages import Message, ToolResult
from react_lab.models.base import Thought

Json = dict[str, Any]

EMPTY = "(empty)"  # in the place of a message without text: providers refuse those
CUT_SHORT = "the connection ended before the reply was complete"


class WireError(Exception):
    """An answer that can't be read as a reply; the text says what was wrong with it.

    `body` is what the provider said of its error, where it said something.
    """

    def __init__(self, text: str, body: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.body = body


class Telling:
    """Hands pieces of text and thought to `on_text` as they arrive, with a blank line between two blocks of a kind."""

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self.on_text = on_text
        self.last_block: dict[type[str], object] = {}

    def __call__(self, kind: type[str], piece: str | None, *, block: object = None) -> None:
        if not piece:
            return
        if self.last_block.setdefault(kind, block) != block:
            self.on_text(kind("\n\n"))
            self.last_block[kind] = block
        self.on_text(kind(piece))

    def text(self, piece: str | None, *, block: object = None) -> None:
        self(str, piece, block=block)

    def thought(self, piece: str | None, *, block: object = None) -> None:
        self(Thought, piece, block=block)


def own_content(message: Message, wire: str, model: str) -> Any | None:
    """The provider's own content of a turn, if this very model wrote it: a sealed thought is of use to no other."""
    native = message.native or {}
    return native["content"] if native.get("provider") == wire and native.get("model", model) == model else None


# -- arguments ---------------------------------------------------------------------------------------------------


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


DECODER = json.JSONDecoder(parse_constant=_no_constant)  # NaN and Infinity could not be sent back


def read_arguments(raw: object) -> tuple[Json, str | None]:
    """The arguments of a call, or why they can't be read.

    Args:
        raw: The JSON text that the model wrote; some servers give the object itself, or null. No text is no arguments.
    """
    try:
        value = _first_object(raw) if isinstance(raw, str) else raw
        if isinstance(value, str):  # JSON within JSON, as some small models write
            value = _first_object(value)
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are not valid JSON ({error}); send the call again"
    if value is None:
        return {}, None
    if not isinstance(value, Mapping):
        return {}, "the arguments are no JSON object; send the call again"
    return dict(value), None


def _first_object(text: str) -> Any:
    """The value in a text. Some servers begin with `{}`, or send the whole once more at the end of a stream."""
    text = text.strip()
    if not text:
        return None
    value, end = DECODER.raw_decode(text)
    rest = text[end:].strip()
    if not rest:
        return value
    again = DECODER.decode(rest)
    if value not in ({}, again):
        raise ValueError("two different objects")
    return again


def write_arguments(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)


# -- results and names -------------------------------------------------------------------------------------------

ERROR = "Error: "


def told(result: ToolResult) -> str:
    """A result for the wires that have no field for a failed call: the text has to say it."""
    return result.content if not result.is_error or result.content.startswith(ERROR) else ERROR + result.content


ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


def legal(name: str) -> str:
    """A tool's name or a call's id in the characters that every provider takes; legal ones stay as they are."""
    return ILLEGAL.sub("_", name)[:64] or "_"


def with_names(messages: Iterable[Message]) -> list[Message]:
    """The same messages, each result under the name of the tool that was called (OpenAI's wires leave it out)."""
    names: dict[str, str] = {}
    named = []
    for message in messages:
        names |= {call.id: call.name for call in message.tool_calls}
        results = tuple(replace(result, name=names.get(result.call_id, result.name)) for result in message.tool_results)
        named.append(replace(message, tool_results=results))
    return named
