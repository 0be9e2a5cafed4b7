"""Trying again: when, how often, after which wait, and what the person and the trace get to know of it."""

from __future__ import annotations

import email.utils
import errno
import signal
import socket
import subprocess
import sys
import time
import urllib.error
from collections.abc import Sequence
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_lab import Message, ModelError, Reply, ScriptedModel, ToolCall, ToolError, ToolRegistry, ToolUseAgent, tool
from react_lab.errors import TemporaryToolError
from react_lab.hardening.retry import Again, with_retry
from react_lab.models.base import Thought
from react_lab.models.failures import retry_after_s
from tests.wire_server import QUESTION, TURNS, WIRES, Replies, connect, events_of, multiply, sse

BUSY = {"error": {"message": "busy"}}


def busy(status: int = 429, **headers: str) -> httpx2.Response:
    return httpx2.Response(
        status, json=BUSY, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


class Failing:
    """A model that raises the given errors, one a call, and then answers."""

    name = "failing"
    native_tools = True

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)

    def reply(self, messages: Sequence[Message], **options: Any) -> Reply:
        if self.errors:
            raise self.errors.pop(0)
        return Reply("42")


def later(retry_after_s: float | None = None) -> ModelError:
    return ModelError("busy", temporary=True, retry_after_s=retry_after_s)


# -- models ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_a_busy_server_is_asked_again(wire: str, status: int) -> None:
    waits: list[float] = []
    server = Replies([busy(status), busy(status), httpx2.Response(200, json=TURNS[wire][1])])
    reply = with_retry(connect(wire, server), sleep=waits.append).reply(QUESTION)
    assert (reply.text, reply.attempts, len(server.requests)) == ("42", 3, 3)
    assert reply.waited_s == pytest.approx(sum(waits), abs=0.001)
    assert server.requests[0] == server.requests[2]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_a_request_that_is_wrong_is_not_sent_again(wire: str, status: int) -> None:
    server = Replies([busy(status)])
    with pytest.raises(ModelError, match="busy") as caught:
        with_retry(connect(wire, server), sleep=pytest.fail).reply(QUESTION)
    assert (caught.value.status, caught.value.temporary, len(server.requests)) == (status, False, 1)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "error",
    [
        httpx2.ConnectError("refused"),
        httpx2.ReadTimeout("silence"),
        httpx2.RemoteProtocolError("server disconnected without sending a response"),
        httpx2.ReadError("connection reset"),
    ],
)
def test_a_connection_that_fails_is_tried_again(wire: str, error: Exception) -> None:
    server = Replies([error, httpx2.Response(200, json=TURNS[wire][1])])
    assert with_retry(connect(wire, server), sleep=lambda wait_s: None).reply(QUESTION).attempts == 2


@pytest.mark.parametrize("wire", WIRES)
def test_the_sdks_own_retries_do_not_multiply_ours(wire: str) -> None:
    server = Replies([busy()])
    model = connect(wire, server)
    model.client = model.client.with_options(max_retries=5)
    with pytest.raises(ModelError, match=r"busy \(tried 3 times\)") as caught:
        with_retry(model, attempts=3, sleep=lambda wait_s: None).reply(QUESTION)
    assert len(server.requests) == 3
    assert (caught.value.status, caught.value.temporary) == (429, True)
    assert model.client.max_retries == 5  # the caller's model is as it was


@pytest.mark.parametrize("wire", WIRES)
def test_the_server_says_how_long_to_wait(wire: str) -> None:
    waits: list[float] = []
    soon = email.utils.formatdate(time.time() + 30, usegmt=True)
    server = Replies(
        [
            busy(retry_after="7"),
            busy(retry_after=soon),
            busy(retry_after_ms="9500"),
            httpx2.Response(200, json=TURNS[wire][1]),
        ]
    )
    assert with_retry(connect(wire, server), sleep=waits.append).reply(QUESTION).attempts == 4
    assert waits[0] == 7
    assert 25 < waits[1] <= 30
    assert waits[2] == 9.5


def test_a_server_that_asks_for_an_hour_is_not_asked_again() -> None:
    model = Failing(later(3600))
    with pytest.raises(ModelError) as caught:
        with_retry(model, sleep=pytest.fail).reply(QUESTION)
    assert caught.value.retry_after_s == 3600


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "x", "retry-after": "4"}, 4.0),
        ({}, None),
    ],
)
def test_every_form_of_retry_after_is_read(headers: dict[str, str], wait_s: float | None) -> None:
    assert retry_after_s(headers) == wait_s


@given(st.integers(min_value=2, max_value=12), st.floats(min_value=0.1, max_value=10))
def test_waits_are_random_and_grow_up_to_a_cap(attempts: int, first_wait_s: float) -> None:
    waits: list[float] = []
    model = with_retry(
        Failing(*[later()] * attempts), attempts=attempts, first_wait_s=first_wait_s, max_wait_s=60, sleep=waits.append
    )
    with pytest.raises(ModelError):
        model.reply(QUESTION)
    assert len(waits) == attempts - 1
    for number, wait_s in enumerate(waits):
        assert 0 <= wait_s <= min(60, first_wait_s * 2**number)


