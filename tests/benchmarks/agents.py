"""What an agent costs and survives. Run: python -m tests.benchmarks.agents

Prints the CPU time a step of both loops with a ScriptedModel and the trace on disk, against a bare loop in the same
run; then that over each SDK against a server on loopback (a process of its own, so that only the client is counted),
against a bare loop over the SDK's `create()`; then how many of four spoiled turns each loop survives on each wire.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import anthropic
import openai

from react_lab import Agent, Model, Reply, ScriptedModel, TextReActAgent, ToolCall, ToolRegistry, ToolUseAgent, tool
from react_lab.models.anthropic import AnthropicModel
from react_lab.models.openai import OpenAIModel

REPEATS = 5
LENGTHS = (10, 50, 200, 1000)
SDK_STEPS = 50
GOALS_MS = {"chat": 6.0, "anthropic": 4.5}
QUESTION = "Go on until you are told to stop."


@tool
def echo(value: str) -> str:
    """Give a value back."""
    return value


@tool
def crash() -> str:
    """Fail."""
    raise RuntimeError("boom")


REGISTRY = ToolRegistry([echo, crash])
SPOILED = {  # a call and its arguments as a model writes them
    "a crash": ("crash", "{}"),
    "an unknown tool": ("eecho", '{"value": "x"}'),
    "bad arguments": ("echo", '{"size": 3}'),
    "broken JSON": ("echo", '{"value": "x'),
}


# -- a server that calls the tool until the conversation is long enough ----------------------------------------


class Handler(BaseHTTPRequestHandler):
    """The model's name says what to do: `steps-50` calls 49 times and answers, `spoiled-N` begins with a bad turn."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(answer(self.path, request)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def answer(path: str, request: dict[str, Any]) -> dict[str, Any]:
    kind, _, number = request["model"].partition("-")
    turns = sum(is_own_turn(item) for item in request.get("messages") or request["input"])
    name, arguments = "echo", json.dumps({"value": f"value {turns}"})
    if kind == "spoiled":
        name, arguments = list(SPOILED.values())[int(number)]
    ended = turns >= (1 if kind == "spoiled" else int(number) - 1)
    text = None if ended or request.get("tools") else f"Thought: on\nAction: {name}({arguments})"
    if ended:
        text = "done" if request.get("tools") else "Final Answer: done"
    form = {"/v1/messages": messages_answer, "/v1/responses": responses_answer}.get(path, chat_answer)
    return form(f"call_{turns}", name, arguments, text)


def is_own_turn(item: dict[str, Any]) -> bool:
    return item.get("role") == "assistant" or item.get("type") == "function_call"


def messages_answer(call_id: str, name: str, arguments: str, text: str | None) -> dict[str, Any]:
    try:
        given = json.loads(arguments)
    except ValueError:
        given = arguments
    block = {"type": "tool_use", "id": call_id, "name": name, "input": given}
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": text} if text else block],
        "stop_reason": "end_turn" if text else "tool_use",
        "usage": {"input_tokens": 5, "output_tokens": 3},
    }


def chat_answer(call_id: str, name: str, arguments: str, text: str | None) -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    message = {"role": "assistant", "content": text} | ({} if text else {"tool_calls": [call]})
    choice = {"index": 0, "finish_reason": "stop" if text else "tool_calls", "message": message}
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def responses_answer(call_id: str, name: str, arguments: str, text: str | None) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    call = {"type": "function_call", "id": "f", "call_id": call_id, "name": name, "arguments": arguments}
    usage = {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8}
    return {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": [message if text else call],
        "usage": usage,
    }


def serve(address: Connection) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address.send(server.server_address[1])
    server.serve_forever()


