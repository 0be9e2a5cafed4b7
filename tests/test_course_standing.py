"""Progress, the second look, and what a teacher gets."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_lab.course import commands, log, parts, standing
from react_lab.course.exercise import all_exercises, all_quizzes
from react_lab.course.exercises.lesson_01 import TOOL_CLASS, TOOL_ERROR
from react_lab.course.source import notebook, read_source, to_json
from react_lab.course.workspace import prepare
from react_lab.errors import ConfigurationError
from react_lab.tools.base import Tool

DAY = timedelta(days=1)
START = datetime(2026, 11, 1, tzinfo=UTC)


def answered(*days_and_right: tuple[int, bool]) -> list[dict[str, object]]:
    return [
        {"at": (START + days * DAY).isoformat(), "event": "quiz", "id": "start-reads", "right": right}
        for days, right in days_and_right
    ]


def test_what_is_recorded_is_read_again_and_a_torn_line_costs_only_itself(tmp_path: Path) -> None:
    log.record("check", tmp_path, id="tool-class", outcome="right")
    path = tmp_path / ".react-lab" / "progress.jsonl"
    with path.open("ab") as file:
        file.write('{"event": "che\n[]\n\xff\n'.encode("latin-1"))
    log.record("explain", tmp_path, id="x", text="中文")
    assert [event["event"] for event in log.events_of(tmp_path)] == ["check", "explain"]
    assert log.events_of(tmp_path)[1]["text"] == "中文"


def test_a_log_that_cannot_be_written_stops_nobody(tmp_path: Path) -> None:
    (tmp_path / ".react-lab").write_text("a file", encoding="utf-8")
    log.record("check", tmp_path, id="x")
    parts.keep(TOOL_CLASS, "x", tmp_path)
    assert log.events_of(tmp_path) == []


def test_the_workspace_is_found_from_below(tmp_path: Path) -> None:
    (tmp_path / ".react-lab").mkdir()
    (tmp_path / "zh" / "notes").mkdir(parents=True)
    assert log.find_workspace(tmp_path / "zh" / "notes") == tmp_path


@given(st.lists(st.dictionaries(st.sampled_from(["event", "id", "right", "outcome", "at"]), st.text(max_size=5))))
def test_a_log_of_any_content_gives_a_table(events: list[dict[str, str]]) -> None:
    known = [{"event": "quiz", **event} for event in events]
    assert [row.lesson for row in standing.standings(known)] == list(standing.lessons())
    assert "00_start" in repr(standing.Overview([event for event in known if "at" not in event], "zh"))


def test_exercises_passed_once_stay_passed_in_any_language() -> None:
    outcomes = ("wrong", "right", "wrong")
    events = [{"event": "check", "id": "tool-class", "outcome": outcome} for outcome in outcomes]
    row = next(row for row in standing.standings(events) if row.lesson == "01_tool")
    assert row.counts == {"exercises": (1, 4), "questions": (0, 4), "predictions": (0, 4)}
    assert row.share == 1 / 12
    assert "练习 1/4" in repr(standing.Overview(events, "zh"))
    assert 'value="0.08"' in standing.Overview(events, "en")._repr_html_()


def test_a_wrong_guess_counts_as_done_and_a_wrong_answer_does_not() -> None:
    events = [
        {"event": "predict", "id": "start-arithmetic", "right": False},
        {"event": "quiz", "id": "start-reads", "right": True},
        {"event": "quiz", "id": "start-reads", "right": False},
    ]
    first, second, *_ = standing.standings(events)
    assert first.counts["predictions"] == (1, 3)
    assert second.counts["questions"] == (0, 4)


def test_every_lesson_asks_for_what_its_exercises_are() -> None:
    for lesson, asked in standing.lessons().items():
        assert asked["exercises"] == {item.id for item in all_exercises().values() if item.lesson == lesson}
        assert asked["questions"] <= set(all_quizzes())


@pytest.mark.parametrize(
    ("answers", "due_on_day"),
    [
        ([(0, True)], 1),
        ([(0, False)], 1),
        ([(0, True), (1, True)], 4),
        ([(0, True), (1, True), (4, True)], 11),
        ([(0, True), (1, True), (4, False)], 5),
    ],
)
def test_a_question_comes_back_after_one_three_and_seven_days(answers: list[tuple[int, bool]], due_on_day: int) -> None:
    events = answered(*answers)
    assert standing.due(events, START + due_on_day * DAY - timedelta(minutes=1)) == []
    assert standing.due(events, START + due_on_day * DAY) == ["start-reads"]


def test_after_the_last_look_a_question_is_done_and_a_new_one_is_not_asked() -> None:
    events = answered((0, True), (1, True), (4, True), (11, True))
    assert standing.due(events, START + 1000 * DAY) == []
    assert standing.due([], START) == []


def test_reviewing_asks_what_is_due_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / ".react-lab" / "progress.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(event) + "\n" for event in answered((0, True))), encoding="utf-8")
    said: list[str] = []
    answers = iter(["what?", "b"])
    assert commands.review(tmp_path, "en", ask=lambda _: next(answers), say=said.append) == 0
    assert "What does a model get to read" in said[0]
    assert "Right.\n  A model sees text" in said[1]
    assert log.events_of(tmp_path)[-1]["right"] is True
    said.clear()
    commands.review(tmp_path, "en", ask=lambda _: "b", say=said.append)
    assert said == ["Nothing is due. Come back tomorrow."]


def test_a_review_can_be_left(tmp_path: Path) -> None:
    path = tmp_path / ".react-lab" / "progress.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(event) + "\n" for event in answered((0, True))), encoding="utf-8")
    assert standing.review(tmp_path, "en", ask=lambda _: "q", say=lambda _: None) == 0
    assert len(log.events_of(tmp_path)) == 1


def test_a_teacher_gets_a_row_for_each_learner(tmp_path: Path) -> None:
    for name, outcome in (("王小明", "right"), ("Ada", "wrong")):
        workspace = tmp_path / "work" / name
        log.record("check", workspace, id="tool-class", outcome=outcome)
        commands.progress(workspace, "en", to=tmp_path / f"{name}.jsonl", name=name, say=lambda _: None)
    (tmp_path / "notes.jsonl").write_text('{"event": "run"}\n', encoding="utf-8")
    (tmp_path / "work" / "Ada" / ".react-lab" / "progress.jsonl").unlink()
    (tmp_path / "work" / "王小明" / ".react-lab" / "progress.jsonl").rename(tmp_path / "collected.jsonl")
    rows = standing.class_table(tmp_path)
    assert [(row["learner"], row["01_tool"]) for row in rows] == [
        ("Ada", "0/4"),
        ("collected", "1/4"),
        ("王小明", "1/4"),
    ]
    said: list[str] = []
    commands.class_progress(tmp_path, say=said.append)
    assert said[0].splitlines()[0].split()[:2] == ["learner", "01_tool"]
    commands.class_progress(tmp_path, as_json=True, say=said.append)
    assert json.loads(said[1]) == rows


def test_a_folder_without_progress_and_a_file_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no progress file"):
        standing.class_table(tmp_path)
    with pytest.raises(ConfigurationError, match=r"can't write .*no.*name another file"):
        standing.export(tmp_path, tmp_path / "no" / "such" / "file.jsonl", "Ada")


# -- mine or ours --------------------------------------------------------------------------------------------


def test_without_a_passed_exercise_the_part_is_ours() -> None:
    assert parts.mine_or_ours("Tool") is Tool
    with pytest.raises(ValueError, match=r"no exercise builds 'Magic'; there are: .*Tool"):
        parts.mine_or_ours("Magic")


def test_a_class_of_mine_counts_as_one_of_ours_and_gets_what_it_lacks(tmp_path: Path) -> None:
    parts.keep(TOOL_CLASS, TOOL_CLASS.solution, tmp_path)
    Mine = parts.mine_or_ours("Tool")

    class Hello(Mine):  # type: ignore[misc, valid-type]
        name, description, parameters = "hello", "Greet.", {"type": "object", "properties": {}}

        def execute(self) -> str:
            return "hi"

    assert isinstance(Hello(), Tool)
    assert Hello().to_openai_schema()["function"]["name"] == "hello"
    assert "mine" in Mine.__module__


@pytest.mark.parametrize("code", ["def broken(", "1 / 0", "x = 1", "class Tool(__import__('no_such_module').X): pass"])
def test_a_part_that_does_not_run_any_more_is_ours(tmp_path: Path, code: str) -> None:
    parts.keep(TOOL_CLASS, code, tmp_path)
    assert parts.mine_or_ours("Tool") is Tool


def test_a_function_of_mine_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / ".react-lab" / "mine").mkdir(parents=True)
    (tmp_path / ".react-lab" / "mine" / "tool-calculate.py").write_text(
        "def calculate(x): return 'mine'\n", encoding="utf-8"
    )
    assert parts.mine_or_ours("calculate")("1") == "mine"


# -- the command line's functions ----------------------------------------------------------------------------


def put_answer(workspace: Path, language: str, code: str) -> None:
    """Save a notebook of lesson 01 in which one exercise is worked on."""
    path = workspace / language / "01_tool.ipynb"
    data = json.loads(path.read_text("utf-8"))
    next(cell for cell in data["cells"] if "exercise:tool-error" in cell["metadata"].get("tags", ()))["source"] = code
    path.write_text(json.dumps(data), encoding="utf-8")


def test_the_saved_notebook_is_checked_again_in_a_clean_process(tmp_path: Path) -> None:
    prepare(tmp_path, "en")
    put_answer(tmp_path, "zh", "%matplotlib inline\n" + TOOL_ERROR.solution)
    said: list[str] = []
    assert commands.check(tmp_path, "01", "en", say=said.append) == 1
    assert [line.split()[0] for line in said] == ["tool-class", "tool-schema", "tool-calculate", "tool-error"]
    assert said[3].endswith("Right.")
    assert log.events_of(tmp_path)[-1]["clean"] is True
    assert parts.file_of(TOOL_ERROR, tmp_path).exists()


def test_a_wrong_answer_is_told_with_its_message(tmp_path: Path) -> None:
    prepare(tmp_path, "zh")
    put_answer(tmp_path, "zh", TOOL_ERROR.starter.replace("HEIGHTS[mountain]", "HEIGHTS.get(mountain)"))
    said: list[str] = []
    assert commands.check(tmp_path, "tool", "zh", say=said.append) == 1
    assert "查不到的山返回 None" in said[3]


def test_a_lesson_without_exercises_cannot_be_checked(tmp_path: Path) -> None:
    prepare(tmp_path, "en")
    with pytest.raises(ConfigurationError, match="no lesson with exercises is called '00'; there are: 01_tool"):
        commands.check(tmp_path, "00", "en")


def test_resetting_and_upgrading_say_where_the_copy_is(tmp_path: Path) -> None:
    prepare(tmp_path, "en")
    put_answer(tmp_path, "en", "mine")
    said: list[str] = []
    assert commands.reset_lesson(tmp_path, "01", "en", say=said.append) == 0
    assert "backup" in said[0]
    assert said[-1].startswith("Lesson 01 is as new.")
    old = to_json(notebook("01_tool", read_source("# %%\nold = 1\n"), "en"))
    for path in (tmp_path / "en" / "01_tool.ipynb", tmp_path / ".react-lab" / "copied" / "en" / "01_tool.ipynb"):
        path.write_text(old, encoding="utf-8")
    (tmp_path / "en" / "01_tool.ipynb").write_text(old.replace("old", "mine"), encoding="utf-8")
    said.clear()
    assert commands.upgrade_lessons(tmp_path, "en", say=said.append) == 0
    assert "1 are yours and stay" in said[0]
    assert "mine = 1" in (tmp_path / "en" / "01_tool.ipynb").read_text("utf-8")


def test_the_usual_workspace_is_found_from_beside_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"is no workspace; make one with react-lab lab"):
        commands.upgrade_lessons(None, "en")
    assert list(tmp_path.iterdir()) == []
    usual = tmp_path / "react-lab-workspace"
    (usual / ".react-lab").mkdir(parents=True)
    assert commands.workspace_of(None) == commands.workspace_of(usual / "en") == usual
    with pytest.raises(ConfigurationError, match="is no workspace"):
        commands.workspace_of(tmp_path)
