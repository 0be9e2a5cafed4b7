"""Calls side by side: how long a batch takes, and that a tool that hangs or fails or is interrupted stops no other."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

from react_lab import Reply, ScriptedModel, ToolCall, ToolRegistry, ToolUseAgent, tool
from react_lab.tools.registry import MAX_THREADS, Failure, Wrapper


@tool
def wait(seconds: float) -> float:
    """Wait."""
    time.sleep(seconds)
    return seconds


@tool
def hang() -> str:
    """Never come back."""
    threading.Event().wait(60)
    return "late"


@tool
def crash() -> str:
    """Fail."""
    raise RuntimeError("boom")


@tool
def leave() -> str:
    """End the program."""
    raise SystemExit(3)


def calls(*names: str) -> list[ToolCall]:
    return [ToolCall(str(index), name) for index, name in enumerate(names)]


def test_five_calls_of_a_fifth_of_a_second_take_under_a_quarter() -> None:
    registry = ToolRegistry([wait])
    batch = [ToolCall(str(index), "wait", {"seconds": 0.2}) for index in range(5)]
    registry.run_all(batch[:1])  # imports
    taken = []
    for _ in range(3):  # the machine may be busy
        started = time.perf_counter()
        registry.run_all(batch)
        taken.append(time.perf_counter() - started)
    assert min(taken) < 0.25


def test_one_failure_stops_no_other_call() -> None:
    results = ToolRegistry([wait, crash]).run_all(
        [ToolCall("a", "crash"), ToolCall("b", "wait", {"seconds": 0.01}), ToolCall("c", "none")]
    )
    assert [(result.call_id, result.is_error) for result in results] == [("a", True), ("b", False), ("c", True)]


def test_no_more_calls_run_at_once_than_there_are_threads() -> None:
    running, most = 0, 0
    lock = threading.Lock()

    @tool
    def count() -> None:
        """Count."""
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1

    assert len(ToolRegistry([count]).run_all(calls(*["count"] * 40))) == 40
    assert 1 < most <= MAX_THREADS


@pytest.mark.parametrize("batch", [["hang"], ["hang", "wait", "hang"]])
def test_a_call_that_hangs_is_left_to_itself(batch: list[str]) -> None:
    registry = ToolRegistry([hang, wait], timeout_s=0.2)
    started = time.perf_counter()
    results = registry.run_all([ToolCall(n, n, {"seconds": 0.01} if n == "wait" else {}) for n in batch])
    assert time.perf_counter() - started < 2
    for name, result in zip(batch, results, strict=True):
        assert result.is_error == (name == "hang")
        assert ("hang timed out after 0.2 s" in result.content) == result.is_error


def test_the_loop_goes_on_after_a_hang() -> None:
    model = ScriptedModel([Reply(tool_calls=(ToolCall("1", "hang"),)), "I had to do without."])
    trace = ToolUseAgent(model, ToolRegistry([hang], timeout_s=0.1)).run("?")
    assert trace.answer == "I had to do without."
    assert trace.steps[0].results[0].seconds >= 0.1


def test_a_time_limit_changes_nothing_for_calls_within_it() -> None:
    batch = [ToolCall("1", "wait", {"seconds": 0.0}), ToolCall("2", "crash"), ToolCall("3", "wait", {})]
    free = ToolRegistry([wait, crash]).run_all(batch)
    limited = ToolRegistry([wait, crash], timeout_s=5).run_all(batch)
    assert [(r.content, r.is_error) for r in limited] == [(r.content, r.is_error) for r in free]
    assert "boom" in (limited[1].traceback or "")


@pytest.mark.parametrize("timeout_s", [0, -1])
def test_a_time_limit_is_more_than_nothing(timeout_s: float) -> None:
    with pytest.raises(ValueError, match="timeout_s must be more than 0"):
        ToolRegistry(timeout_s=timeout_s)


@pytest.mark.parametrize("timeout_s", [None, 5.0])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("beside", [[], ["hang"], ["hang", "hang"]])
def test_what_ends_a_program_ends_it_from_within_a_tool(
    timeout_s: float | None, error: type[BaseException], beside: list[str]
) -> None:
    @tool
    def interrupted() -> str:
        """Be interrupted."""
        raise error

    registry = ToolRegistry([hang, interrupted], timeout_s=timeout_s)
    started = time.perf_counter()
    with pytest.raises(error):
        registry.run_all(calls(*beside, "interrupted"))
    assert time.perf_counter() - started < 2


def test_what_has_not_begun_when_a_batch_is_interrupted_never_begins() -> None:
    begun: list[int] = []

    @tool
    def note(number: int) -> str:
        """Note."""
        begun.append(number)
        if number == 0:
            raise KeyboardInterrupt
        time.sleep(0.3)
        return ""

    with pytest.raises(KeyboardInterrupt):
        ToolRegistry([note]).run_all([ToolCall(str(n), "note", {"number": n}) for n in range(3 * MAX_THREADS)])
    time.sleep(0.5)
    assert len(begun) <= MAX_THREADS + 1


def test_a_failure_carries_its_exception_for_those_who_wrap_a_registry() -> None:
    (result,) = ToolRegistry([crash]).run_all(calls("crash"))
    assert isinstance(result.traceback, Failure)
    assert isinstance(result.traceback.error, RuntimeError)


def test_a_wrapper_and_what_it_wraps_know_the_same_tools() -> None:
    inner = ToolRegistry([wait])
    outer = Wrapper(inner)
    outer.register(crash)
    inner.register(hang)
    assert outer.list_tools() == inner.list_tools() == ["wait", "crash", "hang"]
    assert outer.execute("wait", {"seconds": 0.0}) == "0.0"


HANGING = """
import threading
from react_lab import ToolCall, ToolRegistry, tool

@tool
def hang() -> str:
    "Hang."
    print("hanging", flush=True)
    threading.Event().wait(60)

def run(count, timeout_s=None):
    return ToolRegistry([hang], timeout_s=timeout_s).run_all([ToolCall(str(i), "hang") for i in range(count)])
"""


def test_a_hung_tool_does_not_keep_the_interpreter_alive() -> None:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", f"{HANGING}\nprint(run(2, 0.2)[1].content)"], capture_output=True, text=True, timeout=30
    )
    assert "timed out after 0.2 s" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    assert time.perf_counter() - started < 10


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child")
@pytest.mark.parametrize("code", ["run(1)", "run(3)", "run(1, 50)", "run(20, 50)"])
def test_ctrl_c_ends_a_batch_at_once(code: str) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", f"{HANGING}\n{code}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    program.stdout.readline()
    time.sleep(0.2)
    started = time.perf_counter()
    program.send_signal(signal.SIGINT)
    _, told = program.communicate(timeout=20)
    assert time.perf_counter() - started < 2
    assert told.rstrip().endswith("KeyboardInterrupt")
