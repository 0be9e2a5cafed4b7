"""The registry: looks up, checks and runs, and turns a model's mistakes into results."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_lab import Tool, ToolCall, ToolError, ToolRegistry, tool
from react_lab.tools.registry import shorten
from react_lab.tools.schema import problems


@tool
def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


@tool
def fail(how: str = "hard") -> str:
    """Always fails."""
    if how == "kindly":
        raise ToolError("write it another way")
    raise RuntimeError("disk on fire")


@pytest.fixture
def registry() -> ToolRegistry:
    return ToolRegistry([add, fail])


def test_a_name_that_is_taken_is_refused(registry: ToolRegistry) -> None:
    with pytest.raises(ValueError, match="'add' is registered already"):
        registry.register(add)


@pytest.mark.parametrize("name", ["Google Search", "caldav.create", "", "搜索", "x" * 65])
def test_a_name_that_providers_refuse_is_refused_at_registration(name: str) -> None:
    class Named(Tool):
        description = ""
        parameters: dict[str, Any] = {"type": "object"}

        def execute(self, **arguments: Any) -> str:
            return ""

    item = Named()
    item.name = name
    with pytest.raises(ValueError, match="tool name"):
        ToolRegistry([item])


def test_something_that_is_no_tool_is_refused() -> None:
    with pytest.raises(TypeError, match="not a Tool"):
        ToolRegistry([len])  # type: ignore[list-item]


def test_an_unknown_name_lists_the_names_nearest_first(registry: ToolRegistry) -> None:
    with pytest.raises(KeyError, match=r"unknown tool 'Fial'; the tools are: fail, add"):
        registry.get("Fial")


def test_registering_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    ToolRegistry([add]).register(fail)
    assert capsys.readouterr() == ("", "")


def test_execute_gives_the_text_that_a_model_reads(registry: ToolRegistry) -> None:
    assert registry.execute("add", {"a": 1, "b": 2}) == "3"


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("ad", {}, "unknown tool 'ad'; the tools are: add, fail"),
        ("add", {"a": 1}, "'b' is a required property"),
        ("add", {"a": 1, "b": "two"}, "b: 'two' is not of type 'integer'"),
        ("add", {"a": 1, "b": 2, "c": 3}, "'c' was unexpected"),
        ("add", ["a", "b"], "is not of type 'object'"),
        ("fail", {}, "RuntimeError: disk on fire"),
        ("fail", {"how": "kindly"}, "Error: write it another way"),
    ],
)
def test_a_models_mistake_is_an_error_text(registry: ToolRegistry, name: str, arguments: Any, told: str) -> None:
    text = registry.execute(name, arguments)
    assert text.startswith("Error: ")
    assert told in text


def test_bad_arguments_are_told_with_the_signature(registry: ToolRegistry) -> None:
    assert "It takes add(a: integer, b: integer)" in registry.execute("add", {})


def test_a_traceback_is_kept_for_the_person_and_not_shown_to_the_model(registry: ToolRegistry) -> None:
    result = registry.run(ToolCall("1", "fail"))
    assert result.is_error
    assert "disk on fire" in (result.traceback or "")
    assert "Traceback" not in result.content


def test_a_call_whose_arguments_could_not_be_read_is_not_run(registry: ToolRegistry) -> None:
    result = registry.run(ToolCall("1", "add", {"a": 1, "b": 2}, error="cut off"))
    assert (result.is_error, result.content) == (True, "Error: cut off")


def test_results_come_in_the_order_of_the_calls() -> None:
    @tool
    def wait(seconds: float) -> float:
        """Wait."""
        time.sleep(seconds)
        return seconds

    calls = [ToolCall(str(i), "wait", {"seconds": s}) for i, s in enumerate([0.2, 0.0, 0.1])]
    started = time.perf_counter()
    results = ToolRegistry([wait]).run_all(calls)
    assert [result.content for result in results] == ["0.2", "0.0", "0.1"]
    assert time.perf_counter() - started < 0.29


def test_a_serial_tool_never_runs_beside_another_call() -> None:
    running, together = threading.Lock(), []

    class Serial(Tool):
        name = "serial"
        description = ""
        parameters: dict[str, Any] = {"type": "object"}
        serial = True

        def execute(self, **arguments: Any) -> str:
            together.append(not running.acquire(blocking=False))
            time.sleep(0.01)
            running.release()
            return "ok"

    ToolRegistry([Serial()]).run_all([ToolCall(str(i), "serial") for i in range(4)])
    assert together == [False] * 4


def test_no_calls_give_no_results(registry: ToolRegistry) -> None:
    assert registry.run_all([]) == ()


def test_the_limit_on_characters_must_be_positive(registry: ToolRegistry) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        registry.run_all([], max_chars=0)


@given(st.text(max_size=300), st.integers(min_value=1, max_value=100))
def test_a_long_text_keeps_its_head_and_its_tail(text: str, limit: int) -> None:
    short = shorten(text, limit)
    if len(text) <= limit:
        assert short == text
    else:
        head, tail = (limit + 1) // 2, limit // 2
        assert short.startswith(text[:head])
        assert short.endswith(text[len(text) - tail :])
        assert f"{len(text) - limit} characters left out" in short


def test_a_description_shows_signature_defaults_and_notes() -> None:
    @tool
    def look(what: str, limit: int = 3) -> str:
        """Look something up.

        Args:
            what: Two or three keywords.
        """
        return what

    assert ToolRegistry([look]).describe() == (
        "- look(what: string, limit: integer = 3): Look something up.\n    what: Two or three keywords."
    )


def test_checking_hides_no_package_from_others() -> None:
    code = "from react_lab.tools.schema import problems; problems({}, 1); import rfc3987_syntax"
    assert problems({"type": "object"}, []) == ["[] is not of type 'object'"]
    if importlib.util.find_spec("rfc3987_syntax"):
        subprocess.run([sys.executable, "-c", code], check=True)
