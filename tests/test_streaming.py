"""Streams as servers send them: pieces without place, whole objects twice, ends that never come."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_lab import Message, ModelError, Reply
from react_lab.models.base import Thought
from tests.wire_server import (
    CALL,
    QUESTION,
    REASONING,
    THINKING,
    TOOL_USE,
    TURNS,
    WIRES,
    Replies,
    Server,
    anthropic_message,
    chat_call,
    chat_completion,
    connect,
    events_of,
    function_call,
    multiply,
    output_text,
    response,
    sse,
)

Event = dict[str, Any]


def stream(wire: str, *events: Event, on_text: Callable[[str], None] = lambda piece: None) -> Reply:
    """The reply to a request that is answered with these events."""
    return connect(wire, Replies([sse(*events)])).reply(QUESTION, tools=[multiply], on_text=on_text)


def chunk(*tool_calls: Event, finish: str | None = None, **delta: Any) -> Event:
    calls = {"tool_calls": list(tool_calls)} if tool_calls else {}
    return {"choices": [{"index": 0, "delta": {**delta, **calls}, "finish_reason": finish}]}


def piece(arguments: Any = None, *, name: str | None = None, **place: Any) -> Event:
    return {**place, "function": {"name": name, "arguments": arguments}}


END = chunk(finish="tool_calls")


@pytest.mark.parametrize(
    "pieces",
    [
        # OpenAI: the index in every piece, id and name in the first
        [piece("", index=0, id="t1", name="multiply"), piece('{"a": 6,', index=0), piece(' "b": 7}', index=0)],
        # no index at all
        [piece("", id="t1", name="multiply"), piece('{"a": 6,'), piece(' "b": 7}')],
        # id and name in every piece
        [piece(p, id="t1", index=0, name="multiply") for p in ('{"a": 6,', ' "b": 7}')],
        [piece(p, id="t1", name="multiply") for p in ('{"a": 6,', ' "b": 7}')],
        # null and empty pieces
        [
            piece(None, index=0, id="t1", name="multiply"),
            piece("", index=0),
            piece(json.dumps(CALL), index=0),
            piece("", index=0),
        ],
        # an empty object first, or the whole once more
        [piece("{}", index=0, id="t1", name="multiply"), piece(json.dumps(CALL), index=0)],
        [piece(json.dumps(CALL), index=0, id="t1", name="multiply"), piece(json.dumps(CALL), index=0)],
        # an object in the place of a text
        [piece(CALL, index=0, id="t1", name="multiply")],
    ],
)
def test_a_call_is_put_together_from_pieces_of_every_kind(pieces: list[Event]) -> None:
    reply = stream("chat", *(chunk(p) for p in pieces), END)
    assert [(call.id, call.name, call.arguments, call.error) for call in reply.tool_calls] == [
        ("t1", "multiply", CALL, None)
    ]


@pytest.mark.parametrize(
    "places",
    [
        [{"index": 0, "id": "t1"}, {"index": 1, "id": "t2"}],
        [{"index": 0, "id": "t1"}, {"index": 0, "id": "t2"}],  # Ollama: every call has the index 0
        [{"id": "t1"}, {"id": "t2"}],
        [{"id": ""}, {"id": ""}],  # Gemini's compatible endpoint
        [{}, {}],
    ],
)
def test_two_calls_stay_two(places: list[Event]) -> None:
    whole = [piece(json.dumps({"a": n, "b": n}), name="multiply", **place) for n, place in enumerate(places)]
    for chunks in ([chunk(*whole)], [chunk(p) for p in whole]):
        reply = stream("chat", *chunks, END)
        assert [call.arguments for call in reply.tool_calls] == [{"a": 0, "b": 0}, {"a": 1, "b": 1}]
        assert len({call.id for call in reply.tool_calls}) == 2


def test_a_call_without_arguments_has_none() -> None:  # RC066
    reply = stream("chat", chunk(piece("", index=0, id="t1", name="multiply")), END)
    assert (reply.tool_calls[0].arguments, reply.tool_calls[0].error) == ({}, None)


def test_what_a_server_adds_to_a_call_goes_back() -> None:
    sealed = {"google": {"thought_signature": "sealed"}}
    reply = stream("chat", chunk(piece("{}", index=0, id="t1", name="multiply", extra_content=sealed)), END)
    assert reply.native is not None
    assert reply.native["content"]["tool_calls"][0]["extra_content"] == sealed


def test_usage_in_the_last_choice_is_read() -> None:
    last = chunk(finish="stop")
    last["choices"][0]["usage"] = {"prompt_tokens": 7, "completion_tokens": 3}
    reply = stream("chat", chunk(content="42"), last)
    assert reply.usage is not None
    assert reply.usage.input_tokens == 7


def test_usage_is_asked_for() -> None:
    server = Server(TURNS["chat"])
    connect("chat", server).reply(QUESTION, on_text=lambda piece: None)
    assert server.requests[0]["stream_options"] == {"include_usage": True}


# -- Anthropic -----------------------------------------------------------------------------------------------


def anthropic_events(*deltas: str, start: Any = None) -> list[Event]:
    block = {**TOOL_USE, "input": {} if start is None else start}
    return [
        {"type": "message_start", "message": anthropic_message(stop=None)},  # type: ignore[arg-type]
        {"type": "content_block_start", "index": 0, "content_block": block},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": p}}
            for p in deltas
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]


@pytest.mark.parametrize(
    ("deltas", "start", "arguments"),
    [
        ([""], None, {}),  # RC066
        ([], None, {}),
        ([], CALL, CALL),  # whole arguments in the block's start stay
        ([""], CALL, CALL),
        (["", '{"a": 6', ', "b": 7}'], None, CALL),
        ([json.dumps(CALL)], {}, CALL),
    ],
)
def test_the_arguments_of_a_block_are_read_when_it_is_whole(deltas: list[str], start: Any, arguments: Event) -> None:
    (call,) = stream("anthropic", *anthropic_events(*deltas, start=start)).tool_calls
    assert (call.arguments, call.error) == (arguments, None)


def test_arguments_that_end_early_are_not_run() -> None:
    (call,) = stream("anthropic", *anthropic_events('{"a": 6')).tool_calls
    assert call.arguments == {}
    assert call.error is not None


def test_an_error_in_the_middle_of_a_stream_is_a_model_error() -> None:
    events = anthropic_events(json.dumps(CALL))[:3]
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    with pytest.raises(ModelError, match="Overloaded"):
        stream("anthropic", *events, error)
    with pytest.raises(ModelError, match="Overloaded"):
        stream("chat", chunk(content="4"), error)
    with pytest.raises(ModelError, match="Overloaded"):
        stream("responses", {"type": "error", "code": "server_error", "message": "Overloaded"})


# -- all wires -----------------------------------------------------------------------------------------------


TRAILERS = {"anthropic": 2, "chat": 2, "responses": 1}  # events from the one on that tells how the reply ended


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_that_breaks_off_is_an_error_wherever_it_breaks(wire: str) -> None:
    events = list(events_of(TURNS[wire][0]))
    for end in range(len(events) - TRAILERS[wire] + 1):
        with pytest.raises(ModelError):
            stream(wire, *events[:end])


@pytest.mark.parametrize("wire", WIRES)
def test_events_of_unknown_kinds_are_passed_over(wire: str) -> None:
    events = [{"type": "from_the_future", "data": 1}, *events_of(TURNS[wire][0])]
    assert stream(wire, *events) == connect(wire, Server(TURNS[wire])).reply(QUESTION, tools=[multiply])


def test_items_that_only_came_one_by_one_are_kept() -> None:
    turn = response(REASONING, output_text("42"))
    *events, _ = events_of(turn)
    reply = stream("responses", *events, {"type": "response.completed", "response": {**turn, "output": []}})
    assert (reply.thought, reply.text) == ("six sevens", "42")


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@st.composite
def turns(draw: st.DrawFn) -> tuple[str, Event]:
    """A wire and an answer on it: a thought, a text and calls, each or none."""
    wire = draw(st.sampled_from(WIRES))
    thought, text = draw(st.none() | texts), draw(st.none() | texts)
    calls = [json.dumps({"a": draw(texts), "b": n}) for n in range(draw(st.integers(0, 2)))]
    if wire == "chat":
        made = [{**chat_call(arguments), "id": f"t{n}"} for n, arguments in enumerate(calls)]
        fields = {"reasoning_content": thought, "tool_calls": made}
        return wire, chat_completion(content=text, **{name: value for name, value in fields.items() if value})
    if wire == "anthropic":
        blocks = [{**THINKING, "thinking": thought}] if thought else []
        blocks += [{"type": "text", "text": text}, {"type": "text", "text": text}] if text else []
        blocks += [{**TOOL_USE, "id": f"t{n}", "input": json.loads(arguments)} for n, arguments in enumerate(calls)]
        return wire, anthropic_message(*blocks)
    summary = [{"type": "summary_text", "text": thought}] * 2 if thought else []
    items = [{**REASONING, "summary": summary}, *([output_text(text)] * 2 if text else [])]
    return wire, response(*items, *({**function_call(c), "call_id": f"t{n}"} for n, c in enumerate(calls)))


@given(turns())
def test_any_reply_is_the_same_streamed_and_whole(wire_and_turn: tuple[str, Event]) -> None:
    wire, turn = wire_and_turn
    pieces: list[str] = []
    streamed = stream(wire, *events_of(turn), on_text=pieces.append)
    assert streamed == connect(wire, Server([turn])).reply(QUESTION)
    assert "".join(p for p in pieces if not isinstance(p, Thought)) == streamed.text
    assert "".join(p for p in pieces if isinstance(p, Thought)) == streamed.thought


def test_pieces_come_one_by_one_and_thoughts_are_marked() -> None:
    pieces: list[str] = []
    turn = anthropic_message(THINKING, {"type": "text", "text": "forty-two"})
    stream("anthropic", *events_of(turn), on_text=pieces.append)
    assert pieces == ["six", " se", "ven", "s", "for", "ty-", "two"]
    assert [isinstance(p, Thought) for p in pieces] == [True] * 4 + [False] * 3


def test_what_was_streamed_is_sent_back_like_what_was_not() -> None:
    for wire in WIRES:
        server = Server(TURNS[wire])
        model = connect(wire, server)
        for on_text in (None, lambda piece: None):
            server.requests.clear()
            reply = model.reply(QUESTION, tools=[multiply], on_text=on_text)
            assert reply.native is not None
            sent = model.form.to_wire(
                [Message("assistant", tool_calls=reply.tool_calls, native=reply.native)], model.name
            )
            assert "six sevens" in json.dumps(sent)
