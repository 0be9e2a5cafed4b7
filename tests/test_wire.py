"""What goes over the wires and comes back: conversions both ways, and every habit of a server that bites."""

from __future__ import annotations

import contextlib
import json
import traceback
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_lab import Message, ModelError, Reply, ToolCall, ToolRegistry, ToolResult, ToolUseAgent
from react_lab.models.catalogue import PROVIDERS
from react_lab.models.wires import anthropic, chat, read_arguments, responses
from tests.test_pairing import real_conversations
from tests.wire_server import (
    CALL,
    QUESTION,
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

ANSWER = {"type": "text", "text": "42"}


def there_and_back(wire: str, messages: list[Message]) -> list[Message]:
    """The conversation through a wire's form, as JSON."""
    system = messages[0].text if messages[0].role == "system" else ""
    head = [{"role": "system", "content": system}] if system else []
    if wire == "anthropic":
        return anthropic.history(json.loads(json.dumps(anthropic.to_wire(messages, "m"))), system=system)
    form = chat if wire == "chat" else responses
    return form.history(head + json.loads(json.dumps(form.to_wire(messages, "m"))))


# -- conversions ---------------------------------------------------------------------------------------------


def test_real_conversations_go_through_every_wire_and_come_back_unchanged(shared: Path) -> None:
    for messages in real_conversations(shared):
        for first in WIRES:
            assert there_and_back(first, messages) == messages
        assert there_and_back("chat", there_and_back("anthropic", there_and_back("responses", messages))) == messages


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(lambda t: bool(t.strip()))
arguments = st.dictionaries(words, st.none() | st.booleans() | st.integers() | words | st.lists(words))


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    messages = [Message("system", draw(words)), Message("user", draw(words))]
    for turn in range(draw(st.integers(0, 3))):
        made = tuple(ToolCall(f"call_{turn}_{n}", "search", draw(arguments)) for n in range(draw(st.integers(1, 3))))
        texts = [draw(words | st.just("")) for _ in made]
        failed = [draw(st.booleans()) for _ in made]
        results = tuple(
            ToolResult(c.id, "search", f"Error: {text}" if bad else f"found {text}", is_error=bad)
            for c, text, bad in zip(made, texts, failed, strict=True)
        )
        messages += [
            Message("assistant", draw(words | st.just("")), tool_calls=made),
            Message("tool", tool_results=results),
        ]
    return [*messages, Message("assistant", "done"), Message("user", draw(words))]


@given(conversations())
def test_any_conversation_goes_through_every_wire_and_comes_back_unchanged(messages: list[Message]) -> None:
    for wire in WIRES:
        assert there_and_back(wire, messages) == messages


def test_a_call_in_both_forms_is_one_call() -> None:  # RC079
    both = {"role": "assistant", "content": [ANSWER, TOOL_USE], "tool_calls": [chat_call(json.dumps(CALL))]}
    (message,) = chat.history([both])
    assert (message.text, [call.id for call in message.tool_calls]) == ("42", ["t1"])
    (turn,) = anthropic.to_wire([message], "m")
    assert turn["content"] == [ANSWER, TOOL_USE]


def test_own_blocks_go_back_to_the_model_that_wrote_them_and_to_no_other() -> None:
    reply = connect("anthropic", Server(TURNS["anthropic"])).reply(QUESTION, tools=[multiply])
    turn = Message("assistant", reply.text, tool_calls=reply.tool_calls, native=reply.native)
    (same,) = anthropic.to_wire([turn, Message("tool")], "anthropic:claude-haiku-5-5")[:1]
    (other,) = anthropic.to_wire([turn, Message("tool")], "anthropic:claude-opus-5-5")[:1]
    assert same["content"] == [THINKING, TOOL_USE]
    assert other["content"] == [TOOL_USE]
    assert chat.to_wire([turn], "m")[0]["tool_calls"] == [chat_call(json.dumps(CALL))]


# -- Anthropic's blocks --------------------------------------------------------------------------------------


def test_results_come_first_in_order_and_what_follows_joins_their_turn() -> None:  # RC058
    calls = (ToolCall("a", "t"), ToolCall("b", "t"))
    results = Message("tool", tool_results=(ToolResult("a", "t", "1"), ToolResult("b", "t", "", is_error=True)))
    _, turn = anthropic.to_wire([Message("assistant", tool_calls=calls), results, Message("user", "go on")], "m")
    assert [block["type"] for block in turn["content"]] == ["tool_result", "tool_result", "text"]
    assert [block.get("tool_use_id") for block in turn["content"]] == ["a", "b", None]
    assert turn["content"][1]["content"]  # a failure has to say something


@pytest.mark.parametrize("blank", ["", " \n", "\t"])
def test_blank_text_blocks_are_left_out_and_calls_stay(blank: str) -> None:  # RC052, RC053
    native = {"provider": "anthropic", "content": [{"type": "text", "text": blank}, TOOL_USE]}
    turn = Message("assistant", blank, tool_calls=(ToolCall("t1", "multiply", CALL),), native=native)
    results = Message("tool", tool_results=(ToolResult("t1", "multiply", "42"),))
    assert anthropic.to_wire([turn, results], "m")[0]["content"] == [TOOL_USE]


def test_only_the_last_text_of_a_last_assistant_turn_loses_its_trailing_blanks() -> None:  # RC062
    blocks = [{**THINKING, "thinking": "hm \n"}, {"type": "text", "text": "a \n"}, {"type": "text", "text": " b \n"}]
    turn = Message("assistant", native={"provider": "anthropic", "content": blocks})
    (sent,) = anthropic.to_wire([turn], "m")
    assert sent["content"] == [*blocks[:2], {"type": "text", "text": " b"}]
    assert anthropic.to_wire([turn, Message("user", "?")], "m")[0]["content"] == blocks


def test_a_turn_without_any_text_is_not_sent_empty() -> None:
    empty = Message("assistant", native={"provider": "anthropic", "content": []})
    assert anthropic.to_wire([empty, Message("user", "")], "m")[0]["content"] == [{"type": "text", "text": "(empty)"}]
    assert chat.to_wire([Message("assistant"), Message("user")], "m")[1]["content"] == "(empty)"


def test_ids_of_other_servers_are_made_legal_in_pairs() -> None:
    call = Message("assistant", tool_calls=(ToolCall("functions.search:0", "search"),))
    result = Message("tool", tool_results=(ToolResult("functions.search:0", "search", "found"),))
    turns = anthropic.to_wire([call, result], "m")
    assert turns[0]["content"][0]["id"] == turns[1]["content"][0]["tool_use_id"] == "functions_search_0"


def test_new_kinds_of_blocks_are_kept_and_are_no_text() -> None:
    novel = {"type": "from_the_future", "data": [1]}
    reply = connect("anthropic", Server([anthropic_message(novel, ANSWER)])).reply(QUESTION)
    assert reply.text == "42"
    assert reply.native is not None
    assert reply.native["content"] == [novel, ANSWER]


@pytest.mark.parametrize("stream", [True, False])
def test_a_paused_turn_is_sent_back_and_goes_on(stream: bool) -> None:
    paused = anthropic_message(THINKING, {"type": "text", "text": "One moment. "}, stop="pause_turn")
    server = Server([paused, anthropic_message(ANSWER)])
    reply = connect("anthropic", server).reply(QUESTION, on_text=(lambda piece: None) if stream else None)
    assert server.requests[1]["messages"][-1] == {
        "role": "assistant",
        "content": [THINKING, {"type": "text", "text": "One moment."}],
    }
    assert reply.text == "One moment. \n\n42"
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (14, 6)


def test_a_turn_that_is_paused_before_it_began_is_asked_for_again() -> None:
    server = Server([anthropic_message({"type": "text", "text": " "}, stop="pause_turn"), anthropic_message(ANSWER)])
    assert connect("anthropic", server).reply(QUESTION).text == " \n\n42"
    assert server.requests[1] == server.requests[0]


def test_a_turn_that_is_paused_for_ever_is_given_up() -> None:
    server = Server([anthropic_message(ANSWER, stop="pause_turn")])
    with pytest.raises(ModelError, match="paused the turn 5 times"):
        connect("anthropic", server).reply(QUESTION)


def test_a_refusal_tells_its_reason() -> None:
    details = {"type": "refusal", "category": "reasoning_extraction", "explanation": "It asks for hidden reasoning."}
    refusal = {**anthropic_message(stop="refusal"), "stop_details": details}
    trace = ToolUseAgent(connect("anthropic", Server([refusal])), ToolRegistry()).run("?")
    assert trace.outcome == "refused"
    assert trace.reason == "the model refused: reasoning_extraction: It asks for hidden reasoning."


def test_a_full_context_window_is_a_reply_that_was_cut_off() -> None:
    full = anthropic_message({"type": "text", "text": "The ans"}, stop="model_context_window_exceeded")
    trace = ToolUseAgent(connect("anthropic", Server([full])), ToolRegistry()).run("?")
    assert (trace.outcome, trace.answer) == ("truncated", "The ans")


@pytest.mark.parametrize(
    ("name", "forced"),
    [
        ("claude-opus-5-5-20261001", False),
        ("claude-sonnet-5-5", False),
        ("claude-fable-5-1", False),
        ("claude-sonnet-4-6", True),
    ],
)
def test_models_known_to_refuse_a_forced_call_are_asked_in_words(name: str, forced: bool) -> None:  # RC091
    server = Server(TURNS["anthropic"])
    connect("anthropic", server, name=name).reply(QUESTION, tools=[multiply], tool_choice="multiply")
    assert ("tool_choice" in server.requests[0]) is forced
    assert ("Now call the tool multiply" in json.dumps(server.requests[0])) is not forced


# -- arguments -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ("", {}),
        ("  ", {}),
        (None, {}),
        ("null", {}),
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}\n', {"a": 1}),
        ('{"a": 1}{"a": 1}', {"a": 1}),  # the whole object once more at the end of the stream
        ('{}{"a": 1}', {"a": 1}),  # RC069
        ('"{\\"a\\": 1}"', {"a": 1}),
    ],
)
def test_arguments_are_read_in_every_form_that_servers_send(raw: object, arguments: dict[str, Any]) -> None:
    assert read_arguments(raw) == (arguments, None)


