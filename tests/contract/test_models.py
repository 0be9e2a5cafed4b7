"""Every model keeps the same contract, whatever wire it speaks: one server, told to speak each of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from react_lab import (
    Message,
    Model,
    ModelError,
    OfflineModel,
    Reply,
    ScriptedModel,
    ToolCall,
    ToolRegistry,
    ToolUseAgent,
    Usage,
    tool,
)
from react_lab.hardening.budget import with_budget
from react_lab.hardening.compaction import with_compaction
from react_lab.hardening.retry import with_retry
from react_lab.models.anthropic import AnthropicModel
from react_lab.models.base import Thought
from react_lab.models.pairing import PairingError
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
    function_call,
    multiply,
    output_text,
    response,
)

WRAPPERS: dict[str, Callable[[Model], Model]] = {
    "retry": with_retry,
    "compaction": lambda model: with_compaction(model, max_tokens=1, keep_rounds=1),
    "budget": lambda model: with_budget(model, max_calls=9),
}


@pytest.fixture(params=[*WIRES, *WRAPPERS, "scripted", "offline"])
def model(request: pytest.FixtureRequest) -> Model:
    if wrap := WRAPPERS.get(request.param):
        return wrap(connect("chat", Server(TURNS["chat"])))
    if request.param == "offline":
        return OfflineModel()
    if request.param == "scripted":
        return ScriptedModel([Reply("", "six sevens", (ToolCall("t1", "multiply", CALL),), "tool_calls"), "42"])
    return connect(request.param, Server(TURNS[request.param]))


def test_a_model_has_a_name_and_is_a_model(model: Model) -> None:
    assert isinstance(model, Model)
    assert model.name
    assert model.native_tools


def test_a_call_comes_as_data(model: Model) -> None:
    reply = model.reply(QUESTION, tools=[multiply])
    assert [(call.name, call.arguments, call.error) for call in reply.tool_calls] == [("multiply", CALL, None)]
    assert reply.stop_reason == "tool_calls"


def test_a_whole_run_is_answered(model: Model) -> None:
    trace = ToolUseAgent(model, ToolRegistry([multiply])).run("What is 6 × 7?")
    assert (trace.answer, trace.outcome, len(trace.steps)) == ("42", "answered", 2)


def test_text_is_handed_out_as_it_arrives(model: Model) -> None:
    pieces: list[str] = []
    reply = model.reply(QUESTION, tools=[multiply], on_text=pieces.append)
    assert "".join(piece for piece in pieces if not isinstance(piece, Thought)) == reply.text


@tool
def crash() -> str:
    """Fail."""
    raise RuntimeError("boom")


SPOILED_CALLS = [("t1", "crash", {}), ("t2", "unknown", {}), ("t3", "multiply", {"a": "six"})]
SPOILED: dict[str, dict[str, Any]] = {
    "anthropic": anthropic_message(
        *({"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in SPOILED_CALLS), stop="tool_use"
    ),
    "chat": chat_completion(
        tool_calls=[
            {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
            for i, n, a in SPOILED_CALLS
        ]
    ),
    "responses": response(
        *({"type": "function_call", "call_id": i, "name": n, "arguments": json.dumps(a)} for i, n, a in SPOILED_CALLS)
    ),
}


@pytest.mark.parametrize("wire", WIRES)
class TestEveryWire:
    def test_the_thought_is_shown_and_tokens_are_counted_alike(self, wire: str) -> None:
        reply = connect(wire, Server(TURNS[wire])).reply(QUESTION, tools=[multiply])
        assert reply.thought == "six sevens"
        assert reply.usage is not None
        assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens) == (7, 3, 2)

    def test_the_models_own_blocks_go_back_unchanged(self, wire: str) -> None:
        server = Server(TURNS[wire])
        ToolUseAgent(connect(wire, server), ToolRegistry([multiply])).run("What is 6 × 7?")
        sent = server.requests[1]
        if wire == "anthropic":
            assistant, result = sent["messages"][1:]
            assert assistant["content"] == [THINKING, TOOL_USE]  # the empty text block would be refused
            (block,) = result["content"]
            assert block == {"type": "tool_result", "tool_use_id": "t1", "content": "42", "is_error": False}
        elif wire == "chat":
            assert sent["messages"][2]["reasoning_content"] == "six sevens"
            assert sent["messages"][3] == {"role": "tool", "tool_call_id": "t1", "content": "42"}
        else:
            assert sent["input"][2:4] == [REASONING, function_call(json.dumps(CALL))]
            assert sent["input"][4] == {"type": "function_call_output", "call_id": "t1", "output": "42"}

    def test_a_streamed_reply_is_the_unstreamed_one(self, wire: str) -> None:
        for turn in TURNS[wire]:
            pieces: list[str] = []
            whole = connect(wire, Server([turn])).reply(QUESTION, tools=[multiply])
            streamed = connect(wire, Server([turn])).reply(QUESTION, tools=[multiply], on_text=pieces.append)
            assert streamed == whole
            assert "".join(piece for piece in pieces if isinstance(piece, Thought)) == whole.thought
            assert "".join(piece for piece in pieces if not isinstance(piece, Thought)) == whole.text

    def test_a_broken_conversation_is_not_sent(self, wire: str) -> None:
        server = Server(TURNS[wire])
        call = Message("assistant", tool_calls=(ToolCall("t1", "multiply", CALL),))
        with pytest.raises(PairingError, match="message 2: the calls \\['t1'\\] have no results"):
            connect(wire, server).reply([*QUESTION, call])
        assert server.requests == []

    @pytest.mark.parametrize("status", [429, 500, 529])
    def test_a_request_is_tried_again_and_no_other(self, wire: str, status: int) -> None:
        busy = httpx2.Response(status, json={"error": {"message": "busy"}}, headers={"retry-after-ms": "1"})
        server = Replies(
            [busy, httpx2.Response(200, json=TURNS[wire][0]), busy, httpx2.Response(200, json=TURNS[wire][1])]
        )
        model = connect(wire, server)
        model.client = model.client.with_options(max_retries=2)
        assert ToolUseAgent(model, ToolRegistry([multiply])).run("What is 6 × 7?").answer == "42"
        assert server.requests[0] == server.requests[1]
        assert len(server.requests) == 4

    def test_a_forced_call_that_is_refused_is_asked_for_in_words(self, wire: str) -> None:
        refusal = {"error": {"message": "tool_choice: forced tool use is not supported by this model"}}
        good = httpx2.Response(200, json=TURNS[wire][0])
        server = Replies([httpx2.Response(400, json=refusal), good])
        model = connect(wire, server)
        for _ in range(2):
            assert model.reply(QUESTION, tools=[multiply], tool_choice="multiply").tool_calls
        assert "tool_choice" in server.requests[0]
        for sent in server.requests[1:]:  # it is not tried again
            assert "tool_choice" not in sent
            assert "Now call the tool multiply" in json.dumps(sent)
        assert len(server.requests) == 3

    def test_the_loop_survives_a_spoiled_turn(self, wire: str) -> None:
        server = Server([SPOILED[wire], TURNS[wire][1]])
        trace = ToolUseAgent(connect(wire, server), ToolRegistry([multiply, crash])).run("What is 6 × 7?")
        assert [result.is_error for result in trace.steps[0].results] == [True] * 3
        assert trace.answer == "42"

    def test_no_answer_of_unknown_form_gets_out_as_another_error(self, wire: str) -> None:
        for answer in (
            {},
            {"error": {"message": "odd"}},
            {"choices": []},
            {"output": None},
            [],
            "<html>gateway</html>",
            None,
        ):
            with pytest.raises(ModelError):
                connect(wire, Replies([httpx2.Response(200, json=answer)])).reply(QUESTION)
        page = httpx2.Response(200, text="<html>log in</html>", headers={"content-type": "text/html"})
        with pytest.raises(ModelError, match="no JSON object"):
            connect(wire, Replies([page])).reply(QUESTION)

    def test_an_error_of_the_server_is_a_model_error_with_its_cause(self, wire: str) -> None:
        server = Server([{"error": {"type": "invalid_request_error", "message": "no such model"}}], status=404)
        with pytest.raises(ModelError, match="no such model") as caught:
            connect(wire, server).reply(QUESTION)
        assert isinstance(caught.value.__cause__, anthropic.NotFoundError | openai.NotFoundError)

    def test_a_server_that_is_not_there_is_a_model_error(self, wire: str) -> None:
        def refuse(request: httpx2.Request) -> httpx2.Response:
            raise httpx2.ConnectError("connection refused")

        with pytest.raises(ModelError, match=r"(?i)connection"):
            connect(wire, refuse).reply(QUESTION)  # type: ignore[arg-type]

    def test_a_tool_can_be_forced(self, wire: str) -> None:
        server = Server(TURNS[wire])
        connect(wire, server).reply(QUESTION, tools=[multiply], tool_choice="multiply")
        assert "multiply" in json.dumps(server.requests[0]["tool_choice"])

    def test_a_failed_call_is_told_as_one(self, wire: str) -> None:
        server = Server(TURNS[wire])
        ToolUseAgent(connect(wire, server), ToolRegistry()).run("What is 6 × 7?")
        assert "Error: unknown tool 'multiply'" in json.dumps(server.requests[1])


CUT: dict[str, dict[str, Any]] = {
    "anthropic": anthropic_message({"type": "text", "text": "The answer is for"}, stop="max_tokens"),
    "chat": chat_completion("length", content="The answer is for"),
    "responses": response(output_text("The answer is for"), status="incomplete"),
}


@pytest.mark.parametrize("wire", WIRES)
def test_a_reply_that_was_cut_off_says_so(wire: str) -> None:
    assert connect(wire, Server([CUT[wire]])).reply(QUESTION).stop_reason == "max_tokens"


REFUSED: dict[str, dict[str, Any]] = {
    "anthropic": anthropic_message(stop="refusal"),
    "chat": chat_completion("content_filter", content=""),
    "responses": response(
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "refusal", "refusal": "no"}],
        }
    ),
}


@pytest.mark.parametrize("wire", WIRES)
def test_a_refusal_says_so(wire: str) -> None:
    assert connect(wire, Server([REFUSED[wire]])).reply(QUESTION).stop_reason == "refusal"


BROKEN: dict[str, Callable[[str], dict[str, Any]]] = {
    "chat": lambda text: chat_completion(tool_calls=[chat_call(text)]),
    "responses": lambda text: response(function_call(text)),
}


@pytest.mark.parametrize("wire", BROKEN)
@pytest.mark.parametrize("text", ['{"a": 6, "b"', "[6, 7]", "six"])
def test_arguments_that_are_not_json_are_not_run_and_not_sent_back(wire: str, text: str) -> None:
    server = Server([BROKEN[wire](text), TURNS[wire][1]])
    trace = ToolUseAgent(connect(wire, server), ToolRegistry([multiply])).run("What is 6 × 7?")
    (result,) = trace.steps[0].results
    assert result.is_error
    assert "the arguments are" in result.content
    assert json.dumps(text) not in json.dumps(server.requests[1]).replace("\\\\", "\\")
    assert trace.answer == "42"


@pytest.mark.parametrize("wire", BROKEN)
def test_no_arguments_are_an_empty_object(wire: str) -> None:
    (call,) = connect(wire, Server([BROKEN[wire]("")])).reply(QUESTION, tools=[multiply]).tool_calls
    assert (call.arguments, call.error) == ({}, None)


def test_a_server_that_counts_nothing_gives_no_usage() -> None:
    turn = chat_completion(content="42")
    del turn["usage"]
    assert connect("chat", Server([turn])).reply(QUESTION).usage is None


def test_claude_is_asked_for_a_summary_of_its_thought_and_never_for_a_temperature() -> None:
    server = Server(TURNS["anthropic"])
    connect("anthropic", server).reply(QUESTION)
    assert server.requests[0]["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert "temperature" not in server.requests[0]


def test_the_history_is_sent_whole_on_the_chat_wire() -> None:
    server = Server([TURNS["chat"][1]])
    connect("chat", server).reply(QUESTION)
    assert server.requests[0]["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is 6 × 7?"},
    ]


@pytest.mark.parametrize(("wire", "model"), [("anthropic", "claude-haiku-5-5"), ("responses", "gpt-6-luna")])
def test_a_reply_says_what_it_cost_and_cached_tokens_cost_less(wire: str, model: str) -> None:
    pytest.importorskip("genai_prices", reason="pip install 'react-lab[prices]'")
    asked = connect(wire, Server(TURNS[wire]))
    asked.model = model
    reply = asked.reply(QUESTION)
    assert reply.usage == Usage(7, 3, 2)
    assert reply.cost_usd == pytest.approx((5 * 0.10 + 2 * 0.01 + 3 * 0.50) / 1e6)


@pytest.mark.parametrize("wire", WIRES)
def test_an_unknown_price_is_none_and_not_zero(wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert connect(wire, Server(TURNS[wire]), name="a-model-of-tomorrow").reply(QUESTION).cost_usd is None
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert connect(wire, Server(TURNS[wire])).reply(QUESTION).cost_usd is None


def test_what_a_gateway_charges_is_unknown() -> None:
    http = httpx2.Client(transport=httpx2.MockTransport(Server(TURNS["anthropic"])))
    client = anthropic.Anthropic(api_key="k", base_url="https://gateway.example.com", http_client=http)
    assert AnthropicModel("claude-haiku-5-5", client=client).reply(QUESTION).cost_usd is None
