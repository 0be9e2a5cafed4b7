"""Every model keeps the same contract, whatever wire it speaks: one server, told to speak each of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from react_lab import (
    ConfigurationError,
    Message,
    Model,
    ModelError,
    OfflineModel,
    Reply,
    ScriptedModel,
    ToolCall,
    ToolRegistry,
    ToolUseAgent,
    load_model,
    tool,
)
from react_lab.models.anthropic import AnthropicModel
from react_lab.models.openai import OpenAIModel


@tool
def multiply(a: float, b: float) -> float:
    """Multiply two numbers."""
    return a * b


QUESTION = [Message("system", "Be brief."), Message("user", "What is 6 × 7?")]
CALL = {"a": 6, "b": 7}


def anthropic_message(*blocks: dict[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(blocks),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 2},
    }


def chat_completion(finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}}
        ],
        "usage": {
            "prompt_tokens": 7,
            "completion_tokens": 3,
            "total_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": 2},
        },
    }


def response(*items: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    return {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "output": list(items),
        "usage": {
            "input_tokens": 7,
            "input_tokens_details": {"cached_tokens": 2},
            "output_tokens": 3,
            "total_tokens": 10,
        },
    }


def output_text(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}


def function_call(arguments: str) -> dict[str, Any]:
    return {"type": "function_call", "id": "f", "call_id": "t1", "name": "multiply", "arguments": arguments}


def chat_call(arguments: str) -> dict[str, Any]:
    return {"id": "t1", "type": "function", "function": {"name": "multiply", "arguments": arguments}}


REASONING = {
    "type": "reasoning",
    "id": "rs",
    "summary": [{"type": "summary_text", "text": "six sevens"}],
    "encrypted_content": "sealed",
}
THINKING = {"type": "thinking", "thinking": "six sevens", "signature": "sealed"}
TOOL_USE = {"type": "tool_use", "id": "t1", "name": "multiply", "input": CALL}

# What each wire's server answers: a call with a thought, then a text.
TURNS: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        anthropic_message(THINKING, {"type": "text", "text": ""}, TOOL_USE, stop="tool_use"),
        anthropic_message({"type": "text", "text": "42"}),
    ],
    # finish_reason "stop" beside tool calls is what several servers send
    "chat": [
        chat_completion(reasoning_content="six sevens", tool_calls=[chat_call(json.dumps(CALL))]),
        chat_completion(content="42"),
    ],
    "responses": [response(REASONING, function_call(json.dumps(CALL))), response(output_text("42"))],
}


@dataclass
class Server:
    """Answers each request with the next turn, and keeps what it was sent."""

    turns: list[dict[str, Any]]
    status: int = 200
    requests: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(json.loads(request.content))
        return httpx2.Response(self.status, json=self.turns[min(len(self.requests), len(self.turns)) - 1])


def connect(wire: str, server: Server) -> Model:
    http = httpx2.Client(transport=httpx2.MockTransport(server))
    if wire == "anthropic":
        return AnthropicModel(
            "claude-haiku-5-5", client=anthropic.Anthropic(api_key="k", http_client=http, max_retries=0)
        )
    client = openai.OpenAI(api_key="k", http_client=http, max_retries=0)
    return OpenAIModel("m", client=client, wire="chat" if wire == "chat" else "responses")


WIRES = list(TURNS)


@pytest.fixture(params=[*WIRES, "scripted", "offline"])
def model(request: pytest.FixtureRequest) -> Model:
    if request.param == "offline":
        return OfflineModel()
    if request.param == "scripted":
        return ScriptedModel([Reply("", "six sevens", (ToolCall("t1", "multiply", CALL),), "tool_calls"), "42"])
    return connect(request.param, Server(TURNS[request.param]))


def test_a_model_has_a_name_and_is_a_model(model: Model) -> None:
    assert isinstance(model, Model)
    assert model.name


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
    assert "".join(pieces) == reply.text


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


# -- load_model ----------------------------------------------------------------------------------------------


def test_without_a_key_the_offline_stand_in_answers() -> None:
    assert load_model().name == "offline"


def test_the_variable_names_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REACT_LAB_MODEL", "anthropic:claude-x")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert load_model().name == "anthropic:claude-x"


@pytest.mark.parametrize(("key", "name"), [("ANTHROPIC_API_KEY", "anthropic:"), ("OPENAI_API_KEY", "openai:")])
def test_the_first_provider_with_a_key_is_chosen(monkeypatch: pytest.MonkeyPatch, key: str, name: str) -> None:
    monkeypatch.setenv(key, "k")
    assert load_model().name.startswith(name)


@pytest.mark.parametrize("spec", ["anthropic:claude-x", "openai:gpt-x", "openai"])
def test_a_missing_key_is_named_before_any_request(spec: str) -> None:
    with pytest.raises(ConfigurationError, match=r"set (ANTHROPIC|OPENAI)_API_KEY in the environment or in a \.env"):
        load_model(spec)


def test_an_unknown_model_lists_what_there_is() -> None:
    with pytest.raises(ConfigurationError, match=r"'antropic:x' \(did you mean 'anthropic'\?\); use one of: offline"):
        load_model("antropic:x")


def test_a_dotenv_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")  # so that what .env sets is undone afterwards
    monkeypatch.delenv("OPENAI_API_KEY")
    Path(".env").write_text("OPENAI_API_KEY=k\n", encoding="utf-8")
    assert load_model().name.startswith("openai:")


def test_a_script_is_read_from_a_file() -> None:
    Path("script.jsonl").write_text(
        '"hello"\n{"text": "", "tool_calls": [{"id": "1", "name": "multiply", "arguments": {"a": 1, "b": 2}}]}\n',
        encoding="utf-8",
    )
    model = load_model("scripted:script.jsonl")
    assert model.reply(QUESTION).text == "hello"
    assert model.reply(QUESTION).tool_calls[0].arguments == {"a": 1, "b": 2}
    with pytest.raises(ModelError, match="the script has 2 replies and was asked for number 3"):
        model.reply(QUESTION)


@pytest.mark.parametrize("text", ["{", "7", '{"tool_calls": [{"name": "x"}]}'])
def test_a_script_that_cannot_be_read_names_the_line(text: str) -> None:
    Path("script.jsonl").write_text(f'"hello"\n{text}\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"script\.jsonl, line 2"):
        load_model("scripted:script.jsonl")