@pytest.mark.parametrize(
    "raw", ['{"text": "abc', '{"a": 1}{"a": 2}', "[1]", "7", '{"a": NaN}', "six", "[" * 100_000, '"six"', 7]
)
def test_arguments_that_cannot_be_read_say_why(raw: object) -> None:
    arguments, error = read_arguments(raw)
    assert arguments == {}
    assert error is not None
    assert error.startswith("the arguments are n")


@given(st.text())
def test_no_text_of_arguments_crashes(text: str) -> None:
    arguments, error = read_arguments(text)
    assert isinstance(arguments, dict)
    assert error is None or arguments == {}


def test_a_broken_call_goes_back_without_arguments_and_with_its_reasoning() -> None:  # RC061, RC065
    broken = chat_completion(reasoning_content="hm", tool_calls=[chat_call('{"text": "abc')])
    server = Server([broken, TURNS["chat"][1]])
    trace = ToolUseAgent(connect("chat", server), ToolRegistry([multiply])).run("?")
    sent = server.requests[1]["messages"][2]
    assert sent["reasoning_content"] == "hm"
    assert sent["tool_calls"][0]["function"] == {"name": "multiply", "arguments": "{}"}
    assert trace.answer == "42"


@pytest.mark.parametrize("wire", WIRES)
def test_half_a_character_from_a_tool_does_not_stop_the_run(wire: str) -> None:
    server = Server([TURNS[wire][1]])
    assert connect(wire, server).reply([Message("user", "\ud83d\ude00 \ud83d")]).text == "42"
    assert "😀 �" in json.dumps(server.requests[0], ensure_ascii=False)


