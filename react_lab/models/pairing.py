"""Calls and results in pairs: the check before every request, and ids that are unique over a conversation.

Both providers refuse a conversation in which a call has no result, a result no call, or two calls the same id.
Their error 400 says so a request too late and names no cause; this check names the message that is wrong.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace

from react_lab.errors import ReactLabError
from react_lab.messages import Message, ToolCall


class PairingError(ReactLabError, ValueError):
    """A conversation that no provider would take: the caller's mistake, found before anything is sent."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(f"message {index}: {reason}")
        self.index = index


def check_pairing(messages: Sequence[Message]) -> None:
    """Make sure that every call is answered in the very next message, in order, and under an id of its own.

    Raises:
        PairingError: it is not so; `index` is that of the first message that breaks it.
    """
    if not messages:
        raise PairingError(0, "there is no message to send")
    seen: set[str] = set()
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        if message.role == "system" and index > 0:
            raise PairingError(index, "a system message can only be the first")
        results = [result.call_id for result in message.tool_results]
        if open_calls and results != open_calls:
            if message.role != "tool":
                raise PairingError(index - 1, f"the calls {open_calls} have no results in the next message")
            raise PairingError(index, f"the results {results} do not answer the calls {open_calls} before them")
        if not open_calls and (results or message.role == "tool"):
            raise PairingError(index, f"the results {results} follow no calls")
        open_calls = [call.id for call in message.tool_calls]
        if open_calls and message.role != "assistant":
            raise PairingError(index, f"a {message.role} message makes no calls")
        for call_id in open_calls:
            if not call_id or call_id in seen:
                raise PairingError(index, f"the call id {call_id!r} is {'used twice' if call_id else 'empty'}")
            seen.add(call_id)
    if open_calls:
        raise PairingError(len(messages) - 1, f"the calls {open_calls} have no results in the next message")


def call_ids(messages: Iterable[Message]) -> set[str]:
    """The ids of all calls of a conversation."""
    return {call.id for message in messages for call in message.tool_calls}


def unique_id(given: str | None, taken: set[str]) -> str:
    """The id that a server gave, or a new one where it gave none or one that is taken; from now on it is taken."""
    unique = given if given and given not in taken else f"call_{uuid.uuid4().hex[:24]}"
    taken.add(unique)
    return unique


def with_unique_ids(messages: Iterable[Message]) -> list[Message]:
    """A conversation from elsewhere, with new ids where a call repeats one (real servers do) and in its results."""
    taken: set[str] = set()
    renamed: list[str] = []
    repaired = []
    for message in messages:
        ids = iter(renamed)
        results = tuple(replace(result, call_id=next(ids, result.call_id)) for result in message.tool_results)
        calls: tuple[ToolCall, ...] = tuple(replace(call, id=unique_id(call.id, taken)) for call in message.tool_calls)
        renamed = [call.id for call in calls]
        unchanged = calls == message.tool_calls and results == message.tool_results
        repaired.append(message if unchanged else replace(message, tool_calls=calls, tool_results=results, native=None))
    return repaired
