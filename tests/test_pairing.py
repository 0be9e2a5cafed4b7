"""The check before a request finds what breaks a conversation, and nothing else."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from react_lab import Message, ToolCall, ToolResult
from react_lab.models.pairing import PairingError, check_pairing, unique_id, with_unique_ids
from react_lab.models.wires import chat

Conversation = list[Message]


def calls(*ids: str) -> Message:
    return Message("assistant", tool_calls=tuple(ToolCall(i, "search", {"query": i}) for i in ids))


def results(*ids: str) -> Message:
    return Message("tool", tool_results=tuple(ToolResult(i, "search", "found") for i in ids))


USER = Message("user", "hi")
GOOD = [Message("system", "s"), USER, calls("a", "b"), results("a", "b"), calls("c"), results("c"), USER]


@pytest.mark.parametrize(
    ("messages", "index", "reason"),
    [
        ([], 0, "no message"),
        ([USER, Message("system", "s")], 1, "system"),
        ([USER, calls("a")], 1, "no results in the next message"),
        ([USER, calls("a"), USER, results("a")], 1, "no results in the next message"),
        ([USER, calls("a", "b"), results("a")], 2, "do not answer"),
        ([USER, calls("a", "b"), results("b", "a")], 2, "do not answer"),
        ([USER, calls("a"), results("a", "a")], 2, "do not answer"),
        ([USER, calls("a"), results("x")], 2, "do not answer"),
        ([USER, results("a")], 1, "follow no calls"),  # RC076
        ([results("a"), USER], 0, "follow no calls"),  # RC051: history cut in the middle of a pair
        ([USER, calls("a"), results("a"), results("a")], 3, "follow no calls"),
        ([USER, calls("a", "a"), results("a", "a")], 1, "used twice"),
        ([USER, calls("a"), results("a"), calls("a"), results("a")], 3, "used twice"),  # RC078
        ([USER, calls(""), results("")], 1, "empty"),
        ([replace(calls("a"), role="user"), results("a")], 0, "makes no calls"),
    ],
)
def test_what_breaks_a_conversation_is_named_with_its_index(messages: Conversation, index: int, reason: str) -> None:
    with pytest.raises(PairingError, match=f"message {index}: .*{reason}") as caught:
        check_pairing(messages)
    assert caught.value.index == index


def test_a_conversation_in_order_passes() -> None:
    check_pairing(GOOD)


def real_conversations(shared: Path) -> Iterator[Conversation]:
    with gzip.open(shared / "corpus/react/native/tau_airline.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield chat.history(json.loads(line)["messages"])


def first_break(messages: Conversation) -> int | None:
    try:
        check_pairing(messages)
    except PairingError as error:
        return error.index
    return None


def test_every_cut_of_a_real_conversation_is_judged_right(shared: Path) -> None:
    judged = 0
    for messages in real_conversations(shared):
        for cut in range(1, len(messages)):
            dangling = bool(messages[cut - 1].tool_calls)
            assert first_break(messages[:cut]) == (cut - 1 if dangling else None)
            tail = messages[cut:]
            assert first_break(tail) == (0 if tail[0].role == "tool" else None)
            judged += 2
        assert first_break(messages) is None
    assert judged > 5000


def test_every_message_left_out_of_a_pair_is_noticed(shared: Path) -> None:
    for messages in real_conversations(shared):
        for gone, message in enumerate(messages):
            rest = [*messages[:gone], *messages[gone + 1 :]]
            broken = {"tool": gone - 1, "assistant": gone if message.tool_calls else None}.get(message.role)
            assert first_break(rest) == broken


def test_an_id_that_is_missing_or_taken_is_replaced() -> None:
    taken = {"a"}
    assert unique_id("b", taken) == "b"
    new = [unique_id(given, taken) for given in ("a", "b", None, "")]
    assert len({*new, "a", "b"}) == 6
    assert taken == {"a", "b", *new}


def test_a_conversation_with_repeated_ids_gets_new_ones_in_pairs() -> None:
    messages = with_unique_ids([USER, calls("a"), results("a"), calls("a", "b"), results("a", "b")])
    check_pairing(messages)
    assert messages[1:3] == [calls("a"), results("a")]
    assert messages[3].tool_calls[1].id == "b"