# -- ids -----------------------------------------------------------------------------------------------------

NAMELESS: dict[str, list[dict[str, Any]]] = {
    "anthropic": [anthropic_message({**TOOL_USE, "id": ""}, TOOL_USE, TOOL_USE, stop="tool_use")],
    "chat": [
        chat_completion(tool_calls=[{**chat_call(json.dumps(CALL)), "id": i} for i in ("", "t1", "t1")]),
    ],
    "responses": [response(*({**function_call(json.dumps(CALL)), "call_id": i} for i in (None, "t1", "t1")))],
}


@pytest.mark.parametrize("wire", WIRES)
def test_ids_that_a_server_leaves_out_or_repeats_are_replaced(wire: str) -> None:
    server = Server([*NAMELESS[wire], *NAMELESS[wire], TURNS[wire][1]])
    trace = ToolUseAgent(connect(wire, server), ToolRegistry([multiply])).run("What is 6 × 7?")
    ids = [call.id for step in trace.steps for call in step.calls]
    assert len(set(ids)) == len(ids) == 6
    assert [result.call_id for step in trace.steps for result in step.results] == ids
    assert all(json.dumps(server.requests[2]).count(f'"{call_id}"') == 2 for call_id in ids)
    assert trace.answer == "42"


# -- options -------------------------------------------------------------------------------------------------


