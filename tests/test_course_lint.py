"""What an author is told: each rule of the lint, broken once."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from react_lab.course import commands, prose
from react_lab.course.build import LESSONS, read_lesson
from react_lab.course.exercise import Quiz, all_of, all_quizzes, all_sentences, both
from react_lab.course.exercises.lesson_01 import TOOL_ERROR
from react_lab.course.glossary import GLOSSARY, TERMS
from react_lab.course.judge import Judge
from react_lab.course.lint import lint, questions, shape, structure, tries
from react_lab.course.source import LANGUAGES, Cell
from react_lab.errors import ConfigurationError
from react_lab.language import CJK

SOURCE = LESSONS / "source" / "01_tool.py"
CELLS = read_lesson(SOURCE)


def markdown(en: str, zh: str = "中文", *tags: str) -> Cell:
    return Cell("markdown", {"en": en, "zh": zh}, tags)


def code(text: str, *tags: str) -> Cell:
    return Cell("code", {"en": text, "zh": text}, tags)


def test_the_report_counts_and_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.lint("01", as_json=True) == 0
    data = json.loads(capsys.readouterr().out)
    assert list(data) == ["lessons", "exercises", "solutions", "wrong_answers", "hints", "problems"]
    assert (data["lessons"], data["exercises"], data["hints"], data["problems"]) == (1, 4, 12, [])
    assert data["wrong_answers"] >= 16
    assert commands.lint("01") == 0
    assert "0 problems" in capsys.readouterr().out


def test_without_sources_there_is_nothing_to_lint(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="run it from a clone"):
        lint(folder=tmp_path)


def test_a_source_that_cannot_be_read_is_a_problem_and_the_others_go_on(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    shutil.copy(SOURCE, tmp_path / "source")
    (tmp_path / "source" / "00_bad.py").write_text("# %% [markdown]\n", encoding="utf-8")
    report = lint(folder=tmp_path)
    assert report.lessons == 1
    assert "line 1: prose needs a language" in report.problems[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alternates": ()}, "0 alternates; at least 2"),
        ({"wrong": TOOL_ERROR.wrong[:3]}, "3 wrong; at least 4"),
        ({"wrong": (*TOOL_ERROR.wrong, TOOL_ERROR.wrong[0])}, "the same symptom"),
        ({"wrong": (*TOOL_ERROR.wrong, replace(TOOL_ERROR.wrong[0], symptom="x"))}, "the same message in zh"),
        ({"hints": (both("a", "a"), both("b", "二"), both("c", "c"))}, "not in Chinese: 'a'"),
    ],
)
def test_too_little_and_twice_are_told(change: dict[str, object], message: str) -> None:
    assert any(message in problem for problem in shape(replace(TOOL_ERROR, **change)))
    assert list(shape(TOOL_ERROR)) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"solution": TOOL_ERROR.wrong[0].code}, "solution is not right"),
        ({"alternates": ("", TOOL_ERROR.starter)}, "alternate 1 is not right"),
        ({"starter": TOOL_ERROR.solution}, "solution is not right"),
        (
            {"wrong": (replace(TOOL_ERROR.wrong[0], code=TOOL_ERROR.solution),)},
            "wrong answer gives-none shows as right",
        ),
        ({"wrong": (replace(TOOL_ERROR.wrong[0], symptom="x"),)}, "wrong answer x shows as wrong gives-none"),
        ({"part": "react_lab.language:language_of"}, "the library's own part is not right"),
    ],
)
def test_an_answer_with_another_verdict_than_it_should_get_is_told(change: dict[str, object], message: str) -> None:
    with Judge() as judge:
        judge.start()
        found = list(tries(replace(TOOL_ERROR, **change), CELLS, judge))
    assert any(message in problem for problem in found), found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('check("tool-class")', 'check("tool-clas")', "check('tool-clas') names nothing"),
        ('check("tool-class")', "pass", "exercise tool-class has no cell tagged"),
        ('quiz("start-reads")', "pass", "1 questions from earlier lessons"),
        ('predict("tool-type"', 'print("tool-type"', "the guess predict:tool-type is never compared"),
        ('explain("tool-why-schema", "")', 'explain("why", "")', "explain('why') names nothing"),
        ("show(library_value_of)", "pass", "never shown with show"),
        ("progress()", "pass", "progress() is missing"),
    ],
)
def test_what_a_lesson_lacks_is_told(old: str, new: str, message: str) -> None:
    cells = [replace(cell, text={key: text.replace(old, new) for key, text in cell.text.items()}) for cell in CELLS]
    assert cells != CELLS
    assert any(message in problem for problem in structure("01_tool", cells))
    assert list(structure("01_tool", CELLS)) == []


def test_tags_that_are_missing_or_begin_otherwise_are_told() -> None:
    bare = [replace(cell, tags=()) for cell in CELLS]
    told = "\n".join(structure("01_tool", bare))
    assert "0 cells tagged break; at least 1" in told
    assert "0 cells tagged predict; at least 3" in told
    other = [code('guess = "?"', "predict:guess"), code('predict("guess", guess, came=1)')]
    assert list(structure("00_start", other)) == ["predict:guess must begin with start-"]


# -- words ---------------------------------------------------------------------------------------------------


def test_a_word_that_the_glossary_replaces_is_told_but_not_in_code() -> None:
    assert list(prose.misused_terms("Use a whitelist.", "en")) == ["says 'whitelist'; the glossary says 'allow-list'"]
    assert list(prose.misused_terms("代理会思考", "zh")) == ["says '代理'; the glossary says '智能体'"]
    assert list(prose.misused_terms("Robots in `whitelist` bottles", "en")) == []


def test_new_terms_are_few_known_and_said() -> None:
    agent = markdown("An agent", "智能体", "new:agent")
    assert list(prose.new_terms([agent, agent])) == []
    assert "3 new terms" in next(prose.new_terms([agent] * 3))
    assert list(prose.new_terms([markdown("x", "中", "new:magic")])) == ["new:magic is not in the glossary"]
    assert list(prose.new_terms([markdown("An agent", "模型", "new:agent")])) == [
        "the cell tagged new:agent does not say '智能体' in zh"
    ]


@pytest.mark.parametrize("name", ["claude-haiku-5-5", "gpt-6-luna", "deepseek-v3", "GPT-4o", "o3-mini"])
def test_a_models_name_is_told(name: str) -> None:
    assert list(prose.model_names(f"It runs on {name}."))


def test_the_names_of_the_catalogue_are_known_as_models(monkeypatch: pytest.MonkeyPatch) -> None:
    from react_lab.models.catalogue import model_rows

    names = [row["model"].partition(":")[2] for row in model_rows() if ":" in row["model"]]
    versioned = [name for name in names if any(char.isdigit() for char in name)]
    assert versioned
    assert [name for name in versioned if not list(prose.model_names(name))] == []


@pytest.mark.parametrize("text", ["a model of today", "o4 paper", "claude", "lesson 01", "JSON-2020"])
def test_other_words_are_no_models(text: str) -> None:
    assert list(prose.model_names(text)) == []


def unknown(text: str) -> list[str]:
    return list(prose.unknown_names("01_tool", [*CELLS, markdown(text)], LESSONS.parent))


@pytest.mark.parametrize(
    "text",
    [
        "`value_of`",
        "`README.md`",
        "`react_lab/trace.py`",
        "`.env`",
        "`1 + 2 * 3`",
        "`len(x for x in range)`",
        "`react-lab doctor`",
        '`"?"`',
        "`KeyError: 'Olympus'`",
        "```\nno_such_thing\n```",
    ],
)
def test_names_that_exist_are_fine(text: str) -> None:
    assert unknown(text) == []


@pytest.mark.parametrize(
    "text", ["`vlaue_of`", "`react_lab/tarce.py`", "`react-lab dcotor`", "`ToolRegistry.regsiter`"]
)
def test_a_name_or_file_that_does_not_exist_is_told(text: str) -> None:
    assert unknown(text) == [f"{text} in the en prose is neither in the code nor a file"]


def test_the_glossary_names_each_thing_once_in_both_languages() -> None:
    assert len(TERMS) == len(GLOSSARY)
    assert all(CJK.search(term.zh) or term.zh == term.en for term in GLOSSARY)
    used = {word.casefold() for term in GLOSSARY for word in (term.en, term.zh)}
    for term in GLOSSARY:
        assert not used & {word.casefold() for word in (*term.not_en, *term.not_zh)}, term
        for other in GLOSSARY:
            for language in LANGUAGES:
                assert list(term.misused(other.in_language(language), language)) == [], (term, other)


# -- questions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"right": 7}, "no choice number 7"),
        ({"choices": (both("yes", "是"), both("yes", "否"))}, "the same one twice"),
        ({"choices": (both("no", "否"), both("because of everything", "是"), both("x", "三"))}, "told by its length"),
        ({"why": both("x", "x")}, "not in Chinese"),
    ],
)
def test_a_quiz_that_gives_itself_away_is_told(change: dict[str, object], message: str, monkeypatch) -> None:
    item = replace(all_quizzes()["start-reads"], **change)
    monkeypatch.setitem(all_quizzes(), item.id, item)
    assert any(message in problem for problem in questions("00_start"))


def test_the_right_choice_is_not_always_in_one_place() -> None:
    assert len({item.right for item in all_quizzes().values()}) > 1


def test_a_sentence_without_chinese_is_told(monkeypatch) -> None:
    item = replace(all_sentences()["tool-why-schema"], answer=both("x", "x"))
    monkeypatch.setitem(all_sentences(), item.id, item)
    assert list(questions("01_tool")) == ["explain tool-why-schema is not in Chinese"]


def test_two_items_with_one_id_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from react_lab.course.exercises import lesson_01

    item: Quiz = lesson_01.QUIZZES[0]
    monkeypatch.setattr(lesson_01, "QUIZZES", (item, item))
    with pytest.raises(ValueError, match="two of QUIZZES have the id 'start-reads'"):
        all_of.__wrapped__("QUIZZES")
