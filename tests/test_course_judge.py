"""Learners' code, found and judged."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_lab import ScriptedModel, TextReActAgent, ToolError, ToolRegistry, Trace, tool
from react_lab.course.attempt import find_attempt
from react_lab.course.exercise import Exercise, Wrong, both
from react_lab.course.exercises.lesson_01 import TOOL_CALCULATE, TOOL_ERROR
from react_lab.course.expect import Difference, Raised, expect, expect_run, same, tried
from react_lab.course.judge import Judge, judge

SQUARE = Exercise(
    id="test-square",
    lesson="99_test",
    starter="import math\n\n\ndef square(x):\n    # en: here\n    # zh: 这里\n    return x\n",
    solution="def square(x):\n    return x * x\n",
    alternates=(),
    wrong=(Wrong("raised:ZeroDivisionError", "", both("Don't divide.", "不要除。")),),
    hints=(both("a", "一"), both("b", "二"), both("c", "三")),
    check=lambda names: expect("square(3)", names["square"](3), 9),
)


def code_of(*cells: str) -> str:
    attempt = find_attempt(SQUARE, cells)
    assert attempt is not None
    return attempt.code


def test_what_an_exercise_asks_for_is_the_last_definition_of_its_starter() -> None:
    assert SQUARE.name == "square"


def test_a_cell_comes_whole_without_what_is_for_the_person() -> None:
    cell = "side = 3\ndef square(x):\n    return x\nprint(square(side))\ncheck('test-square')\nsquare(2)"
    assert code_of(cell) == "side = 3\n\ndef square(x):\n    return x\n\nsquare(2)"


def test_from_other_cells_comes_what_is_needed_and_no_more() -> None:
    cells = ["import math, json", "1 / 0", "def twice(x):\n    return math.prod([x, x])", "y = 1 / 0", "!!"]
    assert code_of(*cells, "def square(x):\n    return twice(x)", "later = 1") == (
        "import math, json\n\ndef twice(x):\n    return math.prod([x, x])\n\ndef square(x):\n    return twice(x)"
    )


def test_the_decorators_of_a_definition_belong_to_it() -> None:
    cell = "from functools import cache\n@cache\ndef square(x): return x * x"
    assert "@cache\ndef square" in code_of(cell)


@pytest.mark.parametrize("taken", ["square = mine_or_ours('square')", "from numpy import square"])
def test_the_last_cell_counts_but_not_one_that_only_takes_what_was_built(taken: str) -> None:
    assert code_of("def square(x): return 1", "def square(x): return 2", taken) == "def square(x): return 2"
    assert find_attempt(SQUARE, [taken]) is None


def test_a_starter_with_other_comments_and_layout_is_untouched() -> None:
    for cell in (SQUARE.starter, "import math\ndef square( x ):\n  return x  # mine\n", SQUARE.starter + "\nsquare(2)"):
        attempt = find_attempt(SQUARE, [cell])
        assert attempt is not None
        assert attempt.is_untouched
    touched = find_attempt(SQUARE, [SQUARE.starter.replace("return x", "return x + 0")])
    assert touched is not None
    assert not touched.is_untouched


@given(st.lists(st.text(max_size=30), max_size=4))
def test_no_cell_of_any_text_stops_the_search(cells: list[str]) -> None:
    attempt = find_attempt(SQUARE, [*cells, "def square(x): return x * x"])
    assert attempt is not None
    assert "x * x" in attempt.code


def test_right_wrong_and_raised_are_told_apart() -> None:
    assert judge(SQUARE, SQUARE.solution).outcome == "right"
    wrong = judge(SQUARE, "def square(x): return 6")
    assert (wrong.outcome, wrong.doing, wrong.expected, wrong.got) == ("wrong", "square(3)", "9", "6")
    raised = judge(SQUARE, "def square(x):\n    y = 0\n    return x / y")
    assert (raised.outcome, raised.line, raised.symptom) == ("raised", "return x / y", "raised:ZeroDivisionError")
    assert SQUARE.say(raised.symptom, "zh") == "不要除。"


def test_a_call_that_does_not_fit_is_the_answers_fault_and_a_missing_module_is_not() -> None:
    misfit = judge(SQUARE, "def square(): return 1")
    assert (misfit.outcome, misfit.symptom) == ("wrong", "raised:TypeError")

    def broken(names: object) -> None:
        import no_such_module  # noqa: F401  # type: ignore[import-not-found]

    exercise = Exercise(**{**vars(SQUARE), "check": broken})
    assert judge(exercise, SQUARE.solution).outcome == "broken"
    exercise = Exercise(**{**vars(SQUARE), "check": lambda names: tried(names["square"], lambda: broken(names))})
    assert judge(exercise, "def square(call):\n    return call()").outcome == "broken"
    mine = judge(SQUARE, "import no_such_module\ndef square(x): return 9")
    assert (mine.outcome, mine.line) == ("raised", "import no_such_module")


@pytest.mark.parametrize(
    ("code", "line"),
    [("def height(:", "def height(:"), ("import sys\nsys.exit(1)\ndef height(m): return 1", "sys.exit(1)")],
)
def test_code_that_cannot_run_is_told_with_its_line(code: str, line: str) -> None:
    verdict = judge(TOOL_ERROR, code)
    assert (verdict.outcome, verdict.line) == ("raised", line)


@pytest.fixture(scope="module")
def process():
    with Judge() as process:
        process.start()
        yield process


def test_a_process_judges_one_exercise_after_the_other(process: Judge) -> None:
    for exercise in (TOOL_CALCULATE, TOOL_ERROR, TOOL_CALCULATE):
        verdict = process.verdict(exercise, exercise.solution)
        assert verdict.outcome == "right"
        assert verdict.seconds < 1


@pytest.mark.parametrize("code", ["while True: pass", "9**9**9**9", "import time; time.sleep(60)"])
def test_code_that_never_ends_is_stopped(code: str) -> None:
    exercise = Exercise(**{**vars(TOOL_ERROR), "limit_s": 0.3})
    started = time.perf_counter()
    with Judge() as process:
        process.start()
        verdict = process.verdict(exercise, f"{code}\ndef height(m): return 1")
        assert (verdict.outcome, verdict.symptom) == ("wrong", "timeout")
        assert process.verdict(TOOL_ERROR, TOOL_ERROR.solution).outcome == "right"  # the next one runs in a new process
    assert time.perf_counter() - started < 20


@pytest.mark.parametrize(
    "code", ["import os; os._exit(1)", "print('x' * 10**6)", "import os; os.write(1, b'x')", "input()"]
)
def test_no_code_can_answer_for_the_judge(code: str, process: Judge) -> None:
    verdict = process.verdict(TOOL_ERROR, f"{code}\n{TOOL_ERROR.solution}")
    assert verdict.outcome == ("raised" if "exit" in code or "input" in code else "right")


def test_one_answer_leaves_nothing_for_the_next(process: Judge) -> None:
    process.verdict(TOOL_CALCULATE, TOOL_CALCULATE.solution)
    verdict = process.verdict(TOOL_ERROR, "def height(mountain): return HEIGHTS[mountain]")
    assert "HEIGHTS" in verdict.got


# -- saying what was expected --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"), [("1", 1), (1, True), (1, 1.0), ([1], (1,)), ({"a": 1}, {"a": True}), ([], None)]
)
def test_values_of_different_types_are_different(one: object, other: object) -> None:
    assert same(one, one)
    assert not same(one, other)


def test_a_known_value_gives_its_symptom_and_any_other_the_rest() -> None:
    for got, symptom in ((None, "none"), ("9", "text"), (8, "different")):
        with pytest.raises(Difference) as caught:
            expect("f()", got, 9, known={"none": None, "text": lambda value: isinstance(value, str)})
        assert caught.value.symptom == symptom


def test_an_exception_can_be_what_is_expected() -> None:
    def fail() -> None:
        raise ToolError("no")

    expect("fail()", tried(fail), Raised(ToolError))
    expect("fail()", tried(fail), Raised(Exception))
    with pytest.raises(Difference) as caught:
        expect("fail()", tried(fail), Raised(KeyError))
    assert (caught.value.expected, caught.value.got) == ("KeyError", "ToolError: no")


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def answer(*replies: str) -> Trace:
    return TextReActAgent(ScriptedModel(replies), ToolRegistry([add])).run("1 + 2?")


CALL = 'Thought: add\nAction: add({"a": 1, "b": 2})'


def test_two_runs_are_compared_by_the_first_event_at_which_they_part() -> None:
    wanted = answer(CALL, "Final Answer: 3")
    expect_run("agent.run(...)", answer(CALL, "Final Answer: 3"), wanted)
    with pytest.raises(Difference) as caught:
        expect_run("agent.run(...)", answer(CALL, "Final Answer: 4"), wanted)
    difference = caught.value
    assert (difference.symptom, difference.step) == ("reply", 2)
    assert "Final Answer: 3" in difference.expected
    assert "Final Answer: 4" in difference.got
    with pytest.raises(Difference) as caught:
        expect_run(
            "agent.run(...)", answer("Final Answer: 3"), wanted, known={"too-early": lambda run: len(run.steps) == 1}
        )
    assert (caught.value.symptom, caught.value.step) == ("too-early", 1)
