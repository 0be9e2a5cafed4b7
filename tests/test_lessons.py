"""The lessons as they are committed: built from their sources, the same in both languages, and running."""

import ast
import json

import nbformat
import pytest

from react_lab.course.build import LESSONS, read_lesson, stale
from react_lab.course.exercise import all_exercises
from react_lab.course.lint import lint
from react_lab.course.log import events_of
from react_lab.course.prose import hashes, record_of
from react_lab.course.run import run
from react_lab.course.source import LANGUAGES

SOURCES = sorted((LESSONS / "source").glob("*.py"))
NOTEBOOKS = [(language, source.stem) for language in LANGUAGES for source in SOURCES]
each_lesson = pytest.mark.parametrize("lesson", [source.stem for source in SOURCES])
each_notebook = pytest.mark.parametrize(("language", "lesson"), NOTEBOOKS)


def exercises_of(lesson: str) -> list[str]:
    return [item.id for item in all_exercises().values() if item.lesson == lesson]


def cells(language: str, lesson: str) -> list[dict]:
    return json.loads((LESSONS / language / f"{lesson}.ipynb").read_text("utf-8"))["cells"]


def code(cell: dict) -> str:
    tree = compile("".join(cell["source"]), "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return ast.dump(tree)


def assigned_strings_only(cell: dict) -> bool:
    statements = ast.parse("".join(cell["source"])).body
    return all(isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant) for item in statements)


def test_there_is_a_first_lesson():
    assert "00_start" in {source.stem for source in SOURCES}


def test_the_committed_notebooks_are_what_their_sources_make():
    assert stale() == [], "run python -m react_lab.course.build"


@each_lesson
def test_every_chinese_text_was_read_beside_its_original(lesson):
    source = LESSONS / "source" / f"{lesson}.py"
    assert record_of(source) == hashes(lesson, read_lesson(source)), "run python -m react_lab.course.build"


@each_lesson
def test_each_cell_has_its_twin_in_the_same_place(lesson):
    english, chinese = cells("en", lesson), cells("zh", lesson)
    assert [(cell["id"], cell["cell_type"]) for cell in english] == [
        (cell["id"], cell["cell_type"]) for cell in chinese
    ]
    assert [cell["metadata"] for cell in english] == [cell["metadata"] for cell in chinese]
    assert all("".join(cell["source"]).strip() for cell in english + chinese)


@each_lesson
def test_both_languages_run_the_same_code(lesson):
    """But for cells of nothing but texts, which set the same names."""
    for one, other in zip(cells("en", lesson), cells("zh", lesson), strict=True):
        if one["cell_type"] == "code" and code(one) != code(other):
            assert assigned_strings_only(one)
            assert assigned_strings_only(other)


@each_lesson
def test_the_prose_is_written_in_its_language(lesson):
    for source_cell in read_lesson(LESSONS / "source" / f"{lesson}.py"):
        if source_cell.kind == "markdown":
            assert source_cell.text["en"] != source_cell.text["zh"]


@each_notebook
def test_a_notebook_is_valid_with_unique_ids_and_no_outputs(language, lesson):
    path = LESSONS / language / f"{lesson}.ipynb"
    data = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(data)
    assert (data.nbformat, data.nbformat_minor) == (4, 5)
    assert len({cell.id for cell in data.cells}) == len(data.cells)
    assert all(not cell.outputs and cell.execution_count is None for cell in data.cells if cell.cell_type == "code")
    assert path.stat().st_size < 100_000


# Two runs a lesson and language: as it is handed out, and with every exercise solved.
RUNS = [
    (language, lesson, solved)
    for language, lesson in NOTEBOOKS
    for solved in (False, True)
    if not solved or exercises_of(lesson)
]
NO_NETWORK = """
import socket

connect = socket.socket.connect


def only_here(self, address):
    if self.family != getattr(socket, "AF_UNIX", None) and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"a lesson asks for the network: {address}")
    return connect(self, address)


socket.socket.connect = only_here
"""


@pytest.mark.slow
@pytest.mark.parametrize(("language", "lesson", "solved"), RUNS)
def test_every_cell_of_a_notebook_runs(language, lesson, solved, tmp_path, monkeypatch):
    """In a workspace, on the offline model (conftest.py removes the keys), without network, until the last cell."""
    monkeypatch.setenv("JUPYTER_PATH", "")
    (tmp_path / "sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    workspace = tmp_path / "workspace"
    data = run(lesson, language, workspace, solved=solved)
    assert all(cell.execution_count for cell in data.cells if cell.cell_type == "code" and cell.source)
    verdicts = {event["id"]: event["outcome"] for event in events_of(workspace) if event["event"] == "check"}
    outcome = "right" if solved else "not attempted"
    assert verdicts == dict.fromkeys(exercises_of(lesson), outcome)
    assert [event for event in events_of(workspace) if event["event"] not in ("check", "predict")] == []
    if solved:
        assert {path.stem for path in workspace.glob(".react-lab/mine/*.py")} == set(exercises_of(lesson))


def test_the_lint_finds_nothing():
    report = lint()
    assert report.problems == []
    assert report.lessons == len(SOURCES)
    assert report.wrong_answers >= 4 * report.exercises


@each_lesson
def test_a_notebook_is_what_a_learner_gets(lesson):
    """The lint tries answers in the source's cells; this is that they are the notebook's, too."""
    for language in LANGUAGES:
        committed = [cell for cell in cells(language, lesson) if cell["cell_type"] == "code"]
        source = [cell for cell in read_lesson(LESSONS / "source" / f"{lesson}.py") if cell.kind == "code"]
        assert ["".join(cell["source"]) for cell in committed] == [cell.text[language] for cell in source]
