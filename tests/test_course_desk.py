"""What a learner calls, as in a notebook: cells run in a real IPython, what is shown is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from react_lab import ScriptedModel, TextReActAgent, ToolRegistry
from react_lab.course import desk, log, parts
from react_lab.course.asking import buttons
from react_lab.course.card import Card, Source, columns, marked
from react_lab.course.exercise import all_exercises, all_quizzes
from react_lab.course.exercises.lesson_01 import TOOL_CLASS, TOOL_ERROR
from react_lab.course.judge import Verdict
from react_lab.course.source import translate_comments

Run = Callable[[str], str]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Run a cell, as the notebook of a workspace would; gives back what the person reads."""
    (tmp_path / ".react-lab").mkdir()
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))

    def run(code: str) -> str:
        with capture_output() as captured:
            result = shell.run_cell(code, store_history=True)
        result.raise_error()
        return captured.stdout + "\n".join(output.data["text/plain"] for output in captured.outputs)

    run("from react_lab.course import *")
    yield run
    InteractiveShell.clear_instance()


def wrong_code(exercise: str, symptom: str) -> str:
    return next(wrong.code for wrong in all_exercises()[exercise].wrong if wrong.symptom == symptom)


def test_a_starter_is_not_attempted_and_neither_is_nothing(run: Run) -> None:
    assert "run the cell above first" in run('check("tool-error")')
    run(TOOL_ERROR.starter)
    assert run('check("tool-error")') == "· Not attempted yet: the code is still as it was given."
    run(translate_comments(TOOL_ERROR.starter, "zh") + "\n# a comment of my own")
    assert "still as it was given" in run('check("tool-error")')


def test_a_right_answer_is_kept_and_used_from_then_on(run: Run) -> None:
    run(TOOL_CLASS.solution.replace("return {", "mark = 1; return {"))
    assert run('check("tool-class")') == "+ Right.\n  Kept: later lessons use your Tool."
    assert "mark" in parts.file_of(TOOL_CLASS).read_text("utf-8")
    run('mine = mine_or_ours("Tool")')
    assert run("print(mine.to_anthropic_schema.__code__.co_varnames)") == "('self', 'mark')\n"


def test_a_wrong_answer_shows_expected_beside_got_and_says_what_it_means(run: Run) -> None:
    run(wrong_code("tool-error", "made-up"))
    told = run('check("tool-error")')
    assert told.startswith("- Not yet.")
    assert 'tried     height("Olympus")' in told
    assert "expected  ToolError: … 'Olympus' … Everest, K2, Lhotse" in told
    assert "got       0" in told
    assert "the model believes numbers" in told
    assert 'hint("tool-error")' in told


def test_it_speaks_the_language_of_the_notebook(run: Run) -> None:
    run('language = "zh"')
    run(wrong_code("tool-error", "made-up"))
    assert "模型相信数" in run('check("tool-error")')
    with pytest.raises(ValueError, match="没有叫 'x' 的练习；有的是：tool-class"):
        desk.check("x")


def test_an_exception_where_a_value_was_expected_is_what_came(run: Run) -> None:
    run("def helper(name):\n    return {}[name]")
    run("def height(mountain):\n    return helper(mountain) + 1")
    told = run('check("tool-error")')
    assert "KeyError: 'K2'" in told


def test_code_that_raises_on_its_own_is_told_with_its_line(run: Run) -> None:
    run(TOOL_CLASS.starter.replace("        ...", "        return self.nmae"))
    told = run('check("tool-class")')
    assert told.startswith("- Your code raised an exception.")
    assert "in your line  return self.nmae" in told
    assert "has no attribute 'nmae'" in told


def test_the_last_version_that_ran_counts(run: Run) -> None:
    run(TOOL_ERROR.solution)
    run(wrong_code("tool-error", "gives-none"))
    assert "Not yet" in run('check("tool-error")')
    run(TOOL_ERROR.solution)
    assert "Right" in run('check("tool-error")')


def test_a_broken_environment_is_no_ones_mistake_and_says_how_to_mend_it(run: Run, monkeypatch) -> None:
    run(TOOL_ERROR.solution)
    monkeypatch.setattr("sys.executable", str(Path("no") / "such" / "python"))
    told = run('check("tool-error")')
    assert "the environment is broken" in told
    assert "-m pip install --force-reinstall react-lab" in told


def test_hints_come_one_by_one_for_what_was_checked_last(run: Run) -> None:
    assert "Which exercise?" in run("hint()")
    run(TOOL_ERROR.starter)
    run('check("tool-error")')
    told = [run("hint()") for _ in range(4)]
    assert [text.split("\n")[0] for text in told] == [
        "· Hint 1 of 3",
        "· Hint 2 of 3",
        "· Hint 3 of 3",
        "· Hint 3 of 3",
    ]
    assert 'solution("tool-error")' in told[2]
    assert "Hint 1 of 3" in run('hint("tool-class")')