def test_a_used_up_quota_is_not_a_busy_server() -> None:
    quota = {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": None}}
    with pytest.raises(ModelError, match="quota") as caught:
        connect("chat", Replies([httpx2.Response(429, json=quota)])).reply(QUESTION)
    assert not caught.value.temporary


def test_a_server_that_says_not_to_try_again_is_obeyed() -> None:
    with pytest.raises(ModelError) as caught:
        connect("anthropic", Replies([busy(500, x_should_retry="false")])).reply(QUESTION)
    assert not caught.value.temporary


def test_what_is_no_failure_of_the_world_is_not_tried_again() -> None:
    for error in (ModelError("the script ran out"), ValueError("a bug"), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            with_retry(Failing(error), sleep=pytest.fail).reply(QUESTION)


def test_a_reply_at_the_first_attempt_is_untouched() -> None:
    reply = Reply("42")
    assert with_retry(ScriptedModel([reply])).reply(QUESTION) is reply


def test_attempts_and_waits_are_in_the_trace(tmp_path: Any) -> None:
    trace = ToolUseAgent(with_retry(Failing(later(5)), sleep=lambda wait_s: None), ToolRegistry()).run("6 × 7?")
    (event,) = [event for event in trace.events if event["event"] == "reply"]
    assert (event["attempts"], event["waited_s"]) == (2, 5.0)


def test_the_person_is_told_of_a_wait(caplog: pytest.LogCaptureFixture) -> None:
    with_retry(Failing(later(5)), sleep=lambda wait_s: None).reply(QUESTION)
    assert caplog.messages == ["busy; trying again in 5.0 s"]


# -- streams -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", WIRES)
def test_a_reply_that_broke_off_begins_again_and_says_so(wire: str) -> None:
    whole = list(events_of(TURNS[wire][1]))
    for end in range(len(whole) - {"anthropic": 2, "chat": 2, "responses": 1}[wire] + 1):
        pieces: list[str] = []
        model = with_retry(connect(wire, Replies([sse(*whole[:end]), sse(*whole)])), sleep=lambda wait_s: None)
        reply = model.reply(QUESTION, on_text=pieces.append)
        assert (reply.text, reply.attempts) == ("42", 2)
        begun = [place for place, piece in enumerate(pieces) if isinstance(piece, Again)]
        before = pieces[: begun[0]] if begun else []
        assert bool(before) == bool(begun)  # nothing is said where nothing was shown
        assert "".join(pieces[begun[0] + 1 :] if begun else pieces) == "42"


def test_the_remark_between_is_in_the_language_of_the_conversation() -> None:
    class Breaking(Failing):
        def reply(self, messages: Sequence[Message], **options: Any) -> Reply:
            options["on_text"](Thought("so"))
            return super().reply(messages)

    for question, remark in (("6 × 7?", "The reply begins again"), ("6 × 7 等于多少？", "回复从头开始")):
        pieces: list[str] = []
        model = with_retry(Breaking(later()), sleep=lambda wait_s: None)
        model.reply([Message("user", question)], on_text=pieces.append)
        assert remark in pieces[1]
        assert [type(piece) for piece in pieces] == [Thought, Again, Thought]


@pytest.mark.parametrize(
    ("wire", "error"),
    [
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        ("chat", {"error": {"type": "server_error", "message": "Overloaded"}}),
        ("chat", {"error": {"code": "rate_limit_exceeded", "message": "Overloaded"}}),
    ],
)
def test_a_server_that_gives_up_in_the_middle_of_a_stream_is_asked_again(wire: str, error: dict[str, Any]) -> None:
    whole = list(events_of(TURNS[wire][1]))
    server = Replies([sse(*whole[:2], error), sse(*whole)])
    reply = with_retry(connect(wire, server), sleep=lambda wait_s: None).reply(QUESTION, on_text=lambda piece: None)
    assert (reply.text, reply.attempts) == ("42", 2)


# -- tools -------------------------------------------------------------------------------------------------------


def flaky(*errors: Exception, has_effects: bool = False) -> tuple[ToolRegistry, list[float]]:
    """Tools `look`, which raises these errors and then finds something, and `multiply`; and the times of the calls."""
    todo, called = list(errors), []

    @tool(has_effects=has_effects)
    def look(what: str = "") -> str:
        """Look."""
        called.append(time.perf_counter())
        if todo:
            raise todo.pop(0)
        return "found"

    return ToolRegistry([look, multiply]), called


def chained(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError("reset"),
        TimeoutError("silence"),
        socket.gaierror(socket.EAI_AGAIN, "temporary failure in name resolution"),
        OSError(errno.ENETUNREACH, "network is unreachable"),
        urllib.error.URLError(ConnectionRefusedError("refused")),
        httpx2.ReadTimeout("silence"),
        httpx2.RemoteProtocolError("server disconnected"),
        chained(RuntimeError("could not look"), ConnectionResetError("reset")),
        TemporaryToolError("too many requests"),
    ],
    ids=repr,
)
def test_a_tool_is_tried_again_when_the_network_failed(error: Exception) -> None:
    if isinstance(error, urllib.error.URLError):
        error.__context__ = ConnectionRefusedError("refused")  # as urllib raises it
    waits: list[float] = []
    registry, called = flaky(error, error)
    result = with_retry(registry, sleep=waits.append).run(ToolCall("1", "look"))
    assert (result.content, result.is_error, result.attempts, len(called)) == ("found", False, 3, 3)
    assert result.waited_s == pytest.approx(sum(waits), abs=0.001)


@pytest.mark.parametrize(
    "error",
    [
        ToolError("no such city"),
        chained(ToolError("there is no connection; do without"), ConnectionResetError()),
        ValueError("bad"),
        FileNotFoundError(errno.ENOENT, "no such file"),
        PermissionError(errno.EACCES, "denied"),
    ],
    ids=repr,
)
def test_a_tool_is_not_tried_again_for_other_reasons(error: Exception) -> None:
    registry, called = flaky(error)
    result = with_retry(registry, sleep=pytest.fail).run(ToolCall("1", "look"))
    assert (result.is_error, result.attempts, len(called)) == (True, 1, 1)


def test_a_call_that_may_have_had_its_effect_is_not_made_twice() -> None:
    registry, called = flaky(httpx2.ReadTimeout("sent, but nothing came"), has_effects=True)
    assert with_retry(registry, sleep=pytest.fail).run(ToolCall("1", "look")).is_error
    registry, called = flaky(
        TemporaryToolError("too many requests"), has_effects=True
    )  # the tool knows that it did not
    assert not with_retry(registry, sleep=lambda wait_s: None).run(ToolCall("1", "look")).is_error
    assert len(called) == 2


def test_a_tool_says_how_long_to_wait() -> None:
    waits: list[float] = []
    registry, _ = flaky(
        TemporaryToolError("limited", retry_after_s=8), TemporaryToolError("limited", retry_after_s=900)
    )
    result = with_retry(registry, sleep=waits.append).run(ToolCall("1", "look"))
    assert waits == [8]  # and not 900
    assert (result.is_error, result.attempts, result.content) == (True, 2, "Error: limited")


def test_the_last_failure_is_what_the_model_reads() -> None:
    registry, called = flaky(*[TemporaryToolError("limited")] * 9)
    result = with_retry(registry, attempts=3, sleep=lambda wait_s: None).run(ToolCall("1", "look"))
    assert (result.content, result.attempts, len(called)) == ("Error: limited", 3, 3)
    assert "TemporaryToolError" in (result.traceback or "")


def test_only_what_failed_is_tried_again_and_the_order_stays() -> None:
    registry, _ = flaky(ConnectionResetError())
    calls = [ToolCall("1", "multiply", {"a": 6, "b": 7}), ToolCall("2", "look"), ToolCall("3", "none")]
    results = with_retry(registry, sleep=lambda wait_s: None).run_all(calls)
    assert [(result.call_id, result.attempts) for result in results] == [("1", 1), ("2", 2), ("3", 1)]
    assert [result.content for result in results][:2] == ["42", "found"]
    assert with_retry(registry).run_all([]) == ()


def test_a_call_within_a_call_counts_its_own_attempts() -> None:
    failures = [TemporaryToolError("limited")] * 2

    @tool
    def inner() -> str:
        """Look."""
        if failures:
            raise failures.pop()
        return "found"

    registry = with_retry(ToolRegistry([inner]), sleep=lambda wait_s: None)

    @tool
    def outer() -> str:
        """Have someone else look."""
        return f"found at attempt {registry.run(ToolCall('2', 'inner')).attempts}"

    registry.register(outer)
    result = registry.run(ToolCall("1", "outer"))
    assert (result.content, result.attempts) == ("found at attempt 3", 1)


def test_at_least_one_attempt_is_made() -> None:
    with pytest.raises(ValueError, match="attempts must be at least 1, not 0"):
        with_retry(ToolRegistry(), attempts=0)


# -- Ctrl-C ------------------------------------------------------------------------------------------------------

WAITING = """
from react_lab import Message, ModelError, ToolCall, ToolRegistry, tool
from react_lab.errors import TemporaryToolError
from react_lab.hardening.retry import with_retry

class Busy:
    name, native_tools = "busy", True
    def reply(self, messages, **options):
        print("asked", flush=True)
        raise ModelError("busy", temporary=True, retry_after_s=60)

@tool
def look() -> str:
    "Look."
    print("asked", flush=True)
    raise TemporaryToolError("busy", retry_after_s=60)

def ask_model(): with_retry(Busy()).reply([Message("user", "?")])
def ask_tools(): with_retry(ToolRegistry([look])).run_all([ToolCall("1", "look"), ToolCall("2", "look")])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child")
@pytest.mark.parametrize("asked", ["ask_model", "ask_tools"])
def test_ctrl_c_ends_a_wait_at_once(asked: str) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", f"{WAITING}\n{asked}()"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    program.stdout.readline()
    time.sleep(0.3)
    started = time.perf_counter()
    program.send_signal(signal.SIGINT)
    _, told = program.communicate(timeout=20)
    assert time.perf_counter() - started < 2
    assert told.rstrip().endswith("KeyboardInterrupt")