def complaint(text: str) -> httpx2.Response:
    return httpx2.Response(400, json={"error": {"message": text, "type": "invalid_request_error"}})


@pytest.mark.parametrize(
    ("wire", "text", "gone"),
    [
        ("anthropic", "thinking: adaptive thinking is not supported by this model", "thinking"),
        ("anthropic", "stop_sequences: not allowed", "stop_sequences"),
        ("chat", "Unsupported parameter: 'stop' is not supported with this model.", "stop"),
        ("chat", "unknown field stream_options", "stream_options"),
        ("responses", "Unsupported parameter: 'reasoning.summary'", "reasoning"),
        ("responses", "Encrypted content is not supported with this model.", "include"),
    ],
)
def test_an_option_that_a_server_refuses_is_left_out_from_then_on(wire: str, text: str, gone: str) -> None:
    server = Replies([complaint(text), *(sse(*events_of(TURNS[wire][1])) for _ in range(2))])
    model = connect(wire, server)
    for _ in range(2):
        assert model.reply(QUESTION, stop=["Observation:"], on_text=lambda piece: None).text == "42"
    assert [gone in sent for sent in server.requests] == [True, False, False]


def test_a_complaint_about_a_message_is_no_reason_to_drop_an_option() -> None:
    server = Replies([complaint("messages.1.content.0: thinking blocks cannot be modified")])
    with pytest.raises(ModelError, match="thinking blocks cannot be modified"):
        connect("anthropic", server).reply(QUESTION)
    assert len(server.requests) == 1


def test_ollama_is_not_streamed_with_tools_and_dashscope_always() -> None:
    server = Server([TURNS["chat"][1]])
    pieces: list[str] = []
    connect("chat", server, provider=PROVIDERS["ollama"]).reply(QUESTION, tools=[multiply], on_text=pieces.append)
    connect("chat", server, provider=PROVIDERS["ollama"]).reply(QUESTION, on_text=pieces.append)
    connect("chat", server, provider=PROVIDERS["dashscope"]).reply(QUESTION)
    assert ["stream" in sent for sent in server.requests] == [False, True, True]
    assert "".join(pieces) == "4242"


def test_zhipu_gets_the_fields_of_its_own() -> None:
    server = Server([TURNS["chat"][1]])
    connect("chat", server, provider=PROVIDERS["zhipu"]).reply(QUESTION, on_text=lambda piece: None)
    assert server.requests[0]["tool_stream"] is True
    assert "stream_options" not in server.requests[0]