def test_the_solution_is_shown_after_an_attempt(run: Run) -> None:
    run(TOOL_ERROR.starter)
    run('check("tool-error")')
    assert "Try it first" in run('solution("tool-error")')
    run(wrong_code("tool-error", "gives-none"))
    run('check("tool-error")')
    assert "One right answer" in run('solution("tool-error")')


@pytest.mark.parametrize(
    ("guess", "came", "right"),
    [
        ("search", "search", True),
        (" Search. ", "search", True),
        ("2+3", "2 + 3", True),
        ("158", "They were 158 years old.", True),
        ("158", "一共 158岁", True),
        ("15", "They were 158 years old.", False),
        ("search", "web_search", False),
        ("runs", "refused", False),
        ("b", ("a", "b"), True),
        (3, 3, True),
        ("(", "(2 + 3)", False),
    ],
)
def test_a_prediction_is_graded_by_what_came(run: Run, guess: object, came: object, right: bool) -> None:
    told = run(f"predict('start-x', {guess!r}, came={came!r})")
    assert ("As you said." in told) is right
    assert log.events_of()[-1]["right"] is right


@pytest.mark.parametrize("guess", ["?", "？", "", " "])
def test_no_guess_is_no_prediction(run: Run, guess: str) -> None:
    assert "No guess yet" in run(f"predict('start-x', {guess!r}, came='y')")
    assert log.events_of() == []


def test_a_sentence_is_kept_and_the_model_answer_comes_after(run: Run) -> None:
    asked = run('explain("tool-why-schema", "")')
    assert "between the quotes" in asked
    assert "check them before" not in asked
    assert "check them before" in run('explain("tool-why-schema", "It says what fits.")')
    assert log.events_of()[-1]["text"] == "It says what fits."


def test_a_quiz_can_be_answered_by_letter(run: Run) -> None:
    assert "a  The code of each tool" in run('quiz("start-reads")')
    assert run('quiz("start-reads", "a")').startswith("- No.\n  A model sees text")
    assert run('quiz("start-reads", "B")').startswith("+ Right.\n  A model sees text")
    assert [event["right"] for event in log.events_of()] == [False, True]
    with pytest.raises(ValueError, match="no choice 'x'"):
        desk.quiz("start-reads", "x")


def test_a_click_answers_as_the_letter_does(run: Run) -> None:
    widget = buttons(all_quizzes()["start-reads"], "en").widget
    _, *choices, answer = widget.children
    choices[1].click()
    assert "Right." in answer.outputs[0]["data"]["text/plain"]
    assert log.events_of()[-1]["choice"] == "b"


def test_the_librarys_source_is_shown_live_with_its_lines(run: Run) -> None:
    told = run("from react_lab import ToolRegistry; show(ToolRegistry.register)")
    assert "react_lab/tools/registry.py, " in told
    assert "def register(self, new: Tool)" in told


def test_progress_shows_a_bar_for_each_lesson(run: Run) -> None:
    run('quiz("start-reads", "b")')
    assert "01_tool        ##..................  exercises 0/4  questions 1/4  predictions 0/4" in run("progress()")


def test_the_player_opens_where_the_run_parts() -> None:
    model = ScriptedModel([f"Thought: a line\u2028{'and more ' * 30}\nAction: nothing[1]", "Final Answer: 3"])
    trace = TextReActAgent(model, ToolRegistry()).run("1 + 2?")
    shown = desk.player(Verdict("wrong", trace=trace.to_jsonl(), step=2), "zh")
    assert shown.step == 2
    assert len(shown.told["steps"]) == 2
    assert shown.trace.events == trace.events


def test_what_differs_is_marked_and_what_has_little_in_common_is_not() -> None:
    one, other = marked("{'a': <1>, 'input_schema': 2}", "{'a': <1>, 'parameters': 2}")
    assert one.count("<mark") == other.count("<mark") == 1
    assert ">input_schema</mark>" in one
    assert "&lt;1&gt;" in other
    assert marked("42", "ToolError: <no>") == ("42", "ToolError: &lt;no&gt;")


def test_source_in_a_notebook_keeps_its_lines() -> None:
    assert "white-space: pre; overflow-x: auto" in Source("x = 1")._repr_html_()


def test_a_card_escapes_what_the_learner_wrote_and_aligns_both_scripts() -> None:
    card = Card("标题", "bad", [("应该是", "<b>1</b>"), ("got", "2")], ["第一行\n第二行"])
    assert "<b>" not in card._repr_html_()
    assert "&lt;b&gt;1&lt;/b&gt;" in card._repr_html_()
    assert repr(card).splitlines()[1:3] == ["  应该是  <b>1</b>", "  got     2"]
    assert columns("应该是") == 6