@contextmanager
def loopback_server() -> Iterator[str]:
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(sender,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{receiver.recv()}"
    finally:
        process.terminate()
        process.join()


# -- agents and bare loops -------------------------------------------------------------------------------------


def scripted(loop: str, steps: int) -> Agent:
    if loop == "text":
        texts = [f'Thought: on\nAction: echo({{"value": "value {i}"}})' for i in range(steps - 1)]
        return TextReActAgent(ScriptedModel([*texts, "Final Answer: done"]), REGISTRY, max_steps=steps)
    calls = [Reply(tool_calls=(ToolCall(f"call_{i}", "echo", {"value": f"value {i}"}),)) for i in range(steps - 1)]
    return ToolUseAgent(ScriptedModel([*calls, Reply("done")]), REGISTRY, max_steps=steps)


def bare_loop(steps: int) -> None:
    """The least that an agent can do: a list of messages, calls looked up by name, results appended."""
    replies = iter([chat_answer(f"call_{i}", "echo", f'{{"value": "value {i}"}}', None) for i in range(steps - 1)])
    messages: list[dict[str, Any]] = [{"role": "user", "content": QUESTION}]
    for reply in replies:
        message = reply["choices"][0]["message"]
        messages.append(message)
        for call in message["tool_calls"]:
            result = echo(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def bare_chat(client: openai.OpenAI, steps: int) -> None:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    tools: Any = [echo.to_openai_schema()]
    while True:
        reply = client.chat.completions.create(model=f"steps-{steps}", messages=messages, tools=tools)
        message = reply.choices[0].message
        if not message.tool_calls:
            return
        messages.append(message)
        for call in message.tool_calls:
            result = echo(**json.loads(call.function.arguments))  # type: ignore[union-attr]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def bare_messages(client: anthropic.Anthropic, steps: int) -> None:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    tools: Any = [echo.to_anthropic_schema()]
    while True:
        reply = client.messages.create(model=f"steps-{steps}", max_tokens=1000, messages=messages, tools=tools)
        if reply.stop_reason != "tool_use":
            return
        messages.append({"role": "assistant", "content": reply.content})
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": echo(**block.input)}
            for block in reply.content
            if block.type == "tool_use"
        ]
        messages.append({"role": "user", "content": results})


def connect(wire: str, address: str, name: str) -> Model:
    if wire == "anthropic":
        return AnthropicModel(name, client=anthropic.Anthropic(api_key="none", base_url=address))
    return OpenAIModel(name, client=openai.OpenAI(api_key="none", base_url=f"{address}/v1"), wire=wire)


# -- measuring -------------------------------------------------------------------------------------------------


def cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def run_agent(agent: Agent) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trace = agent.run(QUESTION, save=Path(folder) / "trace.jsonl")
    assert trace.outcome == "answered", (trace, trace.reason)


def measure_loops() -> None:
    gc.freeze()  # the two SDKs are loaded; walking their objects again and again is no part of a run
    for loop in ("native", "text"):
        run_agent(scripted(loop, 10))  # imports and caches
        for steps in LENGTHS:
            ours = median(cpu(lambda: run_agent(scripted(loop, steps))) for _ in range(REPEATS)) / steps * 1e6  # noqa: B023
            bare = median(cpu(lambda: bare_loop(steps)) for _ in range(REPEATS)) / steps * 1e6  # noqa: B023
            print(f"{loop:9} {steps:5} steps: {ours:5.0f} µs a step, trace on disk (bare loop {bare:.0f}; goal 200)")


def measure_sdks(address: str) -> None:
    bare: dict[str, Callable[[], None]] = {
        "chat": lambda: bare_chat(openai.OpenAI(api_key="none", base_url=f"{address}/v1"), SDK_STEPS),
        "anthropic": lambda: bare_messages(anthropic.Anthropic(api_key="none", base_url=address), SDK_STEPS),
    }
    for wire in ("chat", "responses", "anthropic"):
        model = connect(wire, address, f"steps-{SDK_STEPS}")
        run_agent(ToolUseAgent(model, REGISTRY, max_steps=SDK_STEPS))
        runs, bare_runs = [], []
        for _ in range(REPEATS):  # in turns, so that a busy machine slows both
            runs.append(cpu(lambda: run_agent(ToolUseAgent(model, REGISTRY, max_steps=SDK_STEPS))))  # noqa: B023
            bare_runs.append(cpu(bare[wire]) if wire in bare else 0.0)
        ours, usual = (median(times) / SDK_STEPS * 1000 for times in (runs, bare_runs))
        notes = [f"bare create() {usual:.1f}"] if usual else []
        notes += [f"goal {GOALS_MS[wire]}"] if wire in GOALS_MS else []
        print(f"{wire:9} {SDK_STEPS:5} steps: {ours:5.2f} ms a step ({'; '.join(notes) or 'no goal'})")


def count_survivors(address: str) -> None:
    loops: dict[str, Callable[[Model], Agent]] = {
        "native": lambda model: ToolUseAgent(model, REGISTRY),
        "text": lambda model: TextReActAgent(model, REGISTRY),
    }
    for wire in ("chat", "responses", "anthropic"):
        for loop, make in loops.items():
            lost = []
            for number, name in enumerate(SPOILED):
                trace = make(connect(wire, address, f"spoiled-{number}")).run(QUESTION)
                if trace.outcome != "answered":
                    lost.append(f"{name}: {trace.reason}")
            print(f"{wire:9} {loop:6}: {len(SPOILED) - len(lost)} of {len(SPOILED)} spoiled turns survived", *lost)


def main() -> None:
    measure_loops()
    with loopback_server() as address:
        measure_sdks(address)
        count_survivors(address)


if __name__ == "__main__":
    main()