def test_no_wire_is_sent_a_temperature_or_a_strict_schema() -> None:
    for wire in WIRES:
        server = Server(TURNS[wire])
        connect(wire, server).reply(QUESTION, tools=[multiply])
        assert not {"temperature", "top_p", "top_k", "strict"} & {*server.requests[0], *server.requests[0]["tools"][0]}


def test_reasoning_that_is_not_sealed_is_not_sent_back() -> None:
    items = [{"type": "reasoning", "id": "rs", "summary": []}, output_text("42")]
    turn = Message("assistant", "42", native={"provider": "openai-responses", "content": items})
    assert responses.to_wire([turn], "m") == [output_text("42")]


# -- errors and keys -----------------------------------------------------------------------------------------

KEY = "sk-planted-0123456789abcdef"


def with_key(wire: str, server: Replies) -> Any:
    model = connect(wire, server)
    model.client = model.client.with_options(api_key=KEY)
    return model


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "failure",
    [
        httpx2.Response(401, json={"error": {"message": f"Incorrect API key provided: {KEY}"}}),
        httpx2.Response(401, text=f"bad key {KEY}"),
        httpx2.ConnectError(f"refused for Bearer {KEY}"),
        httpx2.Response(200, json={"error": f"who is {KEY}"}),
    ],
    ids=["json", "text", "network", "odd"],
)
def test_a_key_is_in_no_error_nor_its_traceback(wire: str, failure: Any) -> None:
    with pytest.raises(ModelError) as caught:
        with_key(wire, Replies([failure])).reply(QUESTION)
    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("wire", WIRES)
def test_a_key_is_in_no_trace_whatever_the_server_says(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    spoken = {
        "anthropic": anthropic_message({"type": "text", "text": f"Your key is {KEY}."}),
        "chat": chat_completion(content=f"Your key is {KEY}."),
        "responses": response(output_text(f"Your key is {KEY}.")),
    }[wire]
    denied = httpx2.Response(401, json={"error": {"message": f"bad key {KEY}"}})
    for number, server in enumerate([Replies([httpx2.Response(200, json=spoken)]), Replies([denied])]):
        path = Path(f"{number}.jsonl")
        agent = ToolUseAgent(with_key(wire, server), ToolRegistry())
        with contextlib.suppress(ModelError):
            agent.resume(agent.start("What is my key?", save=path))
        assert KEY not in path.read_text(encoding="utf-8")


def test_an_error_is_one_line_without_markup_and_with_a_hint() -> None:
    page = "<html><head><title>502</title><style>p {}</style></head><body><h1>Bad\n gateway</h1></body></html>" * 50
    server = Replies([httpx2.Response(502, text=page, headers={"content-type": "text/html"})])
    with pytest.raises(ModelError) as caught:
        connect("chat", server).reply(QUESTION)
    assert str(caught.value).startswith("openai:m: error 502: Bad gateway")
    assert len(str(caught.value)) < 400
    server = Replies([httpx2.Response(401, json={"error": {"message": "no"}})])
    with pytest.raises(ModelError, match=r"^openai:m: error 401 \(check the key\): no$"):
        connect("chat", server).reply(QUESTION)


def test_a_reply_that_failed_on_the_responses_wire_is_an_error() -> None:
    failed = {**response(status="failed"), "error": {"code": "server_error", "message": "out of order"}}
    with pytest.raises(ModelError, match="out of order"):
        connect("responses", Server([failed])).reply(QUESTION)


def test_a_content_filter_is_a_refusal_on_both_wires_of_openai() -> None:
    filtered = {**response(output_text("I"), status="incomplete"), "incomplete_details": {"reason": "content_filter"}}
    replies: list[Reply] = [
        connect("responses", Server([filtered])).reply(QUESTION),
        connect("chat", Server([chat_completion(refusal="no")])).reply(QUESTION),
    ]
    assert [reply.stop_reason for reply in replies] == ["refusal", "refusal"]
    assert replies[1].text == "no"
